package gitdelivery

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

// countDelivered lets a delivered tree count as live at both Sites, which have no engine.
func (w *world) countDelivered() {
	w.Helper()
	for _, name := range []string{"edge1", "edge2"} {
		s := site(name)
		w.must(w.kube.Get(w.Context(), client.ObjectKeyFromObject(s), s))
		s.Spec.Engine.UnobservedIsLive = new(true)
		w.must(w.kube.Update(w.Context(), s))
	}
}

// inWaves lets a revision come to edge1 first, and then to edge2.
func inWaves(e ledger.Event) ledger.Event {
	e.Ordered.Revision.Plan = []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
	return e
}

// secondWave returns the later tree of edge2 in revision 2.
func (w *world) secondWave() []v1alpha1.LaterTree {
	return []v1alpha1.LaterTree{{Tree: desired(w.T, "edge2", webAtE2, "b"), Revision: 2, Step: 1}}
}

// isVerifiedAtLastStep fails the story unless revision 2 came to its second wave, and was verified.
func (w *world) isVerifiedAtLastStep() {
	w.Helper()
	s := w.storedLedger(repo).State
	if w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2, Step: 1}); !s.IsVerified() {
		w.Fatalf("verdict: want Verified, got %v", s.Verdict)
	}
}

// TestMandateWaves plays a function that is silent from the order of a revision of two waves on.
func TestMandateWaves(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"OneRepository": {reason: "The home brings the second wave its files in the push that records it, and then the verdict.", run: func(w *world) {
			first := []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a"), desired(w.T, "edge2", webAtE2, "a")}
			w.countDelivered()
			w.startHome()
			w.propose(first, openedEvent("demo"), orderedEvent(1, "a", "edge1", "edge2"))
			w.propose(first, verifiedEvent("a", "edge1", "edge2"))
			second := []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b"), directories.Retain(first[1])}
			w.propose(second, inWaves(orderedEvent(2, "b", "edge1", "edge2")))
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Later = w.secondWave() })
			w.permitAll()
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("a")}, nil)
			w.reconcile("web")
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("b")}, nil)
			w.count(3)
			w.reconcile("web")
			w.isVerifiedAtLastStep()
			w.count(3)
		}},
		"TwoRepositories": {reason: "The other repository gets its wave once the home shows it, in one commit, and moves no record for the verdict.", run: func(w *world) {
			w.verifiedInBoth()
			w.countDelivered()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, inWaves(inBoth(2, "b")))
			w.changeFollower(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Later = w.secondWave() })
			w.reconcile(elsewhere)
			w.permitAll()
			w.reconcile("web")
			w.bothHold("b", "a")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.bothHold("b", "b")
			w.followerCommits(2)
			tip := w.tipOf(elsewhere)
			w.reconcile("web")
			w.isVerifiedAtLastStep()
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			if got := w.tipOf(elsewhere); got != tip {
				w.Errorf("state of the other repository after the verdict: want %s, got %s", tip, got)
			}
		}},
		"NotCarried": {reason: "A wave whose files no object has waits for the function.", run: func(w *world) {
			w.verifiedInBoth()
			w.countDelivered()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, inWaves(inBoth(2, "b")))
			w.permitAll()
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.bothHold("b", "a")
			w.positionIs(w.storedLedger(repo).State, ledger.Position{Epoch: 1, Revision: 2})
		}},
	})
}
