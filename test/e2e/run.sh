#!/usr/bin/env bash
# run.sh FLAG...: runs the end-to-end tests of $SUITES with these flags of "go test". A suite ends after $LIMIT. A failed test runs once more, alone, on a
# control plane of its own: passes it then, it is printed as FLAKE, with its log above. More than two failed tests are no accident, and are not repeated.
# Needs GOTESTSUM, the path of gotestsum.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
report=$(mktemp)
trap 'rm -f "$report"' EXIT

status=0
"$GOTESTSUM" --format standard-quiet --rerun-fails=1 --rerun-fails-max-failures=2 --rerun-fails-run-root-test --rerun-fails-report="$report" --packages="$SUITES" -- \
	-count=1 -timeout "$LIMIT" -p "$(getconf _NPROCESSORS_ONLN)" -exec="$here/own-network.sh" "$@" || status=$?

# A suite that fails without a failed test did not start, or a component of its control plane ended: gotestsum repeats it without any test.
awk '/: 0 runs, 0 failures$/ { sub(/\.: .*/, ""); print "FAIL\t" $0 "\tno test failed, but its control plane did"; red = 1; next }
	{ runs = $2; failures = $4; sub(/:$/, "", $1); print (failures < runs ? "FLAKE " : "--- FAIL: twice: ") $1 }
	END { exit red }' "$report" || status=1
exit "$status"
