package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/witness"
)

// gatedEvent orders a revision whose last step has a Gate.
func gatedEvent(number int64, intent string, sites ...string) ledger.Event {
	e := orderedEvent(number, intent, sites...)
	e.Ordered.Revision.Plan[0].Gate = true
	return e
}

func controlled() metav1.ObjectMeta {
	isController := true
	return metav1.ObjectMeta{Namespace: "team-a", Generation: 1, OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Name: "web", UID: "web-uid", Controller: &isController},
	}}
}

// giveMandate gives the home a mandate for a revision, and applies a change to its spec, such as the next update of its ledger.
func (w *world) giveMandate(revision int64, change func(d *v1alpha1.GitDelivery)) {
	w.Helper()
	s := w.ledgerOf("web")
	w.change(func(d *v1alpha1.GitDelivery) {
		d.OwnerReferences = controlled().OwnerReferences
		d.Spec.ForProvider.Mandate = &v1alpha1.Mandate{
			Rules: step.Rules, Ledger: s.Ledger, Epoch: s.Epoch, Revision: revision, May: []step.Kind{step.KindReject, step.KindRollBack}, Spec: "spec",
			Rollback: v1alpha1.MandatedRollback{AutoRollback: true, MaxRetries: 3, MaxPerHour: 5, AttemptTimeout: "2m"},
		}
		change(d)
	})
}

func noChange(*v1alpha1.GitDelivery) {}

// mandatedRevision delivers revision 2, which has a Gate, and gives the home a mandate for it.
func (w *world) mandatedRevision() {
	w.Helper()
	w.verifiedRevision()
	w.propose([]v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, gatedEvent(2, "b", "edge1"))
	w.giveMandate(2, noChange)
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
	want := &v1alpha1.MandateStatus{Rules: step.Rules, Revision: 2, May: []step.Kind{step.KindReject, step.KindRollBack}}
	if diff := cmp.Diff(want, w.get("web").Status.AtProvider.Mandate); diff != "" {
		w.Fatalf("echo of the mandate: -want, +got:\n%s", diff)
	}
}

// failGate makes the Gate of the recorded position, which has failed.
func (w *world) failGate() {
	w.Helper()
	s := w.ledgerOf("web")
	g := &rolloutv1alpha1.Gate{ObjectMeta: controlled()}
	g.Name, g.Annotations = "web-step", map[string]string{evidence.AnnotationRevision: evidence.RevisionID(s)}
	g.Spec.ForProvider.ClaimRef, g.Spec.ForProvider.Position = w.first().Spec.ForProvider.ClaimRef, new(s.Position())
	g.Status.AtProvider.Position, g.Status.AtProvider.Verdict = new(s.Position()), rolloutv1alpha1.GateFailed
	g.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: "Failed", ObservedGeneration: 1})
	w.must(w.kube.Create(w.Context(), g))
}

// recordedBy returns who recorded each event of the ledger in the repository, from an event on.
func (w *world) recordedBy(from int64) []state.Recorder {
	w.Helper()
	var out []state.Recorder
	for _, e := range w.storedLedger(repo).Events {
		if e.Seq >= from {
			out = append(out, e.By)
		}
	}
	return out
}

// isRolledBack fails the story unless revision 2 was rejected and rolled back to revision 1 by the mandate, with one commit since.
func (w *world) isRolledBack(commits int) {
	w.Helper()
	s := w.storedLedger(repo).State
	if !s.IsRejected() || s.Target != 1 || s.Cursor.Attempt != 1 {
		w.Fatalf("ledger: want revision 2 rejected and rolled back to revision 1, got verdict %v, target %d, attempt %d", s.Verdict, s.Target, s.Cursor.Attempt)
	}
	w.holds(map[string]tree.Files{webAtE1: files("a")}, nil)
	w.count(commits)
}

// stays fails the story unless the ledger and the branch are as revision 2 left them.
func (w *world) stays(commits int) {
	w.Helper()
	if s := w.storedLedger(repo).State; s.Current.Number != 2 || s.Verdict != nil {
		w.Fatalf("ledger: want revision 2 without a verdict, got revision %d with %v", s.Current.Number, s.Verdict)
	}
	w.count(commits)
}

