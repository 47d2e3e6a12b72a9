package prunerequest

import (
	"context"
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func TestJudgeApproval(t *testing.T) {
	const digest = "sha256:1"
	request := func(phase v1alpha1.Phase, approval string) *v1alpha1.PruneRequest {
		pr := &v1alpha1.PruneRequest{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "1"}}
		pr.Status.Phase = phase
		if phase != "" {
			pr.Status.Plan = &v1alpha1.PrunePlan{Digest: digest}
		}
		if approval != "" {
			pr.Status.Result = &v1alpha1.PruneResult{Approval: approval}
		}
		return pr
	}
	cases := map[string]struct {
		reason  string
		request *v1alpha1.PruneRequest
		uid     string
		plan    string
		want    string
	}{
		"NoRequest": {reason: "A request that does not exist cannot be approved.", uid: "1", plan: digest, want: "UnknownRequest"},
		"MadeAgain": {
			reason:  "A request that was created again is another request.",
			request: request(v1alpha1.PhasePlanned, ""), uid: "0", plan: digest, want: "OtherRequest",
		},
		"NotPlanned": {reason: "An approval waits for the plan.", request: request("", ""), uid: "1", plan: digest},
		"Waiting":    {reason: "An approval of the plan waits for its turn.", request: request(v1alpha1.PhasePlanned, ""), uid: "1", plan: digest},
		"OtherPlan":  {reason: "Another plan is not approved.", request: request(v1alpha1.PhasePlanned, ""), uid: "1", plan: "sha256:2", want: "OtherPlan"},
		"OtherLate": {
			reason:  "A late approval does not approve another plan, either.",
			request: request(v1alpha1.PhaseDone, "first"), uid: "1", plan: "sha256:2", want: "OtherPlan",
		},
		"Counts": {
			reason:  "The approval that the request names counts.",
			request: request(v1alpha1.PhasePruning, "mine"), uid: "1", plan: digest, want: "Accepted",
		},
		"Second":  {reason: "A second approval does not count.", request: request(v1alpha1.PhasePruning, "first"), uid: "1", plan: digest, want: "TooLate"},
		"Expired": {reason: "A request that expired cannot be approved.", request: request(v1alpha1.PhaseExpired, ""), uid: "1", plan: digest, want: "TooLate"},
		"Done": {
			reason:  "A request without anything to prune is done already.",
			request: request(v1alpha1.PhaseDone, ""), uid: "1", plan: digest, want: "TooLate",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := &v1alpha1.PruneApproval{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
			a.Spec = v1alpha1.PruneApprovalSpec{RequestRef: v1alpha1.PruneRequestReference{Name: "one", UID: tc.uid}, Plan: tc.plan}
			got, message := judgeApproval(a, tc.request)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || (message == "") != (tc.want == "") {
				t.Errorf("\n%s\njudgeApproval(...): -want, +got:\n%s\n%q", tc.reason, diff, message)
			}
		})
	}
}

// TestApprovalsAreAnsweredOnce names one request in fifty approvals of another plan: each is read until it has its answer, and the approval of the plan counts
// after them.
func TestApprovalsAreAnsweredOnce(t *testing.T) {
	w := newWorld(t, 1)
	w.ask(team)
	pr := w.step(team)
	for i := range 50 {
		w.create(&v1alpha1.PruneApproval{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: fmt.Sprintf("guess-%d", i)}, Spec: v1alpha1.PruneApprovalSpec{
			RequestRef: v1alpha1.PruneRequestReference{Name: pr.GetName(), UID: string(pr.GetUID())}, Plan: fmt.Sprintf("sha256:%064d", i),
		}})
	}
	w.step(team)
	counter := &cacheclient.Counter{Client: w.kube}
	w.reconciler.kube = counter
	if w.step(team); counter.Listed > 0 {
		t.Errorf("An approval with an answer is not read at later events: %d were read", counter.Listed)
	}
	first := &v1alpha1.PruneApproval{}
	w.must(w.kube.Get(t.Context(), client.ObjectKey{Namespace: team, Name: "guess-0"}, first))
	if diff := cmp.Diff(v1alpha1.ReasonOtherPlan, first.Status.GetCondition(v1alpha1.TypeAccepted).Reason); diff != "" {
		t.Errorf("An approval of another plan is answered: -want, +got:\n%s", diff)
	}
	w.approve(pr)
	if pr = w.step(team); pr.Status.Result == nil || pr.Status.Result.Approval != asked {
		t.Errorf("The approval of the plan counts, also after others of another plan: %+v", pr.Status)
	}
	if counter.Listed > 2 {
		t.Errorf("An event reads the approvals without an answer alone: %d were read", counter.Listed)
	}
}

// TestStaleCacheAnswersNothing has a cache without the request that an approval names, and then a cache without the answer: an answer is final, so it is given by
// the API server's request, and once.
func TestStaleCacheAnswersNothing(t *testing.T) {
	w := newWorld(t, 1)
	w.ask(team)
	pr := w.step(team)
	w.approve(pr)
	stale := interceptor.NewClient(w.kube, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if _, ok := o.(*v1alpha1.PruneRequest); ok {
				return kerrors.NewNotFound(schema.GroupResource{Resource: "prunerequests"}, key.Name)
			}
			return c.Get(ctx, key, o, options...)
		},
	})
	w.reconciler.kube = stale
	w.step(team)
	a := &v1alpha1.PruneApproval{}
	w.must(w.kube.Get(t.Context(), client.ObjectKeyFromObject(pr), a))
	if got := a.Status.GetCondition(v1alpha1.TypeAccepted).Reason; got != "" {
		t.Errorf("An approval whose request the cache does not have yet is answered %s", got)
	}
	w.reconciler.kube = w.kube
	w.step(team)
	if err := w.reconciler.answerApproval(t.Context(), a, nil); !kerrors.IsConflict(errors.Cause(err)) {
		t.Errorf("An approval is answered once: want a conflict for an answer from a stale cache, got %v", err)
	}
}
