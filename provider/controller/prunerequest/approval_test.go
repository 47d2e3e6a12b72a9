package prunerequest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
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
