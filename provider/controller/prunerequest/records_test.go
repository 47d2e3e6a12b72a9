package prunerequest

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

func TestExplainState(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		phase  v1alpha1.Phase
		says   string
	}{
		"Own": {reason: "The state that this cluster wrote is believed.", change: func(*world) {}, phase: v1alpha1.PhasePlanned},
		"OtherCluster": {reason: "The state that another cluster wrote is not believed.", change: func(w *world) {
			_, err := w.git.CommitRef(w.Context(), repo, stateRef, map[string]string{"owner.json": `{"version": 1, "clusterUID": "cluster-2"}`}, "take over")
			w.must(err)
		}, phase: v1alpha1.PhaseRefused, says: `"cluster-2"`},
		"Malformed": {reason: "A state is not believed whose owner has no form that is known.", change: func(w *world) {
			_, err := w.git.CommitRef(w.Context(), repo, stateRef, map[string]string{"owner.json": "{"}, "break")
			w.must(err)
		}, phase: v1alpha1.PhaseRefused, says: "owner.json: "},
		"Unreadable": {
			reason: "A state is not believed whose owner cannot be read, since the repository does not have the file.", change: (*world).loseOwner,
			phase: v1alpha1.PhaseRefused, says: "owner.json: ",
		},
		"Directory": {reason: "A state is not believed that has a directory in the place of its owner.", change: func(w *world) {
			_, err := w.git.CommitRef(w.Context(), repo, stateRef, map[string]string{"owner.json/x": "y"}, "hide")
			w.must(err)
		}, phase: v1alpha1.PhaseRefused, says: "a directory, a link or a submodule is there"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			tc.change(w)
			w.ask(team)
			pr := w.step(team)
			if got := pr.Status.GetCondition(v1alpha1.TypePlanned); pr.Status.Phase != tc.phase || !strings.Contains(got.Message, tc.says) {
				t.Errorf("\n%s\nphase: want %s, got %s: %s: %s", tc.reason, tc.phase, pr.Status.Phase, got.Reason, got.Message)
			}
		})
	}
}

// loseOwner puts a commit of another repository in the place of the file that says who writes the state.
func (w *world) loseOwner() {
	w.Helper()
	run := func(args ...string) string {
		out, err := w.git.Git(w.Context(), repo, args...)
		w.must(err)
		return strings.TrimSpace(out)
	}
	run("read-tree", stateRef)
	run("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+",owner.json")
	run("update-ref", stateRef, run("-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", run("write-tree"), "-p", stateRef, "-m", "lose"))
}
