package bundles

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// runIntent runs kubectl-intent as "make build" left it, and returns its output and its exit code.
func runIntent(t *testing.T, args ...string) (string, string, int) {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(root, "_output", "bin", "kubectl-intent"), slices.Concat([]string{"state"}, args, []string{"--kubeconfig", cp.Kubeconfig})...)
	problems := &strings.Builder{}
	c.Stderr = problems
	out, err := c.Output()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), problems.String(), c.ProcessState.ExitCode()
}
