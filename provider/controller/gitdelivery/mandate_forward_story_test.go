package gitdelivery

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// intentOfWeb is the intent of the deployment.
const intentOfWeb = "deploy web at edge1"

// A liveReader counts the reads of claims past the cache, and may fail.
type liveReader struct {
	client.Reader

	reads int
	err   error
}

// Get reads an object.
func (r *liveReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if o.GetObjectKind().GroupVersionKind().Kind == "IntentDeployment" {
		r.reads++
		if r.err != nil {
			return r.err
		}
	}
	return r.Reader.Get(ctx, key, o, opts...)
}

// claimObject returns the composite of the deployment, which has no claim.
func (w *world) claimObject() *unstructured.Unstructured {
	spec := map[string]any{"intent": intentOfWeb, "crossplane": map[string]any{"compositionRef": "x"}}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion("intentplane.dev/v1alpha1")
	u.SetKind("IntentDeployment")
	u.SetNamespace("team-a")
	u.SetName("web")
	u.SetUID("web-uid")
	return u
}

// permitForward makes the composite, gives the home a mandate for each kind of events that follows from its spec, and edge1 an engine.
func (w *world) permitForward() *liveReader {
	w.Helper()
	w.runEngine()
	return w.permitAll()
}

// permitAll makes the composite, and gives the home a mandate for each kind of events that follows from its spec.
func (w *world) permitAll() *liveReader {
	w.Helper()
	reader := &liveReader{Reader: w.kube}
	w.live = reader
	w.must(w.kube.Create(w.Context(), w.claimObject()))
	spec, err := digest.Spec(&deploymentv1alpha1.IntentDeploymentSpec{Intent: new(intentOfWeb)})
	w.must(err)
	w.giveMandate(2, func(d *v1alpha1.GitDelivery) {
		m := d.Spec.ForProvider.Mandate
		m.May, m.Spec = []step.Kind{step.KindReject, step.KindRollBack, step.KindRequest, step.KindAdvance, step.KindVerify}, spec
	})
	w.reconcile("web")
	w.delivered()
	return reader
}

// reader reads past the cache.
func (w *world) reader() client.Reader {
	if w.live == nil {
		return w.kube
	}
	return w.live
}

// edit changes the composite.
func (w *world) edit(change func(u *unstructured.Unstructured)) {
	w.Helper()
	u := w.claimObject()
	w.must(w.kube.Get(w.Context(), client.ObjectKeyFromObject(u), u))
	change(u)
	w.must(w.kube.Update(w.Context(), u))
}

// judgeGate gives the Gate of the recorded step a verdict.
func (w *world) judgeGate(v rolloutv1alpha1.GateVerdict) {
	w.Helper()
	s := w.ledgerOf("web")
	g := &rolloutv1alpha1.Gate{ObjectMeta: controlled()}
	g.Name, g.Annotations = "web-judged", map[string]string{evidence.AnnotationRevision: evidence.RevisionID(s)}
	exists := w.kube.Get(w.Context(), client.ObjectKeyFromObject(g), &rolloutv1alpha1.Gate{}) == nil
	g.Spec.ForProvider.ClaimRef, g.Spec.ForProvider.Position = w.first().Spec.ForProvider.ClaimRef, new(s.Position())
	g.Status.AtProvider.Position, g.Status.AtProvider.Verdict = new(s.Position()), v
	status := corev1.ConditionFalse
	if v == rolloutv1alpha1.GatePassed {
		status = corev1.ConditionTrue
	}
	g.SetConditions(
		xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: "Judged", ObservedGeneration: 1},
		xpv2.Condition{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess, ObservedGeneration: 1},
	)
	if exists {
		w.must(w.kube.Delete(w.Context(), g))
	}
	w.must(w.kube.Create(w.Context(), g))
}

// proveSite writes the SiteSync at the recorded position: edge1 runs a tree, and blue is without requests since then or not.
func (w *world) proveSite(whole tree.Files, isIdle bool, change ...func(s *v1alpha1.SiteSync)) {
	w.Helper()
	w.observeSite(w.ledgerOf("web"), tree.ID(whole), false)
	s := &v1alpha1.SiteSync{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Namespace: "team-a", Name: "web-sync"}, s))
	blue := v1alpha1.TrackObservation{Name: track.Blue, Idle: isIdle, ProvenAt: s.Status.AtProvider.Position}
	s.Status.AtProvider.Sites[0].Traffic.Tracks = []v1alpha1.TrackObservation{blue}
	for _, fn := range change {
		fn(s)
	}
	w.must(w.kube.Update(w.Context(), s))
}

