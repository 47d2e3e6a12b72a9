package rollout

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
	"github.com/intentplane/intentplane/function/step"
)

func request(name string, minute int, change ...func(*rolloutv1alpha1.RolloutRequest)) rolloutv1alpha1.RolloutRequest {
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

func TestOf(t *testing.T) {
	many := []rolloutv1alpha1.RolloutRequest{}
	for n := range 30 {
		many = append(many, request(fmt.Sprintf("r%02d", n), 59-n))
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
		"None": {reason: "None is none."},
		"Age":  {reason: "Age comes first, then the name.", all: []rolloutv1alpha1.RolloutRequest{request("c", 1), request("a", 2), request("b", 1)}, want: []string{"b", "c", "a"}},
		"Many": {reason: "So many are looked at, oldest first.", all: many, want: oldest},
		"Abort": {
			reason: "An Abort is among them, however young it is.", want: append(slices.Clone(oldest[:rolloutv1alpha1.MaxOpen-1]), "abort"),
			all: append(slices.Clone(many), request("abort", 60, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Action = rolloutv1alpha1.ActionAbort })),
		},
		"Group": {reason: "The other shape of the same name is another.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.APIGroup = "intentplane.dev" })}},
		"Kind":  {reason: "So is another kind.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Kind = "Application" })}},
		"Name":  {reason: "So is another name.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.DeploymentRef.Name = "bank" })}},
		"Space": {reason: "So is another namespace.", all: []rolloutv1alpha1.RolloutRequest{request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) { r.Namespace = "team-b" })}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				var got []string
				for _, r := range Of(claimNamed("shop"), tc.all) {
					got = append(got, r.GetName())
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nOf(...): -want, +got:\n%s", tc.reason, diff)
				}
				slices.Reverse(tc.all)
			}
		})
	}
}

// TestRequestOf translates a RolloutRequest with each of its fields set.
func TestRequestOf(t *testing.T) {
	r := request("a", 1, func(r *rolloutv1alpha1.RolloutRequest) {
		r.Spec = rolloutv1alpha1.RolloutRequestSpec{
			Action: rolloutv1alpha1.ActionRollbackTo, Revision: 4, Request: "sha256:1", ToRevision: new(int64(2)), Step: new(int32(1)),
			RequestedBy: "ann", Reason: "It was\nslow.",
		}
	})
	want := step.Request{
		Ref:    ledger.RequestReference{Name: "a", UID: "uid-a", By: "ann", Reason: "It was slow."},
		Action: step.ActionRollbackTo, Revision: 4, Digest: "sha256:1", ToRevision: 2, Step: 1, CreatedAt: r.CreationTimestamp.Time,
	}
	if diff := cmp.Diff(want, RequestOf(&r)); diff != "" {
		t.Errorf("RequestOf(...): -want, +got:\n%s", diff)
	}
}

func TestApproves(t *testing.T) {
	waits := Request{Request: ledger.Request{Renderer: 3}, Blueprint: &ledger.BlueprintReference{Name: "web-1.1.0", Digest: "sha256:1"}}
	cases := map[string]struct {
		reason string
		saw    *rolloutv1alpha1.UpdateReference
		want   bool
	}{
		"Any":       {reason: "A request that names no update approves the one that waits.", want: true},
		"Same":      {reason: "A request approves the update that it names.", saw: &rolloutv1alpha1.UpdateReference{Blueprint: "web-1.1.0", Digest: "sha256:1", Renderer: "3"}, want: true},
		"Blueprint": {reason: "Another Blueprint waits than the one that was approved.", saw: &rolloutv1alpha1.UpdateReference{Blueprint: "web-1.0.9"}},
		"Digest":    {reason: "The Blueprint has other content than the one that was approved.", saw: &rolloutv1alpha1.UpdateReference{Digest: "sha256:0"}},
		"Renderer":  {reason: "Another renderer waits than the one that was approved.", saw: &rolloutv1alpha1.UpdateReference{Renderer: "2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Approves(tc.saw, waits); got != tc.want {
				t.Errorf("\n%s\nApproves(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
