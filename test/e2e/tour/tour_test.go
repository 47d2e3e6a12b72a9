package tour

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/intentplane/intentplane/test/controlplane"
)

// TestTour runs the tour, and holds what it prints to the story.
func TestTour(t *testing.T) {
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/playground", "tour")
	// The tour has the few controllers of Kubernetes that "make tour" builds.
	cmd.Dir, cmd.Env = root, append(os.Environ(), "KUBE_CONTROLLER_MANAGER="+os.Getenv("KUBE_CONTROLLERS"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the tour ends with %v:\n%s", err, out)
	}
	for _, missing := range []string{findStory(string(out)), findRollback(string(out))} {
		if missing != "" {
			t.Fatalf("the tour does not tell %q, or not in its turn:\n%s", missing, out)
		}
	}
	for line := range strings.Lines(string(out)) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	seconds := regexp.MustCompile(`took (\d+) seconds`).FindStringSubmatch(string(out))
	t.Logf("tour_s %s\n%s", seconds[1], out)
}
