package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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

// TestHangingSuite runs a suite that hangs, and another suite. The first suite ends after its limit with the process that it left, and the second suite passes.
func TestHangingSuite(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"gotestsum": plainGotestsum, "go.mod": "module toy\n\ngo 1.26\n", "hang/hang_test.go": hangingSuite, "fine/fine_test.go": passingSuite,
	})
	cmd := exec.CommandContext(t.Context(), "../e2e/run.sh", "-vet=off")
	cmd.Env = append(os.Environ(), "GOTESTSUM="+filepath.Join(dir, "gotestsum"), "SUITES=./hang ./fine", "LIMIT=5s", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("run.sh passes although a suite hangs")
	}
	for _, want := range []string{"panic: test timed out after 5s", "FAIL\ttoy/hang", "ok  \ttoy/fine"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("run.sh does not print %q:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "LEFT") && !strings.Contains(string(out), "LEFT hang: sleep 987 \n") {
		t.Errorf("run.sh does not say whose process it ended:\n%s", out)
	}
}
