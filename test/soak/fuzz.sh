#!/usr/bin/env bash
# Fuzzes each target whose name matches a pattern, for a time, and says how it went.
set -euo pipefail
pattern=${1:-.} time=${2:-1m} failures=0

while IFS=: read -r file target; do
	target=${target#func } target=${target%%(*}
	[[ $target =~ $pattern ]] || continue
	status=0
	out=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")" 2>&1) || status=1
	runs=$(grep -o 'execs: [0-9]*' <<<"$out" | tail -n 1 | cut -d ' ' -f 2 || true)
	echo "soak $target seed=corpus rounds=${runs:-0} failures=$status"
	if ((status)); then
		echo "$out" >&2
		failures=$((failures + 1))
	fi
done < <(grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z]*(' . | sed -E 's/^\.\/([^:]*):[0-9]+:/\1:/' | sort)

exit "$((failures > 0))"
