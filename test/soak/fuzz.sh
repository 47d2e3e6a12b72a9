#!/usr/bin/env bash
# Fuzzes each target whose name matches a pattern, for a time, and says how it went. Each has one worker, so that its memory is that of
# one input at a time. peak_rss_mib is the most memory that the kernel saw resident in a worker. That is more than the code under test
# holds: the program is in it, and a buffer of Go's own of 100 MiB. A worker above the bound is ended, and Go keeps the input that it
# was at. soak.Input bounds each input.
set -euo pipefail
pattern=${1:-.} time=${2:-1m} bound_mib=256 failures=0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# prepare DIR makes the instrumented test of a package, once, and sets binary and cache.
prepare() {
	binary=$scratch/$(tr / - <<<"$1").test
	[[ -x $binary ]] || go test -c -fuzz . -o "$binary" "./$1"
	cache=$(go env GOCACHE)/fuzz/$(go list "./$1")
}

# fuzz DIR TARGET becomes the process that fuzzes. With Go's usual collector what is garbage would count as much as that buffer.
fuzz() {
	cd "$1"
	GOGC=20 exec "$binary" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" -test.parallel 1 -test.fuzzcachedir "$cache"
}

# watch PID waits for a process, and sets peak to the most memory that one of its workers had, in KiB. Only Linux tells.
watch() {
	local worker now
	peak=0
	while kill -0 "$1" 2>/dev/null; do
		for worker in $(cat "/proc/$1/task/"*/children 2>/dev/null || true); do
			now=$(awk '/^VmHWM:/ { print $2 }' "/proc/$worker/status" 2>/dev/null || true)
			((${now:-0} <= peak)) || peak=$now
			((${now:-0} <= bound_mib << 10)) || kill -9 "$worker" 2>/dev/null || true
		done
		sleep 0.1
	done
	wait "$1"
}

while IFS=: read -r file target; do
	target=${target#func } target=${target%%(*}
	[[ $target =~ $pattern ]] || continue
	prepare "$(dirname "$file")"
	(fuzz "$(dirname "$file")" "$target") >"$scratch/out" 2>&1 &
	status=0
	watch $! || status=1
	mib=$(((peak + 1023) >> 10))
	((mib <= bound_mib)) || status=1
	runs=$(grep -o 'execs: [0-9]*' "$scratch/out" | tail -n 1 | cut -d ' ' -f 2 || true)
	echo "soak $target seed=corpus rounds=${runs:-0} failures=$status peak_rss_mib=$mib"
	if ((status)); then
		cat "$scratch/out" >&2
		failures=$((failures + 1))
	fi
done < <(grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z]*(' . | sed -E 's/^\.\/([^:]*):[0-9]+:/\1:/' | sort)

exit "$((failures > 0))"