// refuseSecondSite lets the server refuse revision 2 at the second of two Sites, after the first one has it. The home has a mandate for it.
func (w *world) refuseSecondSite() {
	w.Helper()
	pair := func(first, second string) []v1alpha1.Tree {
		return []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, first), desired(w.T, "edge2", webAtE2, second)}
	}
	w.startHome()
	w.propose(pair("a", "a"), openedEvent("demo"), orderedEvent(1, "a", "edge1", "edge2"))
	w.propose(pair("a", "a"), verifiedEvent("a", "edge1", "edge2"))
	waves := orderedEvent(2, "b", "edge1", "edge2")
	waves.Ordered.Revision.Plan = []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
	w.propose(pair("b", "a"), waves)
	w.hook("update", `case "$1" in refs/heads/main) git show "$3:`+webAtE2+`/configmap.yaml" | grep -q "says: b" && { echo "no b here" >&2; exit 1; };; esac; exit 0`)
	w.writeProposal(w.ledgerOf("web"), pair("b", "b"), ledger.Event{Advanced: &ledger.Advanced{Step: 1}})
	w.giveMandate(2, noChange)
	_ = w.try("web") // The condition has the error.
	w.expect("web", v1alpha1.ReasonPolicyDenied)
}

// isRestoredEverywhere fails the story unless revision 2 was rejected and rolled back at both Sites by one commit.
func (w *world) isRestoredEverywhere() {
	w.Helper()
	w.expect("web", v1alpha1.ReasonDelivered)
	if s := w.storedLedger(repo).State; !s.IsRejected() || s.Cursor.Attempt != 1 {
		w.Errorf("ledger: want revision 2 rejected and rolled back, got %v, attempt %d", s.Verdict, s.Cursor.Attempt)
	}
	w.holds(map[string]tree.Files{webAtE1: files("a"), webAtE2: files("a")}, nil)
	w.count(3)
}

