package mandate

import (
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// newRequest returns a RolloutRequest about revision 2 of the deployment, made at a minute after noon.
func newRequest(name string, action rolloutv1alpha1.Action, minute int, change ...func(r *rolloutv1alpha1.RolloutRequest)) rolloutv1alpha1.RolloutRequest {
	r := rolloutv1alpha1.RolloutRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(noon.Add(time.Duration(minute) * time.Minute)),
	}}
	r.Spec = rolloutv1alpha1.RolloutRequestSpec{
		DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: claim.APIGroup, Kind: claim.Kind, Name: claim.Name}, Action: action, Revision: 2,
	}
	if action == rolloutv1alpha1.ActionRollbackTo {
		r.Spec.ToRevision = new(int64(1))
	}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

func TestRequestsOf(t *testing.T) {
	abort, back := rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionRollbackTo
	done := xpv2.Condition{Type: rolloutv1alpha1.TypeCompleted, Status: corev1.ConditionTrue, Reason: "Done"}
	cases := map[string]struct {
		reason string
		all    []rolloutv1alpha1.RolloutRequest
		want   []string
	}{
		"Both": {
			reason: "Requests that end a revision are read, the oldest first.",
			all:    []rolloutv1alpha1.RolloutRequest{newRequest("b", abort, 2), newRequest("a", back, 1)}, want: []string{"a", "b"},
		},
		"Promote": {
			reason: "A request that releases a step is read.",
			all:    []rolloutv1alpha1.RolloutRequest{newRequest("a", rolloutv1alpha1.ActionPromote, 1)}, want: []string{"a"},
		},
		"Full": {
			reason: "A request that releases all steps is left to the function, and the canary goes on meanwhile.",
			all: []rolloutv1alpha1.RolloutRequest{newRequest("a", rolloutv1alpha1.ActionPromote, 1, func(r *rolloutv1alpha1.RolloutRequest) {
				r.Spec.Full = new(true)
			})},
		},
		"Others": {
			reason: "Requests that need the spec are left to the function.",
			all: []rolloutv1alpha1.RolloutRequest{
				newRequest("a", rolloutv1alpha1.ActionRetry, 1), newRequest("c", rolloutv1alpha1.ActionMoveLedger, 1),
				newRequest("d", rolloutv1alpha1.ActionApproveUpdate, 1),
			},
		},
		"Done": {
			reason: "A request that was answered for good asks for nothing.",
			all: []rolloutv1alpha1.RolloutRequest{
				newRequest("a", abort, 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Status.SetConditions(done) }),
			},
		},
		"Large": {reason: "A request above 16 KiB is not evaluated.", all: []rolloutv1alpha1.RolloutRequest{newRequest("a", abort, 1, func(r *rolloutv1alpha1.RolloutRequest) {
			r.Annotations = map[string]string{"a": strings.Repeat("a", 16<<10)}
		})}},
		"Name": {
			reason: "A request about another deployment asks this one for nothing.",
			all: []rolloutv1alpha1.RolloutRequest{
				newRequest("a", abort, 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = "api" }),
			},
		},
		"Group": {
			reason: "A request about the other shape of the same name asks this one for nothing.",
			all: []rolloutv1alpha1.RolloutRequest{
				newRequest("a", abort, 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.APIGroup = "claims.intentplane.dev" }),
			},
		},
		"Kind": {
			reason: "A request about another kind asks this one for nothing.",
			all: []rolloutv1alpha1.RolloutRequest{
				newRequest("a", abort, 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Kind = "Application" }),
			},
		},
		"Namespace": {
			reason: "A request of another namespace asks this one for nothing.",
			all:    []rolloutv1alpha1.RolloutRequest{newRequest("a", abort, 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Namespace = "team-b" })},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range RequestsOf(newScene(t).Home, tc.all) {
				got = append(got, r.Ref.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRequestsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConcludeRequests has a revision 2 whose Gate has not ended, and requests of users about it.
func TestConcludeRequests(t *testing.T) {
	aborted, back := "Rejected Requested", "RolledBack"
	abort := func(minute int) step.Request {
		return step.Request{Ref: ledger.RequestReference{Name: "abort", UID: "abort-uid"}, Action: step.ActionAbort, Revision: 2, CreatedAt: noon.Add(time.Duration(minute) * time.Minute)}
	}
	rollBack := step.Request{Ref: ledger.RequestReference{Name: "back", UID: "back-uid"}, Action: step.ActionRollbackTo, Revision: 2, ToRevision: 1, CreatedAt: noon}
	cases := map[string]struct {
		reason string
		change func(c *scene)
		want   []string
	}{
		"Abort": {
			reason: "A revision that a user aborts is rejected and rolled back at once.",
			change: func(c *scene) { c.Requests = []step.Request{abort(0)} }, want: []string{aborted, back},
		},
		"RollbackTo": {
			reason: "A revision that a user rolls back is withdrawn, and its rollback begins at once.",
			change: func(c *scene) { c.Requests = []step.Request{rollBack} }, want: []string{"Withdrawn", back},
		},
		"Verified": {reason: "A user rolls a revision back that was verified.", change: func(c *scene) {
			c.goOn(verified("two"))
			c.Requests = []step.Request{rollBack}
		}, want: []string{"Withdrawn", back}},
		"Order": {
			reason: "An Abort takes precedence over an older or newer request for a rollback.",
			change: func(c *scene) { c.Requests = []step.Request{rollBack, abort(1)} }, want: []string{aborted, "Withdrawn", back},
		},
		"Crowd": {reason: "A Promote of the same second is taken after an Abort and a rollback, and releases nothing.", change: func(c *scene) {
			promote := step.Request{Ref: ledger.RequestReference{Name: "go", UID: "go-uid"}, Action: step.ActionPromote, Revision: 2, Step: 1, CreatedAt: noon}
			c.Requests = []step.Request{promote, rollBack, abort(0)}
			c.Home.Spec.ForProvider.Mandate.May, c.IsGuardRead = allKinds, true
		}, want: []string{aborted, "Withdrawn", back}},
		"Failed": {reason: "The request of a user takes precedence over evidence.", change: func(c *scene) {
			c.Gates = newScene(c).Gates
			c.Requests = []step.Request{abort(0)}
		}, want: []string{aborted, back}},
		"Once": {reason: "A request that took effect does nothing more.", change: func(c *scene) {
			c.goOn(ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: ledger.RejectedRequested}, RequestRef: &ledger.RequestReference{Name: "abort", UID: "abort-uid"}}}, rolledBack(1))
			c.Requests = []step.Request{abort(0)}
		}},
		"Judged": {reason: "A revision with a verdict is not aborted.", change: func(c *scene) { c.goOn(verified("two")); c.Requests = []step.Request{abort(0)} }},
		"OtherRevision": {reason: "A request of a user who saw another revision changes nothing.", change: func(c *scene) {
			c.Requests = []step.Request{abort(0)}
			c.Requests[0].Revision = 1
		}},
		"OtherDigest": {reason: "A request of a user who saw another content changes nothing.", change: func(c *scene) {
			c.Requests = []step.Request{abort(0)}
			c.Requests[0].Digest = "sha256:other"
		}},
		"NotListed": {reason: "A mandate without requests leaves them to the function.", change: func(c *scene) {
			c.Requests = []step.Request{abort(0)}
			c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject, step.KindRollBack}
		}},
		"Void": {reason: "A void mandate leaves requests to the function.", change: func(c *scene) {
			c.Requests = []step.Request{abort(0)}
			c.Home.Spec.ForProvider.Mandate.Revision = 1
		}},
		"Manual": {reason: "The request of a user rolls a revision back under a policy without automatic rollbacks.", change: func(c *scene) {
			c.Requests = []step.Request{rollBack}
			c.Home.Spec.ForProvider.Mandate.Rollback.AutoRollback = false
		}, want: []string{"Withdrawn", back}},
		"AbortManual": {reason: "An Abort ends with the verdict where the policy rolls nothing back by itself.", change: func(c *scene) {
			c.Requests = []step.Request{abort(0)}
			c.Home.Spec.ForProvider.Mandate.Rollback.AutoRollback = false
		}, want: []string{aborted}},
		"Holds": {reason: "Nothing is rolled back to where each repository holds the target.", change: func(c *scene) { c.holdTarget(); c.Requests = []step.Request{rollBack} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t).withoutGates()
			c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject, step.KindRollBack, step.KindRequest}
			tc.change(c)
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describe(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
