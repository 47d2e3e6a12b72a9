package compose

import (
	"maps"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// Step is what deliveries ask for with an order: Sites whose step has not come keep what they have.
func Step(ds map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(ds)
	for name, d := range ds {
		stepped := *d
		stepped.Spec.ForProvider.Order = o
		stepped.Spec.ForProvider.Trees = nil
		for _, t := range d.Spec.ForProvider.Trees {
			if !rollout.Reached(o, t.Site) {
				t = kept(t)
			}
			stepped.Spec.ForProvider.Trees = append(stepped.Spec.ForProvider.Trees, t)
		}
		out[name] = &stepped
	}
	return out
}

// Stay is what deliveries of a rejected order ask for: all directories as they are, wherever the next order would go. What happens
// when the deployment is deleted follows the spec. Deliveries of other orders are not among them, unless nobody was asked for this one
// yet: then its rejection was carried over from the number before, which two requests had.
func Stay(observed map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	begun := false
	for _, d := range observed {
		begun = begun || partOf(d, o)
	}
	for name, d := range observed {
		if !partOf(d, o) && (begun || d.Spec.ForProvider.Order.Revision+1 != o.Revision) {
			continue
		}
		stays := &deliveryv1alpha1.GitDelivery{TypeMeta: d.TypeMeta, Spec: *d.Spec.DeepCopy()}
		stays.Namespace, stays.Labels = d.GetNamespace(), map[string]string{LabelClaim: d.Spec.ForProvider.ClaimRef.Name}
		stays.Spec.ManagementPolicies = policies(spec.DeletionPolicy)
		p := &stays.Spec.ForProvider
		p.Order = o
		for i := range p.Trees {
			p.Trees[i] = kept(p.Trees[i])
		}
		out[name] = stays
	}
	return out
}

// partOf is true for a delivery that was asked for an order, or carried it out.
func partOf(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	return rollout.Alike(d.Spec.ForProvider.Order, o) || rollout.Echoes(d, o)
}

func kept(t deliveryv1alpha1.Tree) deliveryv1alpha1.Tree {
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionKeep, "", nil
	return t
}
