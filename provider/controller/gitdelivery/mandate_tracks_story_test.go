package gitdelivery

import (
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// commitsAtStep is how many commits bring the canary to 20 percent: the stable revision, the pods of the canary, and the weight.
const commitsAtStep = 3

// mandatedCanary gives revision 2 in green 20 percent of the requests, in a step with a Gate, and the home a mandate for it.
func (w *world) mandatedCanary() (stable, canary tree.Files) {
	w.Helper()
	stable, canary = w.stableInBlue()
	gated := inTrack(2, track.Green, 1)
	gated.Ordered.Revision.Plan[1].Gate = true
	w.propose([]v1alpha1.Tree{tracked(w.T, beside(w.T, canary, stable, 0, 20), shared(0), track.Blue)}, gated, advanced(0, ledger.StageSteps))
	w.delivered()
	w.propose([]v1alpha1.Tree{tracked(w.T, beside(w.T, canary, stable, 20, 100), shared(20), track.Blue)}, advanced(1, ledger.StageSteps))
	w.delivered()
	w.giveMandate(2, noChange)
	w.reconcile("web")
	w.delivered()
	if w.get("web").Status.AtProvider.Mandate == nil {
		w.Fatal("echo of the mandate: want one for a canary, got none")
	}
	w.count(commitsAtStep)
	return stable, canary
}

// hasLostRequests fails the story unless revision 2 was rejected and its requests went back in one commit, with all of its pods there.
func (w *world) hasLostRequests(stable, canary tree.Files) {
	w.Helper()
	s := w.storedLedger(repo).State
	if !s.IsRejected() || s.Target != 1 {
		w.Fatalf("ledger: want revision 2 rejected and rolled back to revision 1, got verdict %v and target %d", s.Verdict, s.Target)
	}
	w.positionIs(s, ledger.Position{Epoch: 1, Revision: 2, Attempt: 1, Step: 1, Stage: ledger.StageShift})
	w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 0, 100)}, nil)
	w.count(commitsAtStep + 1)
}

// observeSite writes the SiteSync at the position of a state: edge1 runs a tree, and green is without requests since then or not.
func (w *world) observeSite(s ledger.State, id string, isIdle bool) {
	w.Helper()
	position, sync := s.Position(), &v1alpha1.SiteSync{ObjectMeta: controlled()}
	sync.Name = "web-sync"
	exists := w.kube.Get(w.Context(), client.ObjectKeyFromObject(sync), sync) == nil
	sync.Spec.ForProvider.ClaimRef, sync.Spec.ForProvider.Position = w.first().Spec.ForProvider.ClaimRef, &position
	sync.Spec.ForProvider.Sites = []v1alpha1.SiteTree{{Name: "edge1", Path: webAtE1, Tree: id}}
	sync.Status.AtProvider.Position = &position
	sync.Status.AtProvider.Sites = []v1alpha1.SiteObservation{{Name: "edge1", State: v1alpha1.SiteLive, Tree: id, Traffic: &v1alpha1.SiteTrafficObservation{
		Tracks: []v1alpha1.TrackObservation{{Name: track.Green, Idle: isIdle, ProvenAt: &position}},
	}}}
	sync.SetConditions(
		xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionTrue, Reason: "Live", ObservedGeneration: 1},
		xpv2.Condition{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess, ObservedGeneration: 1},
	)
	if exists {
		w.must(w.kube.Update(w.Context(), sync))
		return
	}
	w.must(w.kube.Create(w.Context(), sync))
}

// runEngine gives edge1 an engine, so that only a SiteSync proves something there.
func (w *world) runEngine() {
	w.Helper()
	edge1 := site("edge1")
	w.must(w.kube.Get(w.Context(), client.ObjectKeyFromObject(edge1), edge1))
	edge1.Spec.Engine.Type = catalogv1alpha1.EngineFlux
	w.must(w.kube.Update(w.Context(), edge1))
}

// askForTree sets the recorded position and a tree in the spec, as the function does.
func (w *world) askForTree(t v1alpha1.Tree) {
	w.Helper()
	position := w.ledgerOf("web").Position()
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = &position, []v1alpha1.Tree{t}
	})
	w.reconcile("web")
	w.delivered()
}

