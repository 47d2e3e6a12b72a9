package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
