package checks

const (
	// plainGotestsum runs "go test" with the flags and the packages of its arguments, in the module beside it.
	plainGotestsum = `#!/usr/bin/env bash
for argument in "$@"; do
	[[ $argument != --packages=* ]] || packages=${argument#*=}
done
while [[ $1 != -- ]]; do shift; done
cd "$(dirname "$0")" && exec go test "${@:2}" $packages
`

	// hangingSuite never ends, with a process that runs beside it.
	hangingSuite = `package hang

import (
	"os/exec"
	"testing"
	"time"
)

func TestHang(t *testing.T) {
	if err := exec.Command("sleep", "987").Start(); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Hour)
}
`

	passingSuite = "package fine\n\nimport \"testing\"\n\nfunc TestFine(*testing.T) {}\n"
)
