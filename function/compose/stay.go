package compose

import (
	"cmp"
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/evidence"
)

// Parts returns the deliveries that take part in a revision, as they are observed. One that was lost is taken from the wanted ones, with the
// Sites that it had: it will ask for what it asked for before. It is left out if none is wanted in its place.
func Parts(observed, wanted map[string]*deliveryv1alpha1.GitDelivery, r ledger.Revision) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for _, part := range r.Parts {
		d, w := observed[part.Delivery], wanted[part.Delivery]
		switch {
		case w != nil && IsLost(part, observed):
			out[part.Delivery] = recreatedDelivery(w, part.Sites)
		case d != nil:
			out[part.Delivery] = d
		}
	}
	return out
}

// IsLost is true for a part of a revision without a delivery, or with one that was composed since for the ledger alone: it names no directory.
func IsLost(part ledger.Part, observed map[string]*deliveryv1alpha1.GitDelivery) bool {
	d := observed[part.Delivery]
	return d == nil || len(d.Spec.ForProvider.Trees) == 0 && len(part.Sites) > 0
}

// recreatedDelivery is a delivery that was lost, with the Sites that it had. Its directories are retained until it reports what they hold.
func recreatedDelivery(d *deliveryv1alpha1.GitDelivery, sites []string) *deliveryv1alpha1.GitDelivery {
	out := &deliveryv1alpha1.GitDelivery{TypeMeta: d.TypeMeta, ObjectMeta: *d.ObjectMeta.DeepCopy(), Spec: *d.Spec.DeepCopy()}
	out.Spec.ForProvider.Trees = nil
	for _, t := range d.Spec.ForProvider.Trees {
		if slices.Contains(sites, t.Site) {
			out.Spec.ForProvider.Trees = append(out.Spec.ForProvider.Trees, retainTree(t))
		}
	}
	return out
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

// Resume is what the parts of a revision ask for while nothing new may be ordered: what they asked for before. What happens when the
// deployment is deleted follows the spec, and so do timeouts that the spec says.
func Resume(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for name, d := range parts {
		out[name] = resumeDelivery(d, spec)
	}
	return out
}

func resumeDelivery(d *deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig) *deliveryv1alpha1.GitDelivery {
	out := &deliveryv1alpha1.GitDelivery{TypeMeta: d.TypeMeta, Spec: *d.Spec.DeepCopy()}
	out.Namespace, out.Labels = d.GetNamespace(), map[string]string{LabelClaim: d.Spec.ForProvider.ClaimRef.Name}
	if value := d.GetAnnotations()[AnnotationRepository]; value != "" {
		out = withAnnotation(out, AnnotationRepository, value)
	}
	out.Spec.ManagementPolicies = managementPolicies(spec.DeletionPolicy)
	p := &out.Spec.ForProvider
	p.DriftPolicy, p.Settled = deliveryv1alpha1.DriftPolicy(spec.DriftPolicy), false
	p.DeliveryTimeout = cmp.Or(string(spec.DeliveryTimeout), p.DeliveryTimeout)
	return out
}

// Stay is what the parts of a rejected revision ask for: all directories as they are, wherever the next revision would go.
func Stay(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig) map[string]*deliveryv1alpha1.GitDelivery {
	out := Resume(parts, spec)
	for _, d := range out {
		for i, t := range d.Spec.ForProvider.Trees {
			d.Spec.ForProvider.Trees[i] = retainTree(t)
		}
	}
	return out
}

// A Return is what a rollback attempt restores.
type Return struct {
	// Trees of the target, by Site. Nil means that the target is not remembered any more.
	Trees map[string]string

	// Chosen is true for a Site that the deployment is still for.
	Chosen func(site string) bool

	// Timeout of the attempt.
	Timeout string
}

// Back returns what the parts of a rejected revision ask for in a rollback attempt: the target's trees where others are, or may be, and everything
// else as it is. A directory that the target did not have is retained. What the attempt has to change is not drift, whatever the policy for drift
// says.
func Back(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, s ledger.State, r Return) map[string]*deliveryv1alpha1.GitDelivery {
	out := Resume(parts, spec)
	for name, d := range out {
		p := &d.Spec.ForProvider
		for i, t := range p.Trees {
			p.Trees[i] = r.restoreTree(t, parts[name], s)
		}
		if evidence.AsksForNothing(d) {
			continue
		}
		p.DeliveryTimeout = r.Timeout
		if !s.Restored {
			p.DriftPolicy = deliveryv1alpha1.DriftRestore
		}
	}
	return out
}

func (r Return) restoreTree(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, s ledger.State) deliveryv1alpha1.Tree {
	isBack := isRollingBack(d, s)
	restores := t.Action == deliveryv1alpha1.ActionRestore && isBack
	if r.Trees == nil && restores {
		return t
	}
	if r.Trees == nil || !r.Chosen(t.Site) {
		return retainTree(t)
	}
	if s.Restored && isBack {
		return t // What was restored is what was asked for then, wherever Sites moved since.
	}
	want, served := r.Trees[t.Site]
	if !served || !restores && (holdsTarget(t, d, s.Current.Number, want) || isUntouched(t, d, isBack)) {
		return retainTree(t)
	}
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionRestore, want, nil
	return t
}

// holdsTarget is true for a directory that a revision neither changed nor may be changing, and that holds a tree.
func holdsTarget(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, revision int64, want string) bool {
	if t.Action != deliveryv1alpha1.ActionKeep && t.Tree != want {
		return false
	}
	is, known := evidence.HeldTree(d, t.Path)
	return known && is.Tree == want && is.Revision != revision
}

// isUntouched is true for a directory that a delivery was to keep, and that was not there when it had applied what it is asked for: that of a Site which was
// moved there, and whose turn had not come. Once the rollback asks to keep it, nothing brings it there: to restore it before that is reported would make
// another commit.
func isUntouched(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, isBack bool) bool {
	_, known := evidence.HeldTree(d, t.Path)
	asked, done := d.Spec.ForProvider.Position, d.Status.AtProvider.Record
	hasReported := asked == nil && evidence.IsSeen(d) || asked != nil && done != nil && done.Position == *asked
	return t.Action == deliveryv1alpha1.ActionKeep && !known && (hasReported || isBack)
}

// isRollingBack is true for a delivery that asks for the rollback of a state, in whichever attempt.
func isRollingBack(d *deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	p := d.Spec.ForProvider.Position
	return p != nil && p.Revision == s.Current.Number && p.Attempt > 0 && s.Cursor.Attempt > 0
}

// Observers of a revision that goes on as it is: the same Sites, with the time that they have by the spec, and with the trees that the deliveries of the
// revision ask for. What is observed may have been composed for another revision.
func Observers(observed *deliveryv1alpha1.SiteSync, spec deploymentv1alpha1.DeliveryConfig, s ledger.State, parts map[string]*deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.SiteSync {
	if observed == nil {
		return nil
	}
	out := &deliveryv1alpha1.SiteSync{TypeMeta: observed.TypeMeta, Spec: *observed.Spec.DeepCopy()}
	out.Namespace, out.Labels = observed.GetNamespace(), maps.Clone(observed.GetLabels())
	p := &out.Spec.ForProvider
	p.Position = new(s.Position())
	p.SyncWaitTimeout = cmp.Or(string(spec.SyncWaitTimeout), p.SyncWaitTimeout)
	p.ClusterWaitTimeout = cmp.Or(string(spec.ClusterWaitTimeout), p.ClusterWaitTimeout)
	asked := map[string]deliveryv1alpha1.SiteTree{}
	for _, t := range sitesToObserve(s, parts, nil) {
		asked[t.Name] = t
	}
	for i, t := range p.Sites {
		if is, ok := asked[t.Name]; ok {
			p.Sites[i] = is
		}
	}
	return out
}
