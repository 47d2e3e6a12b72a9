#!/usr/bin/env bash
# stages.sh STAGE...: runs "make STAGE" for each stage, all of them although one fails. At the end it prints a table of seconds, the contents taken from caches,
# and each fault once. It fails if a stage failed.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$here/_output/logs
: "${SECONDS_OF_TESTS:=$here/_output/seconds}" "${SECONDS_OF_SUITES:=$here/_output/seconds-of-suites}"

# faults prints the unique lines of a log with a fault. A log without such a line ends with its fault.
faults() {
	local found
	found=$(awk '/^ *--- FAIL: / || /^FAIL\t/ || /^panic: / || /WARNING: DATA RACE/ || /^[^ :]+\.(go|md|yaml|sh)(:[0-9]+)*: / || /not up to date|is not tidy|^tools: cannot/' "$1" |
		awk '!seen[$0]++' | head -n 80)
	[[ -n $found ]] || found=$(tail -n 15 "$1")
	sed 's/^/  /' <<<"$found"
}

# caches prints the number of cached results: unit tests of unchanged packages, and programs of earlier builds.
caches() {
	local unit=$logs/test-unit.log built
	[[ ! -e $unit ]] || echo "unit tests: $(grep -c '(cached)$' "$unit") of $(grep -cE '^(ok|FAIL) *	' "$unit") packages from the cache"
	built=$(cat "$logs"/*.log | grep -oE '\] building [^ ]+' | awk '{ printf " %s", $3 }')
	echo "tools: built${built:- none, all from the cache}"
}

mkdir -p "$logs" && rm -f "$logs"/*.log "$SECONDS_OF_TESTS" "$SECONDS_OF_SUITES"
red=()
for stage in "$@"; do
	began=$SECONDS
	echo "make $stage"
	make -C "$here" "$stage" 2>&1 </dev/null | tee "$logs/$stage.log" || red+=("$stage")
	echo "$((SECONDS - began)) make $stage" >>"$SECONDS_OF_TESTS"
done

echo 'seconds of each stage, and of the packages and suites that took longest:'
awk '$2 == "make"' "$SECONDS_OF_TESTS"
awk '$1 == "ok" && $3 ~ /s$/ { printf "%d %s\n", $3, $2 }' "$SECONDS_OF_TESTS" | sort -rn | awk 'NR <= 20'
if [[ -s $SECONDS_OF_SUITES ]]; then
	echo 'seconds of the suites with a control plane, and of processors:'
	cat "$SECONDS_OF_SUITES"
fi
caches
cat "$logs"/*.log | grep -E '^(FLAKE|LEFT) ' || true
for stage in "${red[@]}"; do
	echo "FAILED: make $stage"
	faults "$logs/$stage.log"
done
[[ ${#red[@]} -eq 0 ]] || exit 1
echo "passed: $*"
