package compose

import (
	"maps"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// Await is what deliveries ask for with an order while Sites wait for their clusters: their directories stay as they are. A cluster
// that the SiteSync saw ready for the order lets its Site through, and what was let through is asked for from then on.
func Await(wanted, observed map[string]*deliveryv1alpha1.GitDelivery, sync *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order, clustered map[string]bool) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(wanted)
	for name, d := range wanted {
		awaiting := *d
		awaiting.Spec.ForProvider.Trees = nil
		for _, t := range d.Spec.ForProvider.Trees {
			if _, through := asked(t, observed[name], o); clustered[t.Site] && !through && !rollout.Admits(sync, o, t.Site) {
				t = kept(t)
			}
			awaiting.Spec.ForProvider.Trees = append(awaiting.Spec.ForProvider.Trees, t)
		}
		out[name] = &awaiting
	}
	return out
}
