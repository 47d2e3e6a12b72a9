package prunerequest

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle/inventory"
	"github.com/intentplane/intentplane/provider/prune"
)

// gatherPackages gathers the facts about packages as a plan of a time has them.
func (r *Reconciler) gatherPackages(ctx context.Context, pr *v1alpha1.PruneRequest, plannedAt time.Time) (*prune.Facts, error) {
	o := planOptions(pr)
	if b := pr.Spec.Bundle; b != nil {
		o.Bundle = prune.BundleName{Group: b.Group, Name: b.Name}
	}
	return inventory.Gatherer{Live: r.live, Namespace: r.namespace}.Gather(ctx, o, plannedAt)
}

// planOptions returns the options of a request, for each scope.
func planOptions(pr *v1alpha1.PruneRequest) prune.Options {
	o := prune.Options{
		Scope: prune.ScopeDirectories, Namespace: pr.GetNamespace(), Namespaces: pr.Spec.Namespaces, Only: pr.Spec.Only,
		AllowMost: pr.Spec.AllowMost, AllowStateful: pr.Spec.AllowStateful,
	}
	if pr.Spec.MinAge != nil {
		o.MinAge = pr.Spec.MinAge.Duration
	}
	return o
}
