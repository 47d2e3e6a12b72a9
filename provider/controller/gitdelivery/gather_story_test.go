package gitdelivery

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// gitIn runs a git command in the repository, and returns its output.
func (w *world) gitIn(args ...string) string {
	w.Helper()
	out, err := w.git.Git(w.Context(), repo, append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
	w.must(err)
	return strings.TrimSpace(out)
}

// writeTree writes a tree of raw lines, which have the id of an object in the place of its bytes.
func (w *world) writeTree(lines ...string) string {
	w.Helper()
	raw := []byte{}
	for _, line := range lines {
		head, id, _ := strings.Cut(line, "\x00")
		b, err := hex.DecodeString(id)
		w.must(err)
		raw = append(append(raw, head+"\x00"...), b...)
	}
	file := filepath.Join(w.TempDir(), "tree")
	w.must(os.WriteFile(file, raw, 0o600))
	return w.gitIn("hash-object", "-w", "-t", "tree", "--literally", file)
}

// plantTower makes a directory of the branch one of some levels, in each of which the next level lies under two names.
func (w *world) plantTower(dir string, levels int) {
	w.Helper()
	id := w.writeTree("100644 file\x00" + w.gitIn("rev-parse", "main:README.md"))
	for range levels {
		id = w.writeTree("40000 a\x00"+id, "40000 b\x00"+id)
	}
	for _, name := range slices.Backward(strings.Split(dir, "/")) {
		id = w.writeTree("40000 " + name + "\x00" + id)
	}
	tip := w.gitIn("rev-parse", "main")
	w.gitIn("update-ref", "refs/heads/main", w.gitIn("commit-tree", "-m", "Tower", "-p", tip, id))
}

// TestTower lets a tenant fill the directory of a claim with trees that stand for a million directories, or for more than there is time for.
func TestTower(t *testing.T) {
	t.Parallel()
	refused := func(w *world) {
		w.expect("web", v1alpha1.ReasonTooLarge)
		if got := w.message("web"); !strings.Contains(got, webAtE1) {
			w.Errorf("Ready: want a message that names the directory %s, got %q", webAtE1, got)
		}
		// The push lane of the branch is free for others.
		w.create(w.claiming("other", rendered("team-a", "other")))
		w.reconcile("other")
		w.expect("other", v1alpha1.ReasonDelivered)
	}
	plantedTower := func(levels int) func(w *world) {
		return func(w *world) {
			w.plantTower(webAtE1, levels)
			w.create(w.first())
			w.reconcile("web")
			refused(w)
		}
	}
	meanwhile := func(levels int) func(w *world) {
		return func(w *world) {
			w.begun = func() {
				w.begun = func() {}
				w.plantTower(webAtE1, levels)
			}
			w.create(w.first())
			w.reconcile("web")
			refused(w)
		}
	}
	tell(t, map[string]story{
		"MillionPaths":          {reason: "Twenty-two trees that stand for a million directories are named as too large.", run: plantedTower(20)},
		"SixtyLevels":           {reason: "Sixty levels of shared directories are named as too large.", run: plantedTower(60)},
		"MillionPathsMeanwhile": {reason: "A million directories that come while the delivery waits for its push free the lane again.", run: meanwhile(20)},
		"SixtyLevelsMeanwhile":  {reason: "Sixty levels that come while the delivery waits for its push free the lane again.", run: meanwhile(60)},
	})
}
