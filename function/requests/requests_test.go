package requests

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compile"
)

func claimNamed(name string) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: name}
}

func rolloutRequest(name string, minute int, change ...func(*rolloutv1alpha1.RolloutRequest)) rolloutv1alpha1.RolloutRequest {
	c := claimNamed("shop")
	r := rolloutv1alpha1.RolloutRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: name, UID: types.UID("uid-" + name),
			CreationTimestamp: metav1.NewTime(time.Date(2031, 12, 17, 13, minute, 0, 0, time.UTC)),
		},
		Spec: rolloutv1alpha1.RolloutRequestSpec{
			DeploymentRef: rolloutv1alpha1.DeploymentReference{APIGroup: c.APIGroup, Kind: c.Kind, Name: c.Name},
			Action:        rolloutv1alpha1.ActionApproveUpdate, Revision: 2,
		},
	}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

func TestOpen(t *testing.T) {
	requests := []rolloutv1alpha1.RolloutRequest{}
	for n := range 30 {
		requests = append(requests, rolloutRequest(fmt.Sprintf("r%02d", n), 59-n))
	}
	oldest := []string{}
	for n := range rolloutv1alpha1.MaxOpen {
		oldest = append(oldest, fmt.Sprintf("r%02d", 29-n))
	}
	cases := map[string]struct {
		reason string
		all    []rolloutv1alpha1.RolloutRequest
		want   []string
	}{
		"None": {reason: "Without requests none is open."},
		"Age": {
			reason: "Requests are ordered by their age, and then by their names.",
			all:    []rolloutv1alpha1.RolloutRequest{rolloutRequest("c", 1), rolloutRequest("a", 2), rolloutRequest("b", 1)},
			want:   []string{"b", "c", "a"},
		},
		"Many": {reason: "The number of evaluated requests is bounded, and the oldest come first.", all: requests, want: oldest},
		"Abort": {
			reason: "A young Abort is evaluated before older requests.", want: append(slices.Clone(oldest[:rolloutv1alpha1.MaxOpen-1]), "abort"),
			all: append(slices.Clone(requests), rolloutRequest("abort", 60, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = rolloutv1alpha1.ActionAbort })),
		},
		"Deleted": {reason: "A request that is being deleted asks for nothing.", all: []rolloutv1alpha1.RolloutRequest{rolloutRequest("a", 1, func(r *rolloutv1alpha1.RolloutRequest) {
			r.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
		})}},
		"Group": {
			reason: "The other shape of the same name is another deployment.",
			all: []rolloutv1alpha1.RolloutRequest{
				rolloutRequest("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.APIGroup = "intentplane.dev" }),
			},
		},
		"Kind": {
			reason: "A request about another kind is about another deployment.",
			all: []rolloutv1alpha1.RolloutRequest{
				rolloutRequest("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Kind = "Application" }),
			},
		},
		"Name": {
			reason: "A request about another name is about another deployment.",
			all: []rolloutv1alpha1.RolloutRequest{
				rolloutRequest("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = "bank" }),
			},
		},
		"Space": {
			reason: "A request in another namespace is about another deployment.",
			all:    []rolloutv1alpha1.RolloutRequest{rolloutRequest("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Namespace = "team-b" })},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				var got []string
				for _, r := range Open(claimNamed("shop"), tc.all) {
					got = append(got, r.GetName())
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nOpen(...): -want, +got:\n%s", tc.reason, diff)
				}
				slices.Reverse(tc.all)
			}
		})
	}
}

func TestApprovesUpdate(t *testing.T) {
	waits := compile.Request{Request: ledger.Request{Renderer: 3}, Blueprint: &ledger.BlueprintReference{Name: "web-1.1.0", Digest: "sha256:1"}}
	cases := map[string]struct {
		reason string
		saw    *rolloutv1alpha1.UpdateReference
		want   bool
	}{
		"Any": {reason: "A request that names no update approves the waiting update.", want: true},
		"Same": {
			reason: "A request approves the update that it names.",
			saw:    &rolloutv1alpha1.UpdateReference{Blueprint: "web-1.1.0", Digest: "sha256:1", Renderer: "3"}, want: true,
		},
		"Blueprint": {reason: "The waiting Blueprint is not the approved Blueprint.", saw: &rolloutv1alpha1.UpdateReference{Blueprint: "web-1.0.9"}},
		"Digest":    {reason: "The content of the Blueprint is not the approved content.", saw: &rolloutv1alpha1.UpdateReference{Digest: "sha256:0"}},
		"Renderer":  {reason: "The waiting renderer is not the approved renderer.", saw: &rolloutv1alpha1.UpdateReference{Renderer: "2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := approvesUpdate(tc.saw, waits); got != tc.want {
				t.Errorf("\n%s\napprovesUpdate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
