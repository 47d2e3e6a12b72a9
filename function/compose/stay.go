package compose

import (
	"cmp"
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// Parts returns the observed deliveries that take part in an order: those that ask for its revision, or applied it, and those of the revision that
// it withdraws. Where no delivery asks for it yet, its rejection was copied from the number before, which two requests had. A delivery that the
// order's plan needs and that was lost is taken from the wanted ones: it will ask for what it asked for before.
func Parts(observed, wanted map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := deliveriesOf(observed, o)
	if before := (rolloutv1alpha1.Order{Revision: o.Revision - 1}); len(out) == 0 && o.Rejected() {
		out = deliveriesOf(observed, before)
	}
	has := Sites(out)
	for name, d := range wanted {
		if observed[name] == nil && slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool { return !has[t.Site] && isPlanned(o, t.Site) }) {
			out[name] = recreatedDelivery(d, o, has)
		}
	}
	return out
}

// deliveriesOf returns the deliveries that take part in an order.
func deliveriesOf(observed map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for name, d := range observed {
		if takesPart(d, o) {
			out[name] = d
		}
	}
	return out
}

func takesPart(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	is := func(n int64) bool { return n == o.Revision || o.Withdraws != nil && n == *o.Withdraws }
	done := d.Status.AtProvider.Order
	return is(d.Spec.ForProvider.Order.Revision) || done != nil && is(done.Revision)
}

// recreatedDelivery is a delivery that was lost, with the Sites that it had. Its directories are retained until it reports what they hold.
func recreatedDelivery(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order, has map[string]bool) *deliveryv1alpha1.GitDelivery {
	out := &deliveryv1alpha1.GitDelivery{TypeMeta: d.TypeMeta, ObjectMeta: *d.ObjectMeta.DeepCopy(), Spec: *d.Spec.DeepCopy()}
	out.Spec.ForProvider.Trees = nil
	for _, t := range d.Spec.ForProvider.Trees {
		if !has[t.Site] && isPlanned(o, t.Site) {
			out.Spec.ForProvider.Trees = append(out.Spec.ForProvider.Trees, retainTree(t))
		}
	}
	return out
}

// Untold is true when some wanted delivery, which the order's plan needs, never reported what its repository recorded, or was lost.
func Untold(wanted, observed map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	for name, w := range wanted {
		d := observed[name]
		if d == nil && slices.ContainsFunc(w.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool { return isPlanned(o, t.Site) }) {
			return true
		}
		if d != nil && d.Status.AtProvider.Order == nil {
			return true
		}
	}
	return false
}

func isPlanned(o rolloutv1alpha1.Order, site string) bool {
	return slices.ContainsFunc(o.Plan, func(s rolloutv1alpha1.Step) bool { return slices.Contains(s.Sites, site) })
}

// Sites that deliveries have directories for.
func Sites(ds map[string]*deliveryv1alpha1.GitDelivery) map[string]bool {
	out := map[string]bool{}
	for _, d := range ds {
		for _, t := range d.Spec.ForProvider.Trees {
			out[t.Site] = true
		}
	}
	return out
}

// Covers is true for deliveries that have a directory for every Site of an order's plan: none of them was lost.
func Covers(ds map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	has := Sites(ds)
	for _, step := range o.Plan {
		for _, site := range step.Sites {
			if !has[site] {
				return false
			}
		}
	}
	return len(ds) > 0
}

// Resume is what the parts of an order ask for while nothing new may be ordered: what they asked for before. What happens when the
// deployment is deleted follows the spec, and so do timeouts that the spec says.
func Resume(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for name, d := range parts {
		out[name] = resumeDelivery(d, spec, o)
	}
	return out
}

func resumeDelivery(d *deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, o rolloutv1alpha1.Order) *deliveryv1alpha1.GitDelivery {
	out := &deliveryv1alpha1.GitDelivery{TypeMeta: d.TypeMeta, Spec: *d.Spec.DeepCopy()}
	out.Namespace, out.Labels = d.GetNamespace(), map[string]string{LabelClaim: d.Spec.ForProvider.ClaimRef.Name}
	for _, key := range []string{AnnotationAlso, AnnotationRepository} {
		if value := d.GetAnnotations()[key]; value != "" {
			out = withAnnotation(out, key, value)
		}
	}
	out.Spec.ManagementPolicies = managementPolicies(spec.DeletionPolicy)
	p := &out.Spec.ForProvider
	p.Order, p.DriftPolicy = o, deliveryv1alpha1.DriftPolicy(spec.DriftPolicy)
	p.DeliveryTimeout = cmp.Or(string(spec.DeliveryTimeout), p.DeliveryTimeout)
	return out
}

