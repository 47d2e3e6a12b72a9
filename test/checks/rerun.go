package checks

import (
	"os/exec"
	"testing"
)

// fakeGotestsum writes the report of its variable to the file that its argument names, and ends with the status of its variable.
const fakeGotestsum = `#!/usr/bin/env bash
for argument in "$@"; do
	[[ $argument != --rerun-fails-report=* ]] || printf "$REPORT" >"${argument#*=}"
done
exit "$STATUS"
`

// leavingGotestsum runs a suite that leaves a process behind.
const leavingGotestsum = `#!/usr/bin/env bash
cd "$(dirname "$0")" && "$NETWORK" bash -c 'sleep 321 >/dev/null 2>&1 &'
`

func readLink(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
