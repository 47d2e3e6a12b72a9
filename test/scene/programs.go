package scene

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

// kubectlGrace is the time that kubectl has for its message after it waited for patience.Limit.
const kubectlGrace = time.Minute

// Run runs kubectl as the administrator, and returns its output. It fails the test when kubectl fails.
func (s *Scene) Run(args ...string) string {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), patience.Limit+kubectlGrace)
	defer cancel()
	out, err := s.Kubectl(ctx, args...)
	s.Must(err)
	return out
}

// Inside runs kubectl in the scene's namespace and returns its output. It fails the test when kubectl fails.
func (s *Scene) Inside(args ...string) string {
	s.T.Helper()
	return s.Run(append([]string{"--namespace", s.Namespace}, args...)...)
}

// Program runs a program with an input and returns its output. It fails the test when the program fails.
func (s *Scene) Program(stdin, name string, args ...string) string {
	s.T.Helper()
	cmd := exec.CommandContext(s.T.Context(), name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	complaint := &strings.Builder{}
	cmd.Stderr = complaint
	out, err := cmd.Output()
	if err != nil {
		s.T.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, complaint)
	}
	return string(out)
}

// Built is the path of a program that "make build" left.
func (s *Scene) Built(name string) string {
	s.T.Helper()
	root, err := toolbox.Root()
	s.Must(err)
	return filepath.Join(root, "_output", "bin", name)
}

// Tool is the path of a program that tools/tools.sh builds, or that the environment names by the same variable.
func (s *Scene) Tool(variable string) string {
	s.T.Helper()
	path, err := toolbox.Path(s.T.Context(), variable)
	s.Must(err)
	return path
}
