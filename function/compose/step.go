package compose

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// Schedule returns the compiled deliveries of a revision at the step of a state. A directory whose step has not come keeps its tree: its next tree is among the
// later trees.
func Schedule(compiled map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	return mapDeliveries(compiled, func(_ string, p deliveryv1alpha1.GitDeliveryParameters) deliveryv1alpha1.GitDeliveryParameters {
		for _, t := range p.Trees {
			if !s.HasReached(t.Site) && t.Action == deliveryv1alpha1.ActionDesired {
				p.Later = append(p.Later, directories.NewLater(t, s))
			}
		}
		return retainUnreached(p, s)
	})
}

// Step returns the observed deliveries of a revision at the step of a state: directories whose step has begun get their later trees.
func Step(observed map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	return mapDeliveries(observed, func(_ string, p deliveryv1alpha1.GitDeliveryParameters) deliveryv1alpha1.GitDeliveryParameters {
		return retainUnreached(directories.At(p, s), s)
	})
}

// retainUnreached returns the parameters of a delivery with retained directories where the step of a Site has not come.
func retainUnreached(p deliveryv1alpha1.GitDeliveryParameters, s ledger.State) deliveryv1alpha1.GitDeliveryParameters {
	p.Trees = slices.Clone(p.Trees)
	for i, t := range p.Trees {
		if !s.HasReached(t.Site) {
			p.Trees[i] = directories.Retain(t)
		}
	}
	return p
}

// mapDeliveries returns copies of deliveries with other parameters.
func mapDeliveries(
	ds map[string]*deliveryv1alpha1.GitDelivery, change func(name string, p deliveryv1alpha1.GitDeliveryParameters) deliveryv1alpha1.GitDeliveryParameters,
) map[string]*deliveryv1alpha1.GitDelivery {
	out := make(map[string]*deliveryv1alpha1.GitDelivery, len(ds))
	for name, d := range ds {
		copied := *d
		copied.Spec.ForProvider = change(name, d.Spec.ForProvider)
		out[name] = &copied
	}
	return out
}
