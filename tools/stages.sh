#!/usr/bin/env bash
# stages.sh STAGE...: runs "make STAGE" for each stage, all of them although one fails. At the end it prints a table of seconds, the contents taken from caches,
# and each fault once. It fails if a stage failed.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$here/_output/logs
: "${SECONDS_OF_TESTS:=$here/_output/seconds}" "${SECONDS_OF_SUITES:=$here/_output/seconds-of-suites}"
export SECONDS_OF_TESTS

# faults prints the unique lines of a log with a fault. Lines that differ in their seconds alone are of one fault, and a story that passed alone has none. A log
# without such a line ends with its fault.
faults() {
	local found
	found=$(awk '
		function isNew(key) { sub(/[ \t]\(?[0-9.]+s\)?$/, "", key); return !seen[key]++ }
		function last(path) { sub(/.*\//, "", path); return path }
		NR == FNR { if (/^=== FAIL: /) hasStories = 1; if ($1 == "FLAKE") flakes[last($2)] = 1; next }
		/^=== FAIL: / { story = last($3) "." ($4 ~ /^\(/ ? "" : $4); root = story; sub(/\/.*/, "", root); if (!(root in flakes) && isNew(story)) print; next }
		/^--- FAIL: twice: / { if (isNew(last($4))) print; next }
		hasStories && (/^ *--- FAIL: / || /^FAIL\t[^\t]+\t[0-9.]+s$/) { next }
		/^ *--- FAIL: / { tests[++count] = $0; next }
		/^(ok|FAIL) *\t/ { for (i = 1; i <= count; i++) if (isNew($2 tests[i])) print tests[i]; count = 0 }
		/^FAIL\t/ || /^panic: / || /WARNING: DATA RACE/ || /^(vet: )?[^ :]+\.(go|mod|md|ya?ml|sh)(:[0-9]+)*: / || /not up to date|is not tidy|^tools: cannot/ { if (isNew($0)) print }
		END { for (i = 1; i <= count; i++) if (isNew(tests[i])) print tests[i] }' "$1" "$1" | head -n 80)
	[[ -n $found ]] || found=$(tail -n 15 "$1")
	sed 's/^/  /' <<<"$found"
}

# end_leftovers ends the orphans of a stage, and prints the folder in which a test began each. The environment of a test names the file of its seconds. Process 1
# adopts orphans, or the systemd of a user.
end_leftovers() {
	local process parent
	for process in $(grep -lzFx "SECONDS_OF_TESTS=$SECONDS_OF_TESTS" /proc/[0-9]*/environ 2>/dev/null); do
		process=${process%/environ}
		parent=$(awk '$1 == "PPid:" { print $2 }' "$process/status" 2>/dev/null) || continue
		[[ ${process#/proc/} != "$$" && ($parent == 1 || $(cat "/proc/$parent/comm" 2>/dev/null) == systemd) ]] || continue
		echo "LEFT $(tr '\0' '\n' <"$process/environ" | sed -n "s|^PWD=$here/*||p"): $(tr '\0' ' ' <"$process/cmdline")"
		kill -9 "${process#/proc/}"
	done
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
	end_leftovers | tee -a "$logs/$stage.log"
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
