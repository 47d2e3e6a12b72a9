package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// RequestsOf returns the open RolloutRequests of the deployment of a home that end a revision, the oldest first. The ledger handles them before all other
// requests.
func RequestsOf(home *v1alpha1.GitDelivery, all []rolloutv1alpha1.RolloutRequest) []step.Request {
	deploymentRequests := slices.DeleteFunc(slices.Clone(all), func(r rolloutv1alpha1.RolloutRequest) bool { return !IsRequestFor(&r, home) })
	open := rolloutv1alpha1.OpenRequests(deploymentRequests)
	slices.SortFunc(open, func(a, b *rolloutv1alpha1.RolloutRequest) int { return rolloutv1alpha1.CompareAge(*a, *b) })
	var out []step.Request
	for _, r := range open {
		if endsRevision(r.Spec.Action) {
			out = append(out, evidence.RequestOf(r))
		}
	}
	return out
}

// endsRevision is true for an action that ends the current revision.
func endsRevision(a rolloutv1alpha1.Action) bool {
	return a == rolloutv1alpha1.ActionAbort || a == rolloutv1alpha1.ActionRollbackTo
}

// IsRequestFor is true for a RolloutRequest about the deployment of a home, in its namespace.
func IsRequestFor(r *rolloutv1alpha1.RolloutRequest, home *v1alpha1.GitDelivery) bool {
	ref, claim := r.Spec.DeploymentRef, home.Spec.ForProvider.ClaimRef
	isSame := ref.APIGroup == claim.APIGroup && ref.Kind == claim.Kind && ref.Name == claim.Name
	return isSame && r.GetNamespace() == home.GetNamespace() && r.GetNamespace() == claim.Namespace
}
