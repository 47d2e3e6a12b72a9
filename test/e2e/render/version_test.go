package render

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// TestVersion asks the programs that make built for the version that make gave them.
func TestVersion(t *testing.T) {
	t.Parallel()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile(filepath.Join(root, "_output", "settings"))
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := strings.Cut(string(settings), " ")
	for _, name := range []string{"function", "provider", "kubectl-intent"} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "_output", "bin", name), "--version").CombinedOutput()
		if diff := cmp.Diff(want+"\n", string(out)); diff != "" || err != nil {
			t.Errorf("%s --version: %v: -want, +got:\n%s", name, err, diff)
		}
	}
}
