package compose

import (
	"maps"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// Step returns the deliveries at the step of a state: Sites whose step has not come keep their trees.
func Step(ds map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(ds)
	for name, d := range ds {
		stepped := *d
		stepped.Spec.ForProvider.Trees = nil
		for _, t := range d.Spec.ForProvider.Trees {
			if !s.HasReached(t.Site) {
				t = directories.Retain(t)
			}
			stepped.Spec.ForProvider.Trees = append(stepped.Spec.ForProvider.Trees, t)
		}
		out[name] = &stepped
	}
	return out
}
