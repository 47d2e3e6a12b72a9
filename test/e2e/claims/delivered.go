package claims

import (
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/intentplane/intentplane/test/scene"
)

// wantOutputOfDiff runs "kubectl intent diff" with a file, and compares its exit code and its output.
func wantOutputOfDiff(s *scene.Scene, file string, code int, says ...string) {
	s.T.Helper()
	c := exec.CommandContext(s.T.Context(), s.Built("kubectl-intent"), "diff", file, "--kubeconfig", cp.Kubeconfig)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != code || code == 0 && len(out) > 0 {
		s.T.Errorf("diff %s: want exit code %d: %v:\n%s", filepath.Base(file), code, err, out)
	}
	for _, want := range says {
		if !strings.Contains(string(out), want) {
			s.T.Errorf("diff %s: want %q, got:\n%s", filepath.Base(file), want, out)
		}
	}
}