// TestMandateTracks plays a function that is silent from a canary at 20 percent on.
func TestMandateTracks(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"GateFailed": {reason: "A canary whose Gate fails loses its requests in one push, its pods stay, and then nothing is written.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			reserved := w.ledgerOf("web")
			w.failGate()
			w.reconcile("web")
			w.delivered()
			w.hasLostRequests(stable, canary)
			if diff := cmp.Diff([]state.Recorder{state.RecorderMandate, state.RecorderMandate, state.RecorderMandate}, w.recordedBy(reserved.Seq+1)); diff != "" {
				w.Errorf("who recorded the events: -want, +got:\n%s", diff)
			}
			for _, reason := range []string{"RejectedByMandate", "RolledBackByMandate", "AdvancedByMandate"} {
				if n := strings.Count(strings.Join(w.told["web"], "\n"), reason); n != 1 {
					w.Errorf("events %s: want one, got %d of %v", reason, n, w.told["web"])
				}
			}
			status, commits := w.get("web").Status, w.stateCommits()
			for range 3 {
				w.reconcile("web")
			}
			w.hasLostRequests(stable, canary)
			if diff := cmp.Diff(status, w.get("web").Status); diff != "" || w.stateCommits() != commits {
				w.Errorf("writes at rest: want none, got %d commits of the state after %d, and in the status -before, +after:\n%s", w.stateCommits(), commits, diff)
			}
		}},
		"Drained": {reason: "Once the requests are proven to have ended the stable revision is alone, and the rollback ends when its Site runs that.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			w.runEngine()
			w.failGate()
			w.reconcile("web")
			shifted := tracked(w.T, beside(w.T, canary, stable, 0, 100), shared(0), track.Blue, track.Green)
			w.askForTree(shifted)
			w.observeSite(w.ledgerOf("web"), shifted.Tree, false)
			w.reconcile("web")
			w.hasLostRequests(stable, canary)
			w.observeSite(w.ledgerOf("web"), shifted.Tree, true)
			w.reconcile("web")
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: stable}, nil)
			w.askForTree(tracked(w.T, stable, aloneIn(track.Blue, 1), track.Blue))
			if w.ledgerOf("web").Restored {
				w.Fatal("The rollback ended before its Site was proven to run the target.")
			}
			w.observeSite(w.ledgerOf("web"), tree.ID(stable), true)
			w.reconcile("web")
			if !w.ledgerOf("web").Restored {
				w.Error("The rollback did not end although its Site was proven to run the target.")
			}
			w.holds(map[string]tree.Files{webAtE1: stable}, nil)
			w.count(commitsAtStep + 2)
		}},
		"Behind": {reason: "The pods of the canary go after a proof of the stage, although the spec is still that of the step.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			w.failGate()
			w.reconcile("web")
			w.observeSite(w.ledgerOf("web"), tree.ID(beside(w.T, canary, stable, 0, 100)), true)
			w.reconcile("web")
			w.delivered()
			w.holds(map[string]tree.Files{webAtE1: stable}, nil)
			w.count(commitsAtStep + 2)
		}},
		"Manual": {reason: "A policy that rolls nothing back leaves the pods of the canary, and no requests.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			w.giveMandate(2, func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AutoRollback = false })
			w.failGate()
			w.reconcile("web")
			w.hasLostRequests(stable, canary)
			w.observeSite(w.ledgerOf("web"), tree.ID(beside(w.T, canary, stable, 0, 100)), true)
			w.reconcile("web")
			w.hasLostRequests(stable, canary)
		}},
		"Older": {reason: "A spec of the step that is applied again by a stale call gives the canary no requests.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			older := w.get("web").Spec.ForProvider
			w.failGate()
			w.reconcile("web")
			w.askForTree(tracked(w.T, beside(w.T, canary, stable, 0, 100), shared(0), track.Blue, track.Green))
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider = older })
			w.reconcile("web")
			w.delivered()
			w.hasLostRequests(stable, canary)
		}},
		"Drift": {reason: "Weights that another user changes in Git after the rollback go back to none.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			w.failGate()
			w.reconcile("web")
			route := webAtE1 + "/shared/httproute-web.yaml"
			w.push(map[string]string{route: string(beside(w.T, canary, stable, 90, 100)["shared/httproute-web.yaml"])})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDriftRestored)
			w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 0, 100)}, nil)
		}},
		"NoFiles": {reason: "A canary whose spec lacks the files that the tracks share is left to the function.", run: func(w *world) {
			w.mandatedCanary()
			w.giveMandate(2, func(d *v1alpha1.GitDelivery) {
				t := &d.Spec.ForProvider.Trees[0]
				t.Action, t.Tree, t.Files, t.Parts, t.Tracks = v1alpha1.ActionKeep, "", nil, nil, nil
			})
			w.failGate()
			w.reconcile("web")
			w.stays(commitsAtStep)
			if got := w.get("web").Status.AtProvider.Mandate; got != nil {
				w.Errorf("echo of a mandate that cannot be acted by: want none, got %v", got)
			}
		}},
		"StateLost": {reason: "A ledger that was lost goes on in another epoch, for which the mandate is void, and the requests stay.", run: func(w *world) {
			stable, canary := w.mandatedCanary()
			w.deleteState()
			w.restart()
			w.failGate()
			w.reconcile("web")
			w.reconcile("web")
			if s := w.storedLedger(repo).State; s.Epoch != 2 || s.Verdict != nil {
				w.Fatalf("ledger: want epoch 2, for which the mandate is void, got epoch %d and verdict %v", s.Epoch, s.Verdict)
			}
			w.holds(map[string]tree.Files{webAtE1: beside(w.T, canary, stable, 20, 100)}, nil)
		}},
	})
}

