package evidence

import (
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/oneline"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// RequestOf returns a RolloutRequest as the next step is decided by it.
func RequestOf(r *rolloutv1alpha1.RolloutRequest) step.Request {
	return step.Request{
		Ref: ledger.RequestReference{
			Name: r.GetName(), UID: string(r.GetUID()),
			By: oneline.Clean(r.Spec.RequestedBy, 0), Reason: oneline.Clean(r.Spec.Reason, rolloutv1alpha1.MaxReason),
		},
		Action: step.Action(r.Spec.Action), Revision: r.Spec.Revision, Digest: r.Spec.Request, ToRevision: ptr.Deref(r.Spec.ToRevision, 0),
		Step: ptr.Deref(r.Spec.Step, 0), Full: ptr.Deref(r.Spec.Full, false), Force: ptr.Deref(r.Spec.Force, false), CreatedAt: r.GetCreationTimestamp().Time,
	}
}
