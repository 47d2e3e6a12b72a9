package alerts

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// buildFunction builds the function as one of another version, and returns the path of the program.
func (s *stage) buildFunction(version string) string {
	s.T.Helper()
	root, err := toolbox.Root()
	s.Must(err)
	program := filepath.Join(s.T.TempDir(), "function")
	// The flags of the Makefile, so that the build cache serves.
	cmd := exec.CommandContext(s.T.Context(), "go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w -X main.version="+version, "-o", program, ".")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.T.Fatalf("cannot build function: %v: %s", err, out)
	}
	return program
}
