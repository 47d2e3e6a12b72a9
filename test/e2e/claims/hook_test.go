package claims

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestHookRefuses has a hook of the Git server refuse an edit, and reads on the claim the output of the hook, and the refused
// refs.
func TestHookRefuses(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	s.Succeed(s.Claim("shop", runIntent(s, 2, "edge1")))
	hook := filepath.Join(s.Git.Path(s.Namespace), "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho 'change freeze until Monday, see https://joe:hunter2@rules.example.org/freeze' >&2\nexit 1\n"
	if err := os.WriteFile(hook, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	observed := s.Reach(s.Claim("shop", runIntent(s, 3, "edge1")), "refused by the hook", func(u *unstructured.Unstructured) bool {
		return strings.Contains(scene.Field(u, "status", "message"), "change freeze until Monday")
	})
	message := scene.Field(observed, "status", "message")
	for _, want := range []string{"refs/intentplane/test/state", "pre-receive hook declined", "https://[redacted]@rules.example.org/freeze"} {
		if !strings.Contains(message, want) {
			t.Errorf("status.message: want %q in it, got %q", want, message)
		}
	}
	if strings.Contains(message, "hunter2") {
		t.Errorf("status.message repeats a password: %q", message)
	}
}
