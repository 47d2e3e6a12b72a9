#!/usr/bin/env bash
# run.sh FLAG...: runs the end-to-end tests of $SUITES with these flags of "go test". A suite ends after $LIMIT. A failed test runs once more, alone, on a
# control plane of its own: passes it then, it is printed as FLAKE, with its log above. More than two failed tests are no accident, and are not repeated.
# Processes that a suite leaves behind are ended, and printed as LEFT.
# Needs GOTESTSUM, the path of gotestsum.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
report=$(mktemp)
INTENTPLANE_NETWORKS=$(mktemp)
export INTENTPLANE_NETWORKS

# end_leftovers ends the orphans in the networks of the suites, and says whose they are. Process 1 adopts them, or the systemd of a user. The network of a suite
# that ended holds no other process: another run may use its number again, but those processes have parents.
end_leftovers() {
	local process network suite parent
	for process in /proc/[0-9]*; do
		network=$(readlink "$process/ns/net" 2>/dev/null) || continue
		suite=$(awk -v n="$network" '$1 == n { print $2; exit }' "$INTENTPLANE_NETWORKS")
		[[ -n $suite ]] && parent=$(awk '$1 == "PPid:" { print $2 }' "$process/status" 2>/dev/null) && [[ $parent == 1 || $(cat "/proc/$parent/comm" 2>/dev/null) == systemd ]] || continue
		echo "LEFT $suite: $(tr '\0' ' ' <"$process/cmdline")"
		kill -9 "${process#/proc/}" 2>/dev/null || true
	done
}

trap 'end_leftovers; rm -f "$report" "$INTENTPLANE_NETWORKS"' EXIT

status=0
"$GOTESTSUM" --no-color --format standard-quiet --rerun-fails=1 --rerun-fails-max-failures=2 --rerun-fails-run-root-test --rerun-fails-report="$report" --packages="$SUITES" -- \
	-count=1 -timeout "$LIMIT" -p "$(getconf _NPROCESSORS_ONLN)" -exec="$here/own-network.sh" "$@" || status=$?

# A suite that fails without a failed test did not start, or a component of its control plane ended: gotestsum repeats it without any test. The report has tests
# and subtests. A subtest that passes alone in a test that fails again is no flake.
awk '/: 0 runs, 0 failures$/ { sub(/\.: .*/, ""); print "FAIL\t" $0 "\tno test failed, but its control plane did"; red = 1; next }
	$1 !~ /\.Test[^\/]*:$/ { next }
	{ sub(/:$/, "", $1); print ($4 < $2 ? "FLAKE " : "--- FAIL: twice: ") $1; if ($4 == $2) red = 1 }
	END { exit red }' "$report" || status=1
exit "$status"
