package gitdelivery

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
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
	t := desired(w.T, "edge2", webAtE2, "b")
	return []v1alpha1.LaterTree{{Tree: t, Revision: 2, Request: orderedEvent(2, "b").Ordered.Revision.Request.Digest(), Step: 1}}
}

// isVerifiedAtLastStep fails the story unless revision 2 came to its second wave, and was verified.
func (w *world) isVerifiedAtLastStep() {
	w.Helper()
	s := w.storedLedger(repo).State
	if w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2, Step: 1}); !s.IsVerified() {
		w.Fatalf("verdict: want Verified, got %v", s.Verdict)
	}
}

// carriedWaves orders revision 2 in two waves of one repository, whose home carries the second one and has a mandate.
func (w *world) carriedWaves() {
	w.Helper()
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
}

// carriedElsewhere orders revision 2 in two waves, of which the second repository carries the second one. The home has a mandate, and has come to that wave.
func (w *world) carriedElsewhere() {
	w.Helper()
	w.verifiedInBoth()
	w.countDelivered()
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, inWaves(inBoth(2, "b")))
	w.changeFollower(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Later = w.secondWave() })
	w.reconcile(elsewhere)
	w.permitAll()
	w.reconcile("web")
	w.bothHold("b", "a")
}

// movedElsewhere serves both Sites from the home in revision 1. Revision 2 comes to edge1, and then to edge2 by the second repository, whose delivery was only
// read so far. The step of the second wave has a Gate.
func (w *world) movedElsewhere() {
	w.Helper()
	first := []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "a"), desired(w.T, "edge2", webAtE2, "a")}
	w.addFollower()
	w.countDelivered()
	w.startHome()
	w.propose(first, openedEvent("demo"), orderedEvent(1, "a", "edge1", "edge2"))
	w.propose(first, verifiedEvent("a", "edge1", "edge2"))
	w.follow(w.ledgerOf("web"), directories.Retain(first[1]))
	w.composeFollower()
	e := inWaves(inBoth(2, "b"))
	e.Ordered.Revision.Plan[1].Gate = true
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, e)
	w.changeFollower(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Position, d.Spec.ForProvider.Later = nil, w.secondWave()
	})
	w.reconcile(elsewhere)
	w.permitAll()
	w.reconcile("web")
	w.reconcile(elsewhere)
	w.expect(elsewhere, v1alpha1.ReasonDelivered)
}

// elsewhereHolds compares the directory of edge2 in the second repository.
func (w *world) elsewhereHolds(says string) {
	w.Helper()
	got, err := w.git.Files(w.Context(), elsewhere, "main")
	w.must(err)
	if diff := cmp.Diff(string(files(says)["configmap.yaml"]), got[webAtE2+"/configmap.yaml"]); diff != "" {
		w.Fatalf("directory of edge2 in the second repository: -want, +got:\n%s", diff)
	}
}

// TestMandateWaves plays a function that is silent from the order of a revision of two waves on.
func TestMandateWaves(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"OneRepository": {reason: "The home brings the second wave its files in the push that records it, and then the verdict.", run: func(w *world) {
			w.carriedWaves()
			w.reconcile("web")
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("b")}, nil)
			w.count(3)
			w.reconcile("web")
			w.isVerifiedAtLastStep()
			w.count(3)
		}},
		"TwoRepositories": {reason: "The other repository gets its wave once the home shows it, in one commit, and moves no record for the verdict.", run: func(w *world) {
			w.carriedElsewhere()
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
		"MovedSite": {reason: "A wave to a Site that has another directory by now waits for the function, and rejects nothing.", run: func(w *world) {
			w.carriedWaves()
			w.move("edge2", "clusters/moved")
			for range 3 {
				w.reconcile("web")
			}
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("a")}, nil)
			if s := w.storedLedger(repo).State; s.Verdict != nil || s.Cursor.Step != 0 {
				w.Errorf("ledger: want revision 2 in its first wave, got step %d with %v", s.Cursor.Step, s.Verdict)
			}
			if m := w.get("web").Status.AtProvider.Mandate; m == nil || slices.Contains(m.May, step.KindAdvance) {
				w.Errorf("mandate of the status: want no step, so that the function decides, got %+v", m)
			}
		}},
		"LeftSite": {reason: "A wave to a Site that lost a label of the selector waits for the function.", run: func(w *world) {
			w.carriedWaves()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Mandate.MatchLabels = map[string]string{"region": "north"}
			})
			for range 3 {
				w.reconcile("web")
			}
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("a")}, nil)
			if m := w.get("web").Status.AtProvider.Mandate; m == nil || slices.Contains(m.May, step.KindAdvance) {
				w.Errorf("mandate of the status: want no step, so that the function decides, got %+v", m)
			}
		}},
		"MovedSiteElsewhere": {reason: "A wave of another repository to a Site that has another directory by now waits for the function.", run: func(w *world) {
			w.verifiedInBoth()
			w.countDelivered()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, inWaves(inBoth(2, "b")))
			w.changeFollower(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Later = w.secondWave() })
			w.reconcile(elsewhere)
			w.move("edge2", "clusters/moved")
			w.permitAll()
			w.reconcile("web")
			w.positionIs(w.storedLedger(repo).State, ledger.Position{Epoch: 1, Revision: 2})
		}},
		"FirstRevision": {reason: "A repository that came to its first revision by a wave is rolled back with the home.", run: func(w *world) {
			w.movedElsewhere()
			w.elsewhereHolds("b")
			w.failGate()
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.elsewhereHolds("a")
			s := w.storedLedger(repo).State
			if d := w.get(elsewhere); !s.IsRejected() || d.Status.AtProvider.Follows == nil || d.Status.AtProvider.Follows.Position != s.Position() {
				w.Errorf("position of the second repository: want %+v, got %+v", s.Position(), d.Status.AtProvider.Follows)
			}
			w.followerCommits(2)
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