// pausing lets the pause behind the step begin at the next reconcile.
func (w *world) pausing(s *v1alpha1.SiteSync) {
	start := metav1.NewTime(w.now().Add(time.Minute))
	s.Status.AtProvider.Pause = &v1alpha1.PauseObservation{Position: *s.Status.AtProvider.Position, StartedAt: start}
}

// preparedCanary orders revision 2 in green, whose first two steps have Gates. The second step has a pause of 30 s.
func (w *world) preparedCanary() (stable, canary tree.Files) {
	w.Helper()
	stable, canary = w.stableInBlue()
	e := inTrack(2, track.Green, 1)
	plan := e.Ordered.Revision.Plan
	plan[0].Gate, plan[1].Gate, plan[1].Pause = true, true, "30s"
	w.propose([]v1alpha1.Tree{tracked(w.T, beside(w.T, canary, stable, 0, 20), shared(0), track.Blue)}, e, advanced(0, ledger.StageSteps))
	w.delivered()
	return stable, canary
}

// reaches fails the story unless the ledger is at a step and a stage of revision 2, and the branch has a directory after some commits.
func (w *world) reaches(index, stage int32, whole tree.Files, commits int) {
	w.Helper()
	w.delivered()
	w.positionIs(w.storedLedger(repo).State, ledger.Position{Epoch: 1, Revision: 2, Step: index, Stage: stage})
	w.holds(map[string]tree.Files{webAtE1: whole}, nil)
	w.count(commits)
}

// finishCanary lets each step of the canary be proven, from its order to the removal of the other track.
func (w *world) finishCanary(stable, canary tree.Files) {
	w.Helper()
	directory := func(weight, ahead int) tree.Files { return beside(w.T, canary, stable, weight, ahead) }
	w.reaches(0, ledger.StageSteps, directory(0, 20), 2)
	w.proveSite(directory(0, 20), false)
	w.reconcile("web")
	w.reaches(0, ledger.StageSteps, directory(0, 20), 2) // The Gate has not passed.
	w.judgeGate(rolloutv1alpha1.GatePassed)
	w.reconcile("web")
	w.reaches(1, ledger.StageSteps, directory(20, 100), 3)
	w.judgeGate(rolloutv1alpha1.GatePassed)
	w.proveSite(directory(20, 100), false, w.pausing)
	w.reconcile("web")
	w.reaches(1, ledger.StageSteps, directory(20, 100), 3)
	if wait := w.calm.UntilWake(client.ObjectKey{Namespace: "team-a", Name: "web"}, time.Hour); wait > 30*time.Second {
		w.Errorf("next reconcile in a pause: want at its end, in 30s, got in %s", wait)
	}
	w.reconcile("web")
	w.reaches(2, ledger.StageSteps, directory(100, 100), 4)
	w.proveSite(directory(100, 100), false)
	w.reconcile("web")
	if s := w.storedLedger(repo).State; !s.IsVerified() {
		w.Fatalf("verdict: want Verified, got %v", s.Verdict)
	}
	w.reaches(2, ledger.StageSteps, directory(100, 100), 4) // Requests to blue may be under way.
	w.proveSite(directory(100, 100), true)
	w.reconcile("web")
	w.reaches(2, ledger.StageAlone, canary, 5)
}

