package tour

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// TestTour runs the tour, and compares its output with the story, and the output of a watch meanwhile with the tutorial.
func TestTour(t *testing.T) {
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	watched := filepath.Join(t.TempDir(), "watched")
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/playground", "tour", "--watch", watched)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the tour ends with %v:\n%s", err, out)
	}
	for _, missing := range []string{missingStoryLine(string(out)), missingRollbackLine(string(out))} {
		if missing != "" {
			t.Fatalf("the tour does not show %q, or not in its turn:\n%s", missing, out)
		}
	}
	for line := range strings.Lines(string(out)) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	b, err := os.ReadFile(watched)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(updateTranscript) != "" {
		writeTutorial(t, string(b))
	}
	compareWithTutorial(t, string(b))
	seconds := regexp.MustCompile(`took (\d+) seconds`).FindStringSubmatch(string(out))
	t.Logf("tour_s %s\n%s\n%s", seconds[1], out, b)
}