// Stay is what the parts of a rejected order ask for: all directories as they are, wherever the next order would go.
func Stay(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, o rolloutv1alpha1.Order) map[string]*deliveryv1alpha1.GitDelivery {
	out := Resume(parts, spec, o)
	for _, d := range out {
		for i, t := range d.Spec.ForProvider.Trees {
			d.Spec.ForProvider.Trees[i] = retainTree(t)
		}
	}
	return out
}

// A Return is what a rollback attempt restores.
type Return struct {
	// Target of the rollback. Nil means that no repository has recorded it any more.
	Target *rollout.Target

	// Chosen is true for a Site that the deployment is still for.
	Chosen func(site string) bool

	// Timeout of the attempt.
	Timeout string
}

// Back returns what the parts of a rejected order ask for in a rollback attempt: the target's trees where others are, or may be, and everything
// else as it is. A directory that the target did not have is retained. What the attempt has to change is not drift, whatever the policy for drift
// says.
func Back(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, o rolloutv1alpha1.Order, r Return) map[string]*deliveryv1alpha1.GitDelivery {
	out := Resume(parts, spec, o)
	for name, d := range out {
		p := &d.Spec.ForProvider
		p.DeliveryTimeout = r.Timeout
		if !rollout.Restored(o) {
			p.DriftPolicy = deliveryv1alpha1.DriftRestore
		}
		for i, t := range p.Trees {
			p.Trees[i] = r.restoreTree(t, parts[name], o)
		}
	}
	return out
}

func (r Return) restoreTree(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) deliveryv1alpha1.Tree {
	restores := t.Action == deliveryv1alpha1.ActionRestore && isSameRollback(d.Spec.ForProvider.Order, o)
	if r.Target == nil && restores {
		return t
	}
	if r.Target == nil || !r.Chosen(t.Site) {
		return retainTree(t)
	}
	if rollout.Restored(o) && isSameRollback(d.Spec.ForProvider.Order, o) {
		return t // What was restored is what was asked for then, wherever Sites moved since.
	}
	want, served := r.Target.Trees[t.Site]
	if !served || !restores && (r.holdsTarget(t, d, o, want) || isUntouched(t, d)) {
		return retainTree(t)
	}
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionRestore, want, nil
	return t
}

// holdsTarget is true for a directory that an order neither changed nor may be changing, and that holds a tree.
func (r Return) holdsTarget(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order, want string) bool {
	if t.Action != deliveryv1alpha1.ActionKeep && t.Tree != want {
		return false
	}
	is, known := rollout.Held(d, t.Path)
	return known && is.Tree == want && is.Revision != o.Revision
}

// isUntouched is true for a directory that a delivery was to keep, and that was not there when it had carried out what it is asked for: that of
// a Site which was moved there, and whose turn had not come.
func isUntouched(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) bool {
	_, known := rollout.Held(d, t.Path)
	return t.Action == deliveryv1alpha1.ActionKeep && !known && rollout.Recorded(d, d.Spec.ForProvider.Order)
}

// isSameRollback is true for two orders of one rollback, in whichever attempt.
func isSameRollback(a, b rolloutv1alpha1.Order) bool {
	return a.Revision == b.Revision && a.Request == b.Request && a.Attempt > 0 && b.Attempt > 0
}

// Observers of an order that goes on as it is: the same Sites, with the time that they have by the spec.
func Observers(observed *deliveryv1alpha1.SiteSync, spec deploymentv1alpha1.DeliveryConfig, o rolloutv1alpha1.Order) *deliveryv1alpha1.SiteSync {
	if observed == nil {
		return nil
	}
	out := &deliveryv1alpha1.SiteSync{TypeMeta: observed.TypeMeta, Spec: *observed.Spec.DeepCopy()}
	out.Namespace, out.Labels = observed.GetNamespace(), maps.Clone(observed.GetLabels())
	p := &out.Spec.ForProvider
	p.Order = o.Unjudged()
	p.SyncWaitTimeout = cmp.Or(string(spec.SyncWaitTimeout), p.SyncWaitTimeout)
	p.ClusterWaitTimeout = cmp.Or(string(spec.ClusterWaitTimeout), p.ClusterWaitTimeout)
	return out
}
