package evidence

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// TestRequestOf translates a RolloutRequest with each of its fields set.
func TestRequestOf(t *testing.T) {
	created := time.Date(2031, 12, 17, 13, 1, 0, 0, time.UTC)
	r := &rolloutv1alpha1.RolloutRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "uid-a", CreationTimestamp: metav1.NewTime(created)},
		Spec: rolloutv1alpha1.RolloutRequestSpec{
			Action: rolloutv1alpha1.ActionRollbackTo, Revision: 4, Request: "sha256:1", ToRevision: new(int64(2)), Step: new(int32(1)),
			Full: new(true), Force: new(true), RequestedBy: "ann\u202e\u0085of\u200b it\u2028", Reason: "It was\nslow.",
		},
	}
	want := step.Request{
		Ref:    ledger.RequestReference{Name: "a", UID: "uid-a", By: "ann of it", Reason: "It was slow."},
		Action: step.ActionRollbackTo, Revision: 4, Digest: "sha256:1", ToRevision: 2, Step: 1, Full: true, Force: true, CreatedAt: created,
	}
	if diff := cmp.Diff(want, RequestOf(r)); diff != "" {
		t.Errorf("RequestOf(...): -want, +got:\n%s", diff)
	}
}