// TestMandateForward plays a function that is silent from the order of a canary on.
func TestMandateForward(t *testing.T) {
	t.Parallel()
	tell(t, map[string]story{
		"Canary": {reason: "A canary goes from its order to its end, with one read of the claim for each event.", run: func(w *world) {
			stable, canary := w.preparedCanary()
			reader := w.permitForward()
			ordered := w.ledgerOf("web")
			w.finishCanary(stable, canary)
			if want := 4; reader.reads != want {
				w.Errorf("reads of the claim: want %d, got %d", want, reader.reads)
			}
			want := slices.Repeat([]state.Recorder{state.RecorderMandate}, 4)
			if diff := cmp.Diff(want, w.recordedBy(ordered.Seq+1)); diff != "" {
				w.Errorf("who recorded the events: -want, +got:\n%s", diff)
			}
			alone := ledger.SiteTree{Site: "edge1", ID: tree.ID(canary), Part: track.FolderID(canary, track.Green)}
			if diff := cmp.Diff([]ledger.SiteTree{alone}, w.storedLedger(repo).State.PastRevision(2).Trees); diff != "" {
				w.Errorf("proven trees: -want, +got:\n%s", diff)
			}
			status, commits := w.get("web").Status, w.stateCommits()
			for range 3 {
				w.reconcile("web")
			}
			w.reaches(2, ledger.StageAlone, canary, 5)
			if diff := cmp.Diff(status, w.get("web").Status); diff != "" || w.stateCommits() != commits || reader.reads != 4 {
				w.Errorf("at rest: want no write and no read, got %d commits of the state after %d, %d reads, and in the status -old, +new:\n%s",
					w.stateCommits(), commits, reader.reads, diff)
			}
		}},
		"Back": {reason: "A function that is back asks for the recorded position, and nothing is committed.", run: func(w *world) {
			stable, canary := w.preparedCanary()
			w.permitForward()
			w.finishCanary(stable, canary)
			w.askForTree(tracked(w.T, canary, aloneIn(track.Green, 2)))
			w.reaches(2, ledger.StageAlone, canary, 5)
		}},
		"Older": {reason: "A spec of an earlier step that is applied again by a stale call moves no request back.", run: func(w *world) {
			stable, canary := w.preparedCanary()
			w.permitForward()
			older := w.get("web").Spec.ForProvider
			w.proveSite(beside(w.T, canary, stable, 0, 20), false)
			w.judgeGate(rolloutv1alpha1.GatePassed)
			w.reconcile("web")
			w.askForTree(tracked(w.T, beside(w.T, canary, stable, 20, 100), shared(20), track.Blue))
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider = older })
			w.reconcile("web")
			w.reaches(1, ledger.StageSteps, beside(w.T, canary, stable, 20, 100), 3)
		}},
		"Failed": {reason: "A canary whose Gate fails after a step by the mandate loses its requests.", run: func(w *world) {
			stable, canary := w.preparedCanary()
			w.permitForward()
			w.proveSite(beside(w.T, canary, stable, 0, 20), false)
			w.judgeGate(rolloutv1alpha1.GatePassed)
			w.reconcile("web")
			w.judgeGate(rolloutv1alpha1.GateFailed)
			w.reconcile("web")
			w.delivered()
			w.hasLostRequests(stable, canary)
		}},
		"Promoted": {reason: "A user releases a step, and the next one begins in the same push.", run: func(w *world) {
			stable, canary := w.preparedCanary()
			w.permitForward()
			w.proveSite(beside(w.T, canary, stable, 0, 20), false)
			w.judgeGate(rolloutv1alpha1.GateInconclusive)
			w.reconcile("web")
			w.reaches(0, ledger.StageSteps, beside(w.T, canary, stable, 0, 20), 2)
			w.makeRequest("go", rolloutv1alpha1.ActionPromote, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Step = new(int32(1)) })
			w.reconcile("web")
			w.reaches(1, ledger.StageSteps, beside(w.T, canary, stable, 20, 100), 3)
			if s := w.storedLedger(repo).State; !cmp.Equal(s.Requests, []string{"uid-go"}) {
				w.Errorf("requests that took effect: want uid-go, got %v", s.Requests)
			}
		}},
		"Full": {reason: "A function that releases all steps brings the pods first, and these are proven next.", run: func(w *world) {
			stable, canary := w.preparedCanary()
			w.permitForward()
			w.proveSite(beside(w.T, canary, stable, 0, 20), false)
			w.judgeGate(rolloutv1alpha1.GatePassed)
			large := beside(w.T, canary, stable, 0, 100)
			all := ledger.Promoted{Full: true, RequestRef: ledger.RequestReference{Name: "all", UID: "uid-all"}}
			w.propose([]v1alpha1.Tree{tracked(w.T, large, shared(0), track.Blue)}, ledger.Event{Promoted: &all})
			w.reaches(0, ledger.StageSteps, large, 3)
			w.reconcile("web")
			w.reaches(0, ledger.StageSteps, large, 3)
			w.proveSite(large, false)
			w.reconcile("web")
			w.reaches(2, ledger.StageSteps, beside(w.T, canary, stable, 100, 100), 4)
		}},
		"Plain": {reason: "A revision without tracks is verified once its Site runs it.", run: func(w *world) {
			w.verifiedRevision()
			w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, gatedEvent(2, "b", "edge1"))
			w.permitForward()
			w.judgeGate(rolloutv1alpha1.GatePassed)
			w.observeSite(w.ledgerOf("web"), tree.ID(files("b")), false)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if s := w.storedLedger(repo).State; !s.IsVerified() || s.Stable != 2 {
				w.Errorf("ledger: want revision 2 verified, got %v, and stable revision %d", s.Verdict, s.Stable)
			}
			w.count(2)
		}},
	})
}

