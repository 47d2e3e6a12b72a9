package rollout

import (
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/oneline"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/step"
)

// Of returns the requests for a deployment, oldest first, and of more than rolloutv1alpha1.MaxOpen those whose turn comes first. Labels can be
// forged, and say nothing.
func Of(c rolloutv1alpha1.ClaimReference, all []rolloutv1alpha1.RolloutRequest) []rolloutv1alpha1.RolloutRequest {
	out := slices.DeleteFunc(slices.Clone(all), func(r rolloutv1alpha1.RolloutRequest) bool {
		ref := r.Spec.DeploymentRef
		return ref.APIGroup != c.APIGroup || ref.Kind != c.Kind || ref.Name != c.Name || r.GetNamespace() != c.Namespace
	})
	slices.SortFunc(out, rolloutv1alpha1.CompareTurn)
	out = out[:min(len(out), rolloutv1alpha1.MaxOpen)]
	slices.SortFunc(out, rolloutv1alpha1.CompareAge)
	return out
}

// Approves is true for a request that names no update, or the one that waits.
func Approves(saw *rolloutv1alpha1.UpdateReference, waits Request) bool {
	b := waits.Blueprint
	if saw == nil || b == nil {
		return true
	}
	named := func(saw, is string) bool { return saw == "" || saw == is }
	return named(saw.Blueprint, b.Name) && named(saw.Digest, b.Digest) && named(saw.Renderer, strconv.Itoa(int(waits.Renderer)))
}

// RequestOf returns a RolloutRequest as the next step is decided by it.
func RequestOf(r *rolloutv1alpha1.RolloutRequest) step.Request {
	return step.Request{
		Ref: ledger.RequestReference{
			Name: r.GetName(), UID: string(r.GetUID()), By: r.Spec.RequestedBy, Reason: oneline.Clean(r.Spec.Reason, rolloutv1alpha1.MaxReason),
		},
		Action: step.Action(r.Spec.Action), Revision: r.Spec.Revision, Digest: r.Spec.Request, ToRevision: ptr.Deref(r.Spec.ToRevision, 0),
		Step: ptr.Deref(r.Spec.Step, 0), Force: ptr.Deref(r.Spec.Force, false), CreatedAt: r.GetCreationTimestamp().Time,
	}
}