// TestMandate plays a function that is silent from revision 2 on.
func TestMandate(t *testing.T) {
	tellLedger(t, map[string]story{
		"GateFailed": {reason: "A revision whose Gate fails is rejected and rolled back in one push, and then nothing is written.", run: func(w *world) {
			w.mandatedRevision()
			takenState := w.ledgerOf("web")
			w.failGate()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
			if diff := cmp.Diff([]state.Recorder{state.RecorderMandate, state.RecorderMandate}, w.recordedBy(takenState.Seq+1)); diff != "" {
				w.Errorf("who recorded the events: -want, +got:\n%s", diff)
			}
			d := w.get("web")
			observed := d.Status.AtProvider
			if observed.Taken == nil || *observed.Taken != takenState.Head || observed.Record.Position.Attempt != 1 || observed.Waiting != nil || observed.Mandate == nil {
				w.Errorf("status: want taken head %v, and attempt 1, got %v at %v, waiting %v, mandate %v", takenState.Head, observed.Taken, observed.Record.Position, observed.Waiting, observed.Mandate)
			}
			for _, reason := range []string{"RejectedByMandate", "RolledBackByMandate"} {
				if n := strings.Count(strings.Join(w.told["web"], "\n"), reason); n != 1 {
					w.Errorf("events %s: want one, got %d of %v", reason, n, w.told["web"])
				}
			}
			commits := w.stateCommits()
			for range 3 {
				w.reconcile("web")
			}
			if diff := cmp.Diff(d.Status, w.get("web").Status); diff != "" || w.stateCommits() != commits {
				w.Errorf("writes at rest: want none, got %d commits of the state after %d, and in the status -before, +after:\n%s", w.stateCommits(), commits, diff)
			}
		}},
		"Follows": {reason: "A spec that names the rollback afterwards makes no commit, and the rollback ends once its Site runs the target.", run: func(w *world) {
			w.mandatedRevision()
			w.failGate()
			w.reconcile("web")
			w.isRolledBack(3)
			s := w.ledgerOf("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = new(s.Position()), []v1alpha1.Tree{restoring1("a")}
			})
			previous := w.get("web")
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			if !witness.PositionDelivered().Update(event.UpdateEvent{ObjectOld: previous, ObjectNew: w.get("web")}) {
				w.Error("The status that says that the rollback is delivered wakes no look, and no SiteSync may say anything else.")
			}
			w.isRolledBack(3)
			if got := w.ledgerOf("web"); got.Restored {
				w.Fatal("The rollback ended before its Site was proven to run the target.")
			}
			w.runTarget(s)
			w.reconcile("web")
			if got := w.ledgerOf("web"); !got.Restored {
				w.Error("The rollback did not end although its Site was proven to run the target.")
			}
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
		}},
		"SpecFirst": {reason: "An edit that arrived before the verdict is recorded, and the verdict about the revision before is not.", run: func(w *world) {
			w.mandatedRevision()
			w.failGate()
			s := w.ledgerOf("web")
			w.giveMandate(3, func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{gatedEvent(3, "c", "edge1")}}
				d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = &ledger.Position{Epoch: 1, Revision: 3}, []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "c")}
			})
			w.reconcile("web")
			if got := w.ledgerOf("web"); got.Current.Number != 3 || got.Verdict != nil {
				w.Errorf("ledger: want revision 3 without a verdict, got revision %d with %v", got.Current.Number, got.Verdict)
			}
			w.holds(map[string]tree.Files{webAtE1: files("c")}, nil)
		}},
		"OnTop": {reason: "The events of the spec come first in the push, and the verdict by the mandate follows them.", run: func(w *world) {
			w.mandatedRevision()
			w.failGate()
			s := w.ledgerOf("web")
			rebased := ledger.Event{Rebased: &ledger.Rebased{Request: ledger.Request{Intent: "intent-b", Sources: "later", Scheme: 1, Renderer: 1}}}
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{rebased}}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
			if diff := cmp.Diff([]state.Recorder{"", state.RecorderMandate, state.RecorderMandate}, w.recordedBy(s.Seq+1)); diff != "" {
				w.Errorf("who recorded the events: -want, +got:\n%s", diff)
			}
			if got := w.storedLedger(repo).State; got.Seq != s.Seq+3 || got.Current.Request.Sources != "later" {
				w.Errorf("ledger: want the request of the spec and event %d, got %+v and event %d", s.Seq+3, got.Current.Request, got.Seq)
			}
			if observed := w.get("web").Status.AtProvider; observed.Taken == nil || observed.Taken.Seq != s.Seq+1 || !observed.HasRecorded(v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{rebased}}) {
				w.Errorf("status.atProvider.taken: want event %d, after which the mandate went on, got %v", s.Seq+1, observed.Taken)
			}
		}},
		"Late": {reason: "An edit whose push came after the verdict is behind, and the rollback stays.", run: func(w *world) {
			w.mandatedRevision()
			s := w.ledgerOf("web")
			w.failGate()
			w.reconcile("web")
			w.giveMandate(3, func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{gatedEvent(3, "c", "edge1")}}
				d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = &ledger.Position{Epoch: 1, Revision: 3}, []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "c")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.isRolledBack(3)
			if observed := w.get("web").Status.AtProvider; observed.Mandate != nil {
				w.Errorf("echo of a mandate for a revision that is not recorded: want none, got %v", observed.Mandate)
			}
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "c")}, gatedEvent(3, "c", "edge1"))
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.holds(map[string]tree.Files{webAtE1: files("c")}, nil)
			if observed := w.get("web").Status.AtProvider; observed.Taken != nil || observed.Mandate == nil {
				w.Errorf("status: want the mandate for revision 3 and nothing recorded by it, got %v after %v", observed.Mandate, observed.Taken)
			}
		}},
		"Older": {reason: "A spec of the revision that is applied again by a stale call delivers nothing of it.", run: func(w *world) {
			w.mandatedRevision()
			older := w.get("web").Spec.ForProvider
			w.failGate()
			w.reconcile("web")
			s := w.ledgerOf("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = new(s.Position()), []v1alpha1.Tree{restoring1("a")}
			})
			w.reconcile("web")
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider = older })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
		}},
		"Rejected": {reason: "After a verdict without a rollback nothing of the revision is delivered any more.", run: func(w *world) {
			w.mandatedRevision()
			w.giveMandate(2, func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AutoRollback = false })
			w.failGate()
			w.reconcile("web")
			if s := w.ledgerOf("web"); !s.IsRejected() || s.Cursor.Attempt != 0 {
				w.Fatalf("ledger: want revision 2 rejected, and no attempt, got %v, attempt %d", s.Verdict, s.Cursor.Attempt)
			}
			w.push(map[string]string{webAtE1 + "/configmap.yaml": "theirs"})
			w.reconcile("web")
			w.count(3)
		}},
		"Refused": {reason: "A refusal of the revision by the server rejects it and does not hold back its rollback.", run: func(w *world) {
			w.verifiedRevision()
			w.hook("update", `case "$1" in refs/heads/main) git show "$3:`+webAtE1+`/configmap.yaml" | grep -q "says: b" && { echo "no b here" >&2; exit 1; };; esac; exit 0`)
			w.writeProposal(w.ledgerOf("web"), []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, "b")}, gatedEvent(2, "b", "edge1"))
			_ = w.try("web") // It is in the condition.
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.giveMandate(2, noChange)
			_ = w.try("web")
			_ = w.try("web")
			w.reconcile("web")
			s := w.storedLedger(repo).State
			if !s.IsRejected() || s.Verdict.Reason != rolloutv1alpha1.RejectedDeliveryRefused || s.Cursor.Attempt != 0 {
				w.Fatalf("ledger: want revision 2 rejected since it was refused, and nothing to roll back, got %v, attempt %d", s.Verdict, s.Cursor.Attempt)
			}
			w.count(1)
		}},
		"RefusedLater": {reason: "A refusal at a later Site rolls back the trees of the revision at earlier Sites, in the same push.", run: func(w *world) {
			w.refuseSecondSite()
			_ = w.try("web")
			w.isRestoredEverywhere()
		}},
		"PushFails": {reason: "A rollback whose push failed is pushed by the next reconcile.", run: func(w *world) {
			w.refuseSecondSite()
			w.hook("pre-receive", "kill -9 $PPID")
			_ = w.try("web")
			w.expect("web", v1alpha1.ReasonPolicyDenied)
			w.count(2)
			w.hook("pre-receive", "exit 0")
			_ = w.try("web")
			w.isRestoredEverywhere()
		}},
		"NotHonoured": {reason: "A provider that does not act by mandates leaves the verdict to the function.", run: func(w *world) {
			w.mandatedRevision()
			w.refusesMandates = true
			w.failGate()
			w.reconcile("web")
			w.stays(2)
			if observed := w.get("web").Status.AtProvider; observed.Mandate != nil {
				w.Errorf("echo of a mandate that is not honoured: want none, got %v", observed.Mandate)
			}
		}},
		"NoMandate": {reason: "Without a mandate the provider records nothing of its own.", run: func(w *world) {
			w.mandatedRevision()
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate = nil })
			w.failGate()
			w.reconcile("web")
			w.stays(2)
		}},
		"Observed": {reason: "A home that may only be observed is left as it is.", run: func(w *world) {
			w.mandatedRevision()
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			})
			w.failGate()
			w.reconcile("web")
			w.stays(2)
			if observed := w.get("web").Status.AtProvider; observed.Mandate != nil {
				w.Errorf("echo of a mandate that is not acted by: want none, got %v", observed.Mandate)
			}
		}},
		"Paused": {reason: "A paused home is left as it is.", run: func(w *world) {
			w.mandatedRevision()
			w.change(func(d *v1alpha1.GitDelivery) { d.Annotations["crossplane.io/paused"] = "true" })
			w.failGate()
			w.reconcile("web")
			w.stays(2)
		}},
		"Rolling": {reason: "A rollback that began by a mandate goes on once the mandate is void, as the function asks for it.", run: func(w *world) {
			w.mandatedRevision()
			w.failGate()
			w.reconcile("web")
			w.change(func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Revision = 1 })
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.isRolledBack(3)
		}},
		"Drift": {reason: "A change by another user in the directory of a failed revision does not hold back its rollback.", run: func(w *world) {
			w.mandatedRevision()
			w.giveMandate(2, func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.DriftPolicy = v1alpha1.DriftReport })
			w.push(map[string]string{webAtE1 + "/configmap.yaml": "theirs"})
			w.failGate()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(4)
		}},
		"Elsewhere": {reason: "A home that the ledger was forced away from records nothing by its mandate.", run: func(w *world) {
			w.addFollower()
			w.mandatedRevision()
			w.failGate()
			d := newHome(elsewhere)
			d.Spec.ProviderConfigReference.Name = elsewhere
			w.create(d)
			d.Status.AtProvider.Ledger = &ledger.State{Head: ledger.Head{Ledger: "forced", Epoch: 2, Seq: 2}}
			w.must(w.kube.Status().Update(w.Context(), d))
			w.reconcile("web")
			w.stays(2)
		}},
		"NoStatus": {reason: "An attempt that could not be written down pushes nothing.", run: func(w *world) {
			w.mandatedRevision()
			w.failGate()
			w.dead = true
			_ = w.try("web")
			w.stays(2)
			w.dead = false
			w.reconcile("web")
			w.isRolledBack(3)
		}},
	})
}

// runTarget creates the SiteSync of a state, whose Site runs the tree of the rollback.
func (w *world) runTarget(s ledger.State) {
	w.Helper()
	sync := &v1alpha1.SiteSync{ObjectMeta: controlled()}
	sync.Name = "web-sync"
	sync.Spec.ForProvider.ClaimRef, sync.Spec.ForProvider.Position = w.first().Spec.ForProvider.ClaimRef, new(s.Position())
	sync.Spec.ForProvider.Sites = []v1alpha1.SiteTree{{Name: "edge1", Path: webAtE1, Tree: restoring1("a").Tree}}
	sync.Status.AtProvider.Position = new(s.Position())
	sync.SetConditions(
		xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionTrue, Reason: "Live", ObservedGeneration: 1},
		xpv2.Condition{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess, ObservedGeneration: 1},
	)
	w.must(w.kube.Create(w.Context(), sync))
	edge1 := site("edge1")
	w.must(w.kube.Get(w.Context(), client.ObjectKeyFromObject(edge1), edge1))
	edge1.Spec.Engine.Type = catalogv1alpha1.EngineFlux
	w.must(w.kube.Update(w.Context(), edge1))
}
