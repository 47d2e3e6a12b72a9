package compose

import (
	"cmp"
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// Parts returns the deliveries that take part in a revision, as they are observed. A lost delivery is taken from the wanted ones, with the
// Sites that it had: it will ask for the same trees as before. It is left out if none is wanted in its place.
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

// IsLost is true for a part of a revision without a delivery, or with a delivery that was composed since for the ledger alone: it names no directory.
func IsLost(part ledger.Part, observed map[string]*deliveryv1alpha1.GitDelivery) bool {
	d := observed[part.Delivery]
	return d == nil || len(d.Spec.ForProvider.Trees) == 0 && len(part.Sites) > 0
}

// recreatedDelivery is a delivery that was lost, with the Sites that it had. Its directories are retained until it reports their trees.
func recreatedDelivery(d *deliveryv1alpha1.GitDelivery, sites []string) *deliveryv1alpha1.GitDelivery {
	out := &deliveryv1alpha1.GitDelivery{TypeMeta: d.TypeMeta, ObjectMeta: *d.ObjectMeta.DeepCopy(), Spec: *d.Spec.DeepCopy()}
	out.Spec.ForProvider.Trees = nil
	for _, t := range d.Spec.ForProvider.Trees {
		if slices.Contains(sites, t.Site) {
			out.Spec.ForProvider.Trees = append(out.Spec.ForProvider.Trees, directories.Retain(t))
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

// Resume returns the deliveries of a revision while no new revision may begin: with the same trees as before. The policy for a deleted
// deployment follows the spec, and so do the timeouts of the spec.
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

// Observers of a revision that goes on as it is: the same Sites, with the time that they have by the spec, and with the trees that the deliveries of the
// revision ask for. The observed SiteSync may have been composed for another revision.
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
	requested := map[string]deliveryv1alpha1.SiteTree{}
	for _, t := range sitesToObserve(s, parts, nil) {
		requested[t.Name] = t
	}
	for i, t := range p.Sites {
		if siteTree, ok := requested[t.Name]; ok {
			p.Sites[i] = siteTree
		}
	}
	return out
}

// CanResume is true if each repository that the current revision has come to has a delivery that asks for its trees: none was lost, or restored from
// a backup. A revision of a ledger that was left by force may have had the number, and other Sites.
func CanResume(parts map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	for _, part := range s.Current.Parts {
		d := parts[part.Delivery]
		if d == nil || !asksForSites(d, part.Sites, s) {
			return false
		}
	}
	return true
}

// asksForSites is true for a delivery that asks for the trees of the Sites that the current revision has come to, or has them among its later trees, and of no
// others. A position of a lower epoch had the same.
func asksForSites(d *deliveryv1alpha1.GitDelivery, sites []string, s ledger.State) bool {
	stepped := *d
	stepped.Spec.ForProvider = directories.At(d.Spec.ForProvider, s)
	p, later := d.Spec.ForProvider.Position, directories.LaterTrees(d.Spec.ForProvider, s)
	return !slices.ContainsFunc(sites, func(site string) bool {
		isAsked := p != nil && p.Revision == s.Current.Number && p.Attempt == s.Cursor.Attempt && p.Step <= s.Cursor.Step && p.Step >= s.StepOf(site)
		isLater := slices.ContainsFunc(later, func(l deliveryv1alpha1.LaterTree) bool { return l.Site == site })
		return s.HasReached(site) && !isLater && (!isAsked || !slices.Equal(sites, SitesOf(&stepped)))
	})
}
