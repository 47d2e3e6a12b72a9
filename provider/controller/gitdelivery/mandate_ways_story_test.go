package gitdelivery

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// loseEarlierTrees removes each earlier tree of the claim from the repository: another user rewrites the branch without its history and the state without the
// retained trees, and the server collects its garbage. The branch and the ledger are as before.
func (w *world) loseEarlierTrees() {
	w.Helper()
	w.diverge(configv1alpha1.DivergenceReapply)
	id, err := w.git.Git(w.Context(), repo, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Rewritten", "main^{tree}")
	w.must(err)
	w.reset(strings.TrimSpace(id))
	w.rewriteState(func(string, map[string]any) {})
	w.collect()
	w.reconcile("web")
	w.delivered()
}

// TestMandateTreeGone has a revision 2 whose Gate fails, and a repository that lost the tree of revision 1.
func TestMandateTreeGone(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Plain": {reason: "A revision is rejected although its target is nowhere, and the condition names the lost tree.", run: func(w *world) {
			w.mandatedRevision()
			w.loseEarlierTrees()
			w.failGate()
			for range 6 { // Each attempt fails at once.
				w.reconcile("web")
			}
			s := w.storedLedger(repo).State
			if !s.IsRejected() || s.Verdict.Reason != rolloutv1alpha1.RejectedGateFailed || s.Restored || s.Cursor.Attempt != 3 {
				w.Fatalf("ledger: want GateFailed, three attempts and no end of the rollback, got %v, attempt %d, restored %t", s.Verdict, s.Cursor.Attempt, s.Restored)
			}
			w.expect("web", v1alpha1.ReasonDeliveryTimedOut)
			if got := w.says("web"); !strings.Contains(got, string(v1alpha1.ReasonTreeGone)) || !strings.Contains(got, tree.ID(files("a"))) {
				w.Errorf("message: want the lost tree %s, got %s", tree.ID(files("a")), got)
			}
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
			w.count(0)
			commits := w.stateCommits()
			for range 3 {
				w.reconcile("web")
			}
			if got := w.stateCommits(); got != commits {
				w.Errorf("commits of the state at rest: want %d, got %d", commits, got)
			}
		}},
		"Tracks": {reason: "A canary loses its requests although its target is nowhere, and stays beside its target's track.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			w.loseEarlierTrees()
			w.failGate()
			w.reconcile("web")
			w.delivered()
			s := w.storedLedger(repo).State
			w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2, Attempt: 1, Step: 1, Stage: ledger.StageShift})
			shifted := map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 0, 100)}
			w.holds(shifted, nil)
			w.observeSite(w.ledgerOf("web"), tree.ID(shifted[webAtE1]), true)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonTreeGone)
			w.holds(shifted, nil)
		}},
		"TracksForged": {reason: "A canary whose target no repository ever had loses its requests, and stays at its folders.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			lost := strings.Repeat("a", 40)
			w.rewriteState(func(_ string, content map[string]any) { replaceTarget(content, lost) })
			w.failGate()
			w.reconcile("web")
			w.delivered()
			shifted := map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 0, 100)}
			w.holds(shifted, nil)
			w.observeSite(w.ledgerOf("web"), tree.ID(shifted[webAtE1]), true)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonTreeGone)
			if got := w.says("web"); !strings.Contains(got, lost) {
				w.Errorf("message: want the lost tree %s, got %s", lost, got)
			}
			if s := w.storedLedger(repo).State; !s.IsRejected() || s.Restored {
				w.Errorf("ledger: want revision 2 rejected, and its rollback without an end, got %v, restored %t", s.Verdict, s.Restored)
			}
			w.holds(shifted, nil)
		}},
	})
}

// replaceTarget gives each Site of the earlier revisions in a ledger file another tree.
func replaceTarget(content map[string]any, id string) {
	s, _ := content["state"].(map[string]any)
	history, _ := s["history"].([]any)
	for _, past := range history {
		trees, _ := past.(map[string]any)["trees"].([]any)
		for _, siteTree := range trees {
			siteTree.(map[string]any)["id"] = id
		}
	}
}

// TestMandateWithoutEvent fails a Gate while its watch is down. No event requeues the home, and the fast path skips its reconciles.
func TestMandateWithoutEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := &counter{world: w, during: func() error { return nil }}
	w.calm.Inner = c
	w.mandatedRevision()
	for range 2 {
		c.calmly(time.Minute)
	}
	w.failGate()
	if c.calmly(time.Minute) {
		t.Fatal("A Gate whose event was lost ended the observation of an unchanged home.")
	}
	w.stays(2)
	if !c.calmly(2 * time.Hour) {
		t.Fatal("A home without events was not reconciled after its long interval.")
	}
	w.isRolledBack(3)
}

