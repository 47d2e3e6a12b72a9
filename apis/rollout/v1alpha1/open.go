package v1alpha1

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// OpenRequests returns the requests for one deployment that may take effect, in the order of their evaluation. Requests with a final answer, deleted
// and too large requests are omitted, and so are the last requests above MaxOpen. The argument is sorted in place.
func OpenRequests(all []RolloutRequest) []*RolloutRequest {
	slices.SortFunc(all, CompareTurn)
	var out []*RolloutRequest
	for i := range all {
		if len(out) == MaxOpen {
			break
		}
		if r := &all[i]; r.MayTakeEffect() {
			out = append(out, r)
		}
	}
	return out
}

// MayTakeEffect reports whether a request waits for its turn or its end: it has no final answer, is not being deleted, and is not too large.
func (r *RolloutRequest) MayTakeEffect() bool {
	return !r.IsClosed() && r.GetDeletionTimestamp() == nil && !r.IsTooLarge()
}

// IsFor reports whether a request is about the deployment of a claim, in its namespace. Labels do not count, because they can be forged.
func (r *RolloutRequest) IsFor(c ClaimReference) bool {
	return r.Spec.DeploymentRef == c.DeploymentRef() && r.GetNamespace() == c.Namespace
}

// DeploymentRef returns the reference by which a request names the deployment of a claim.
func (c ClaimReference) DeploymentRef() DeploymentReference {
	return DeploymentReference{APIGroup: c.APIGroup, Kind: c.Kind, Name: c.Name}
}

// IsClosed reports whether the answer to a request is final.
func (r *RolloutRequest) IsClosed() bool {
	accepted := r.Status.GetCondition(TypeAccepted)
	refused := accepted.Status == corev1.ConditionFalse && accepted.Reason != ReasonUnknownDeployment
	return refused || r.Status.GetCondition(TypeCompleted).Status == corev1.ConditionTrue
}

// IsTooLarge reports whether a request is too large to be evaluated. An accepted request is evaluated all the same: there is at most one.
func (r *RolloutRequest) IsTooLarge() bool {
	if r.Status.GetCondition(TypeAccepted).Status == corev1.ConditionTrue {
		return false
	}
	b, err := json.Marshal(r)
	return err != nil || len(b) > MaxBytes
}
