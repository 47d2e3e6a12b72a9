package v1alpha1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// newRequest returns a request to start a revision again, made at a minute after noon.
func newRequest(name string, minute int, change ...func(r *RolloutRequest)) RolloutRequest {
	r := RolloutRequest{Spec: RolloutRequestSpec{Action: ActionRetry}}
	r.Name, r.CreationTimestamp = name, metav1.NewTime(time.Date(2031, 12, 17, 12, minute, 0, 0, time.UTC))
	for _, fn := range change {
		fn(&r)
	}
	return r
}

// answered gives a request a condition.
func answered(typ xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason) func(r *RolloutRequest) {
	return func(r *RolloutRequest) {
		r.Status.SetConditions(xpv2.Condition{Type: typ, Status: status, Reason: reason})
	}
}

func TestOpenRequests(t *testing.T) {
	large := func(r *RolloutRequest) { r.Annotations = map[string]string{"note": strings.Repeat("a", MaxBytes)} }
	abort := func(r *RolloutRequest) { r.Spec.Action = ActionAbort }
	var crowd []RolloutRequest
	var first []string
	for n := range MaxOpen + 5 {
		crowd = append(crowd, newRequest(fmt.Sprintf("r%02d", n), n))
	}
	for n := range MaxOpen - 1 {
		first = append(first, fmt.Sprintf("r%02d", n))
	}
	cases := map[string]struct {
		reason string
		all    []RolloutRequest
		want   []string
	}{
		"None": {reason: "Without requests none is open."},
		"Turn": {
			reason: "An Abort comes first, and then the older one.",
			all:    []RolloutRequest{newRequest("b", 2), newRequest("a", 1), newRequest("abort", 3, abort)}, want: []string{"abort", "a", "b"},
		},
		"Many": {
			reason: "The open requests are limited to MaxOpen, and an Abort is among them.",
			all:    append(crowd, newRequest("abort", 59, abort)), want: append([]string{"abort"}, first...),
		},
		"Done": {
			reason: "A request that was carried out is not open.",
			all:    []RolloutRequest{newRequest("a", 1, answered(TypeCompleted, corev1.ConditionTrue, "Done"))},
		},
		"Refused": {
			reason: "A request that was refused is not open.",
			all:    []RolloutRequest{newRequest("a", 1, answered(TypeAccepted, corev1.ConditionFalse, "Stale"))},
		},
		"Unknown": {
			reason: "A request whose deployment does not exist yet is open.",
			all:    []RolloutRequest{newRequest("a", 1, answered(TypeAccepted, corev1.ConditionFalse, ReasonUnknownDeployment))}, want: []string{"a"},
		},
		"Deleted": {
			reason: "A request that is being deleted is not open.",
			all:    []RolloutRequest{newRequest("a", 1, func(r *RolloutRequest) { r.DeletionTimestamp = &metav1.Time{} })},
		},
		"Large": {reason: "A request above the limit is not open.", all: []RolloutRequest{newRequest("a", 1, large)}},
		"LargeLate": {
			reason: "A request that was accepted stays open, whatever others write into it.",
			all:    []RolloutRequest{newRequest("a", 1, large, answered(TypeAccepted, corev1.ConditionTrue, "Taken"))}, want: []string{"a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range OpenRequests(tc.all) {
				got = append(got, r.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nOpenRequests(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsFor changes a request about the deployment shop of a claim.
func TestIsFor(t *testing.T) {
	claim := ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop"}
	cases := map[string]struct {
		reason string
		change func(r *RolloutRequest)
		want   bool
	}{
		"Same":   {reason: "A request names its deployment.", change: func(*RolloutRequest) {}, want: true},
		"Labels": {reason: "Labels name no deployment.", change: func(r *RolloutRequest) { r.Labels = OpenLabels(claim.APIGroup, "bank") }, want: true},
		"Group": {
			reason: "A claim and a namespaced composite of one name are two deployments.",
			change: func(r *RolloutRequest) { r.Spec.DeploymentRef.APIGroup = "intentplane.dev" },
		},
		"Kind":      {reason: "Another kind is no deployment.", change: func(r *RolloutRequest) { r.Spec.DeploymentRef.Kind = "Application" }},
		"Name":      {reason: "Another name is another deployment.", change: func(r *RolloutRequest) { r.Spec.DeploymentRef.Name = "bank" }},
		"Namespace": {reason: "A request is about a deployment of its own namespace.", change: func(r *RolloutRequest) { r.Namespace = "team-b" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRequest("a", 1)
			r.Namespace, r.Spec.DeploymentRef = claim.Namespace, claim.DeploymentRef()
			tc.change(&r)
			if got := r.IsFor(claim); got != tc.want {
				t.Errorf("\n%s\nIsFor(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
