package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// RequestsOf returns the open RolloutRequests of the deployment of a home that end the current revision, or release one step of it, the oldest first. All
// other requests begin a revision, move the ledger, or need files for a release of all steps.
func RequestsOf(home *v1alpha1.GitDelivery, all []rolloutv1alpha1.RolloutRequest) []step.Request {
	deploymentRequests := slices.DeleteFunc(slices.Clone(all), func(r rolloutv1alpha1.RolloutRequest) bool { return !IsRequestFor(&r, home) })
	open := rolloutv1alpha1.OpenRequests(deploymentRequests)
	slices.SortFunc(open, func(a, b *rolloutv1alpha1.RolloutRequest) int { return rolloutv1alpha1.CompareAge(*a, *b) })
	var out []step.Request
	for _, r := range open {
		if request := evidence.RequestOf(r); isAboutRevision(request) {
			out = append(out, request)
		}
	}
	return out
}

// isAboutRevision is true for a request that ends the current revision, or releases one step of it.
func isAboutRevision(r step.Request) bool {
	return r.Action == step.ActionAbort || r.Action == step.ActionRollbackTo || r.Action == step.ActionPromote && !r.Full
}

// IsRequestFor is true for a RolloutRequest about the deployment of a home, in its namespace.
func IsRequestFor(r *rolloutv1alpha1.RolloutRequest, home *v1alpha1.GitDelivery) bool {
	return r.IsFor(home.Spec.ForProvider.ClaimRef) && r.GetNamespace() == home.GetNamespace()
}