// TestMandateReplaced plays a function that is silent from the order of a canary on, which replaces another one with 20 percent of the requests.
func TestMandateReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stable, canary := w.mandatedCanary()
	w.permitForward()
	listed := w.get("web").Spec.ForProvider.Mandate
	third, shifted := shop(t, "three", track.Green), beside(t, canary, stable, 0, 100)
	e := inTrack(3, track.Green, 1)
	w.propose([]v1alpha1.Tree{tracked(t, shifted, shared(0), track.Blue, track.Green)}, e, advanced(0, ledger.StageShift))
	w.delivered()
	w.giveMandate(3, func(d *v1alpha1.GitDelivery) {
		p := &d.Spec.ForProvider
		p.Mandate.May, p.Mandate.Spec = listed.May, listed.Spec
		p.Later = []v1alpha1.LaterTree{{Tree: tracked(t, third, nil), Revision: 3, Request: e.Ordered.Revision.Request.Digest()}}
	})
	w.reconcile("web")
	w.observeSite(w.ledgerOf("web"), tree.ID(shifted), false)
	w.reconcile("web")
	w.holds(map[string]tree.Files{webAtE1: shifted}, nil)
	w.observeSite(w.ledgerOf("web"), tree.ID(shifted), true)
	w.reconcile("web")
	w.delivered()
	w.positionIs(w.storedLedger(repo).State, ledger.Position{Epoch: 1, Revision: 3, Stage: ledger.StageSteps})
	w.holds(map[string]tree.Files{webAtE1: beside(t, third, stable, 0, 20)}, nil)
	w.count(commitsAtStep + 2)
	w.reconcile("web")
	w.count(commitsAtStep + 2)
}

// TestMandateTracksCrashes lets the provider die while a canary loses its requests.
func TestMandateTracksCrashes(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashes() {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stable, canary := w.mandatedCanary()
			w.failGate()
			crash(w)
			_ = w.try("web") // Who is dead cannot say so.
			w.recover()
			for range 3 {
				w.reconcile("web")
			}
			w.delivered()
			w.hasLostRequests(stable, canary)
			if n := len(slices.DeleteFunc(w.storedLedger(repo).Events, func(e state.LoggedEvent) bool { return e.By != state.RecorderMandate })); n != 3 {
				t.Errorf("\nWhat was recorded before a crash is recorded once.\nevents by the mandate: want 3, got %d", n)
			}
		})
	}
}