// TestMandatePaused pauses the composite of a canary, its home, or both, once the first step has come to its end.
func TestMandatePaused(t *testing.T) {
	t.Parallel()
	passed, failed := rolloutv1alpha1.GatePassed, rolloutv1alpha1.GateFailed
	cases := map[string]struct {
		reason            string
		isComposite, home bool
		verdict           rolloutv1alpha1.GateVerdict
		goesOn, goesBack  bool
	}{
		"NonePassed":      {reason: "Without a pause the next step follows.", verdict: passed, goesOn: true},
		"NoneFailed":      {reason: "Without a pause the canary is rejected.", verdict: failed, goesBack: true},
		"CompositePassed": {reason: "A paused composite takes no step.", isComposite: true, verdict: passed},
		"CompositeFailed": {reason: "A paused composite is rolled back.", isComposite: true, verdict: failed, goesBack: true},
		"HomePassed":      {reason: "A paused home records no step.", home: true, verdict: passed},
		"HomeFailed":      {reason: "A paused home records no verdict.", home: true, verdict: failed},
		"BothPassed":      {reason: "A paused home of a paused composite records no step.", isComposite: true, home: true, verdict: passed},
		"BothFailed":      {reason: "A paused home of a paused composite records no verdict.", isComposite: true, home: true, verdict: failed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stable, canary := w.preparedCanary()
			w.permitForward()
			w.proveSite(beside(t, canary, stable, 0, 20), false)
			w.judgeGate(tc.verdict)
			if tc.isComposite {
				w.edit(func(u *unstructured.Unstructured) {
					u.SetAnnotations(map[string]string{"crossplane.io/paused": "true"})
				})
			}
			if tc.home {
				w.change(func(d *v1alpha1.GitDelivery) { d.Annotations["crossplane.io/paused"] = "true" })
			}
			for range 2 {
				w.reconcile("web")
			}
			s := w.storedLedger(repo).State
			if goesOn := s.Cursor.Step == 1; goesOn != tc.goesOn || s.IsRejected() != tc.goesBack {
				t.Errorf("\n%s\nledger: want the next step %t, and a rejection %t, got step %d and verdict %v", tc.reason, tc.goesOn, tc.goesBack, s.Cursor.Step, s.Verdict)
			}
			if whole := beside(t, canary, stable, 0, 20); !tc.goesOn && !tc.goesBack {
				w.holds(map[string]tree.Files{webAtE1: whole}, nil)
			}
		})
	}
}

// TestMandateStale has Gates about the step of a canary that are no evidence for its home, beside a proven Site.
func TestMandateStale(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(g *rolloutv1alpha1.Gate)
	}{
		"Namespace": {
			reason: "A Gate of the same name in another namespace proves nothing.",
			change: func(g *rolloutv1alpha1.Gate) { g.Namespace = "team-b" },
		},
		"Controller": {
			reason: "A Gate of another controller proves nothing.",
			change: func(g *rolloutv1alpha1.Gate) { g.OwnerReferences[0].UID = "other" },
		},
		"NotReady": {
			reason: "A verdict without a Ready condition proves nothing.",
			change: func(g *rolloutv1alpha1.Gate) { g.Status.Conditions = nil },
		},
		"Generation": {
			reason: "A verdict about an earlier generation proves nothing.",
			change: func(g *rolloutv1alpha1.Gate) {
				for i := range g.Status.Conditions {
					g.Status.Conditions[i].ObservedGeneration = 0
				}
			},
		},
		"Claim": {
			reason: "A Gate of another claim proves nothing.",
			change: func(g *rolloutv1alpha1.Gate) { g.Spec.ForProvider.ClaimRef.Name = "api" },
		},
		"Forged": {
			reason: "A Gate that names the revision of another ledger proves nothing.",
			change: func(g *rolloutv1alpha1.Gate) { g.Annotations[evidence.AnnotationRevision] = "forged" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, verdict := range []rolloutv1alpha1.GateVerdict{rolloutv1alpha1.GatePassed, rolloutv1alpha1.GateFailed} {
				w := newWorld(t)
				stable, canary := w.preparedCanary()
				w.permitForward()
				w.proveSite(beside(t, canary, stable, 0, 20), false)
				w.judgeGate(verdict)
				w.replaceGate(tc.change)
				w.reconcile("web")
				if s := w.storedLedger(repo).State; s.Cursor.Step != 0 || s.Verdict != nil {
					t.Errorf("\n%s\nledger after a Gate with verdict %s: want step 0 without a verdict, got step %d with %v", tc.reason, verdict, s.Cursor.Step, s.Verdict)
				}
			}
		})
	}
}

// replaceGate makes the judged Gate again with a change.
func (w *world) replaceGate(change func(g *rolloutv1alpha1.Gate)) {
	w.Helper()
	all := &rolloutv1alpha1.GateList{}
	w.must(w.kube.List(w.Context(), all))
	for _, g := range all.Items {
		w.must(w.kube.Delete(w.Context(), g.DeepCopy()))
		g.ResourceVersion = ""
		change(&g)
		w.must(w.kube.Create(w.Context(), &g))
	}
}