// TestMandateGuard has a canary whose first step has come to its end, and a claim that does not let it go forward.
func TestMandateGuard(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(w *world, r *liveReader)
		want   v1alpha1.MandateHold
	}{
		"Edited": {
			reason: "An edit that Crossplane has not seen holds the next step back.", want: v1alpha1.HoldClaimChanged,
			change: func(w *world, _ *liveReader) {
				w.edit(func(u *unstructured.Unstructured) {
					u.Object["spec"].(map[string]any)["intent"] = "deploy web at edge2"
				})
			},
		},
		"Suspended": {
			reason: "A suspension that Crossplane has not seen holds the next step back.", want: v1alpha1.HoldClaimChanged,
			change: func(w *world, _ *liveReader) {
				w.edit(func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["suspend"] = true })
			},
		},
		"Paused": {
			reason: "A composite that is paused takes no step.", want: v1alpha1.HoldClaimPaused,
			change: func(w *world, _ *liveReader) {
				w.edit(func(u *unstructured.Unstructured) {
					u.SetAnnotations(map[string]string{"crossplane.io/paused": "true"})
				})
			},
		},
		"Deleting": {
			reason: "A composite that is being deleted takes no step.", want: v1alpha1.HoldClaimDeleted,
			change: func(w *world, _ *liveReader) {
				w.edit(func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.org/wait"}) })
				w.must(w.kube.Delete(w.Context(), w.claimObject()))
			},
		},
		"Deleted": {
			reason: "A composite that is gone takes no step.", want: v1alpha1.HoldClaimDeleted,
			change: func(w *world, _ *liveReader) { w.must(w.kube.Delete(w.Context(), w.claimObject())) },
		},
		"Silent": {
			reason: "An API server that does not answer holds the next step back.", want: v1alpha1.HoldClaimUnread,
			change: func(_ *world, r *liveReader) { r.err = errors.New("boom") },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stable, canary := w.preparedCanary()
			reader := w.permitForward()
			w.proveSite(beside(w.T, canary, stable, 0, 20), false)
			w.judgeGate(rolloutv1alpha1.GatePassed)
			tc.change(w, reader)
			for range 2 {
				w.reconcile("web")
			}
			w.reaches(0, ledger.StageSteps, beside(w.T, canary, stable, 0, 20), 2)
			m := w.get("web").Status.AtProvider.Mandate
			if m == nil || m.Hold != tc.want || slices.ContainsFunc(m.May, step.Kind.GoesForward) {
				t.Errorf("\n%s\nmandate of the status: want hold %s and nothing that goes forward, got %+v", tc.reason, tc.want, m)
			}
			w.judgeGate(rolloutv1alpha1.GateFailed)
			w.reconcile("web")
			if s := w.storedLedger(repo).State; !s.IsRejected() || s.Target != 1 {
				t.Errorf("\nThe way back needs no claim.\nledger: want revision 2 rejected and rolled back, got %v and target %d", s.Verdict, s.Target)
			}
		})
	}
}

// TestMandateForwardCrashes lets the provider die while a canary takes its next step.
func TestMandateForwardCrashes(t *testing.T) {
	t.Parallel()
	for moment, crash := range crashes() {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stable, canary := w.preparedCanary()
			w.permitForward()
			w.proveSite(beside(w.T, canary, stable, 0, 20), false)
			w.judgeGate(rolloutv1alpha1.GatePassed)
			crash(w)
			_ = w.try("web") // Who is dead cannot say so.
			w.recover()
			for range 3 {
				w.reconcile("web")
			}
			w.reaches(1, ledger.StageSteps, beside(w.T, canary, stable, 20, 100), 3)
		})
	}
}
