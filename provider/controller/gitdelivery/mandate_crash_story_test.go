package gitdelivery

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// TestMandateMissingSite rolls revision 2 back, of which one Site is gone.
func TestMandateMissingSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trees := func(says string) []v1alpha1.Tree {
		return []v1alpha1.Tree{desired(t, "edge1", webAtE1, says), desired(t, "edge2", webAtE2, says)}
	}
	w.startHome()
	w.propose(trees("a"), openedEvent("demo"), orderedEvent(1, "a", "edge1", "edge2"))
	w.propose(trees("a"), verifiedEvent("a", "edge1", "edge2"))
	w.propose(trees("b"), gatedEvent(2, "b", "edge1", "edge2"))
	w.giveMandate(2, noChange)
	w.reconcile("web")
	w.failGate()
	w.must(w.kube.Delete(w.Context(), site("edge2")))
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonSiteMissing)
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonSiteMissing)
	w.holds(map[string]tree.Files{webAtE1: files("a"), webAtE2: files("b")}, nil)
	w.must(w.kube.Create(w.Context(), site("edge2")))
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	w.holds(map[string]tree.Files{webAtE1: files("a"), webAtE2: files("a")}, nil)
	w.count(4)
}

// TestMandateCrashes lets the provider die while it rolls a revision back.
func TestMandateCrashes(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashes() {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mandatedRevision()
			w.failGate()
			crash(w)
			_ = w.try("web") // Who is dead cannot say so.
			w.recover()
			for range 3 {
				w.reconcile("web")
			}
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
			w.isMandatedTwice()
		})
	}
}

// TestMandateRaced rolls a revision back whose pushes lose more races than one push may.
func TestMandateRaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mandatedRevision()
	w.failGate()
	lock := filepath.Join(w.git.Path(repo), "refs", "heads", "main.lock")
	w.must(os.WriteFile(lock, nil, 0o600))
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonConflict)
	w.stays(2)
	w.must(os.Remove(lock))
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	w.isRolledBack(3)
	w.isMandatedTwice()
}

// TestMandateDenied rolls a revision back to a tree with a kind that the configuration does not allow any more.
func TestMandateDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mandatedRevision()
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) {
		c.Policy.AllowedKinds = []configv1alpha1.KindSet{{Group: "apps", Kinds: []string{"Deployment"}}}
	})
	w.failGate()
	for range 5 {
		_ = w.try("web") // It is in the condition.
	}
	w.expect("web", v1alpha1.ReasonPolicyDenied)
	if s := w.storedLedger(repo).State; !s.IsRejected() || s.Target != 1 || s.Cursor.Attempt == 0 {
		t.Errorf("\nThe verdict and the rollback are recorded although its tree is refused.\nledger: want revision 2 rolled back to revision 1, got %v, target %d", s.Verdict, s.Target)
	}
	w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
	w.count(2)
}

// isMandatedTwice fails the story unless the provider recorded two events by the mandate.
func (w *world) isMandatedTwice() {
	w.Helper()
	if n := len(slices.DeleteFunc(w.storedLedger(repo).Events, func(e state.LoggedEvent) bool { return e.By != state.RecorderMandate })); n != 2 {
		w.Errorf("\nAn event that was recorded before a crash is recorded once.\nevents by the mandate: want 2, got %d", n)
	}
}

// TestMandateWavesCrashes lets the provider die while the home begins the second wave of a revision.
func TestMandateWavesCrashes(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashes() {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.carriedWaves()
			crash(w)
			_ = w.try("web") // Who is dead cannot say so.
			w.recover()
			for range 3 {
				w.reconcile("web")
			}
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("b"), webAtE2: files("b")}, nil)
			w.isVerifiedAtLastStep()
			w.count(3)
			w.isMandatedTwice()
		})
	}
}

// TestMandateWavesCrashesElsewhere lets the provider die while it brings the second wave of a revision to the second repository.
func TestMandateWavesCrashesElsewhere(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashesIn(elsewhere) {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.carriedElsewhere()
			crash(w)
			_ = w.try(elsewhere) // Who is dead cannot say so.
			w.recoverIn(elsewhere)
			for range 3 {
				w.reconcile(elsewhere)
				w.reconcile("web")
			}
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.bothHold("b", "b")
			w.isVerifiedAtLastStep()
			w.followerCommits(2)
			w.isMandatedTwice()
		})
	}
}
