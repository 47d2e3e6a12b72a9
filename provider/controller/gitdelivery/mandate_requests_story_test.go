package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/state"
)

// rolloutRequest returns a RolloutRequest of the deployment about revision 2.
func rolloutRequest(name string, action rolloutv1alpha1.Action) *rolloutv1alpha1.RolloutRequest {
	r, claim := &rolloutv1alpha1.RolloutRequest{}, delivery("web", wish{}).Spec.ForProvider.ClaimRef
	r.Namespace, r.Name, r.UID = claim.Namespace, name, types.UID("uid-"+name)
	r.Spec = rolloutv1alpha1.RolloutRequestSpec{
		DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: claim.APIGroup, Kind: claim.Kind, Name: claim.Name},
		Action:        action, Revision: 2, RequestedBy: "ann", Reason: "It is slow.",
	}
	if action == rolloutv1alpha1.ActionRollbackTo {
		r.Spec.ToRevision = new(int64(1))
	}
	return r
}

// makeRequest makes a RolloutRequest.
func (w *world) makeRequest(name string, action rolloutv1alpha1.Action, change ...func(r *rolloutv1alpha1.RolloutRequest)) {
	w.Helper()
	r := rolloutRequest(name, action)
	for _, fn := range change {
		fn(r)
	}
	w.must(w.kube.Create(w.Context(), r))
}

// letUsersEnd adds requests of users to the mandate of the home.
func (w *world) letUsersEnd() {
	w.Helper()
	w.change(func(d *v1alpha1.GitDelivery) {
		d.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject, step.KindRollBack, step.KindRequest}
	})
	w.reconcile("web")
}

// isWithdrawn fails the story unless a user rolled revision 2 back to revision 1, which made revision 3, with one commit since.
func (w *world) isWithdrawn(commits int) {
	w.Helper()
	s := w.storedLedger(repo).State
	if s.Withdraws != 2 || s.Current.Number != 3 || s.Target != 1 || s.Cursor.Attempt != 1 || !cmp.Equal(s.Requests, []string{"uid-back"}) {
		w.Fatalf("ledger: want revision 3, which rolls revision 2 back to revision 1 by request uid-back, got %v, withdraws %d, target %d, attempt %d, requests %v", s.Current, s.Withdraws, s.Target, s.Cursor.Attempt, s.Requests)
	}
	w.count(commits)
}

// TestMandateRequests plays a silent function during requests of users.
func TestMandateRequests(t *testing.T) {
	t.Parallel()
	abort, back := rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionRollbackTo
	tellLedger(t, map[string]story{
		"Abort": {reason: "A revision that a user aborts is rejected and rolled back in one push, once.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			reserved := w.ledgerOf("web")
			w.makeRequest("abort", abort)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
			s := w.storedLedger(repo).State
			if want := "RolloutRequest abort of ann: It is slow."; s.Verdict.Reason != ledger.RejectedRequested || s.Verdict.Message != want || !cmp.Equal(s.Requests, []string{"uid-abort"}) {
				w.Errorf("ledger: want the request of %q, got %v by %v", want, s.Verdict, s.Requests)
			}
			if diff := cmp.Diff([]state.Recorder{state.RecorderMandate, state.RecorderMandate}, w.recordedBy(reserved.Seq+1)); diff != "" {
				w.Errorf("who recorded the events: -want, +got:\n%s", diff)
			}
			commits := w.stateCommits()
			for range 3 {
				w.reconcile("web")
			}
			if got := w.stateCommits(); got != commits {
				w.Errorf("commits of the state at rest: want %d, got %d", commits, got)
			}
		}},
		"RollbackTo": {reason: "A revision that a user rolls back is withdrawn, and the verified revision is restored in one push.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			w.makeRequest("back", back)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isWithdrawn(3)
			if observed := w.get("web").Status.AtProvider; observed.Record.Position.Revision != 3 || observed.Waiting != nil || observed.Mandate == nil || observed.Mandate.Revision != 3 {
				w.Errorf("status: want revision 3, which the mandate covers, got %v, waiting %v, mandate %v", observed.Record.Position, observed.Waiting, observed.Mandate)
			}
			for range 3 {
				w.reconcile("web")
			}
			w.isWithdrawn(3)
		}},
		"Verified": {reason: "A user rolls a verified revision back while the function is silent.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			s := w.ledgerOf("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{verifiedEvent("b", "edge1")}}
			})
			w.reconcile("web")
			w.makeRequest("back", back)
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isWithdrawn(3)
		}},
		"Follows": {reason: "A spec that names the rollback afterwards makes no commit.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			w.makeRequest("back", back)
			w.reconcile("web")
			s := w.ledgerOf("web")
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees = new(s.Position()), []v1alpha1.Tree{restoring1("a")}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isWithdrawn(3)
		}},
		"Both": {reason: "A revision that a user aborts is rolled back in both repositories.", run: func(w *world) {
			w.mandatedInBoth()
			w.letUsersEnd()
			w.makeRequest("abort", abort)
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isBackInBoth(3)
		}},
		"BackInBoth": {reason: "A rollback by a user restores both repositories.", run: func(w *world) {
			w.mandatedInBoth()
			w.letUsersEnd()
			w.makeRequest("back", back)
			w.reconcile("web")
			w.reconcile(elsewhere)
			w.expect(elsewhere, v1alpha1.ReasonDelivered)
			w.isWithdrawn(3)
			w.bothHold("a", "a")
			w.followerCommits(3)
		}},
		"SpecFirst": {reason: "A request that the spec asks to record as well takes effect once.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			s := w.ledgerOf("web")
			aborted := rejectedEvent(ledger.RejectedRequested)
			aborted.Judged.RequestRef = &ledger.RequestReference{Name: "abort", UID: "uid-abort"}
			w.makeRequest("abort", abort)
			w.change(func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{After: s.Head, Events: []ledger.Event{aborted}}
			})
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.isRolledBack(3)
			if got := w.storedLedger(repo).State; !cmp.Equal(got.Requests, []string{"uid-abort"}) || got.Seq != s.Seq+2 {
				w.Errorf("ledger: want the request once, and two events, got %v and %d", got.Requests, got.Seq-s.Seq)
			}
		}},
		"Large": {reason: "A request above 16 KiB is not evaluated.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			w.makeRequest("abort", abort, func(r *rolloutv1alpha1.RolloutRequest) {
				r.Annotations = map[string]string{"note": strings.Repeat("a", 16<<10)}
			})
			w.reconcile("web")
			w.stays(2)
		}},
		"OtherRevision": {reason: "A request of a user who saw another revision changes nothing.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			w.makeRequest("abort", abort, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Revision = 1 })
			w.reconcile("web")
			w.stays(2)
		}},
		"Namespace": {reason: "A request of another namespace changes nothing.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			w.makeRequest("abort", abort, func(r *rolloutv1alpha1.RolloutRequest) { r.Namespace = "team-b" })
			w.reconcile("web")
			w.stays(2)
		}},
		"NotListed": {reason: "A mandate that does not list requests leaves them to the function.", run: func(w *world) {
			w.mandatedRevision()
			w.makeRequest("abort", abort)
			w.reconcile("web")
			w.stays(2)
		}},
		"Promote": {reason: "A release of a step is left to the function.", run: func(w *world) {
			w.mandatedRevision()
			w.letUsersEnd()
			w.makeRequest("promote", rolloutv1alpha1.ActionPromote, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Full = new(true) })
			w.reconcile("web")
			w.stays(2)
		}},
	})
}
