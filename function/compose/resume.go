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

// Parts returns the observed deliveries of a revision. The desired delivery of the same name replaces a lost delivery, with the Sites of the lost delivery:
// it requests the same trees. A lost delivery without a desired delivery is omitted.
func Parts(observed, desired map[string]*deliveryv1alpha1.GitDelivery, r ledger.Revision) map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for _, part := range r.Parts {
		d, w := observed[part.Delivery], desired[part.Delivery]
		switch {
		case w != nil && IsLost(part, observed):
			out[part.Delivery] = recreatedDelivery(w, part.Sites)
		case d != nil:
			out[part.Delivery] = d
		}
	}
	return out
}

// IsLost reports whether a part of a revision has no delivery, or a delivery without directories, which the function composed later for the ledger alone.
func IsLost(part ledger.Part, observed map[string]*deliveryv1alpha1.GitDelivery) bool {
	d := observed[part.Delivery]
	return d == nil || len(d.Spec.ForProvider.Trees) == 0 && len(part.Sites) > 0
}

// recreatedDelivery returns the replacement of a lost delivery, for the same Sites. It retains their directories until it reports their trees.
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

// Sites returns the names of the Sites that have a directory in the deliveries.
func Sites(ds map[string]*deliveryv1alpha1.GitDelivery) map[string]bool {
	out := map[string]bool{}
	for _, d := range ds {
		for _, t := range d.Spec.ForProvider.Trees {
			out[t.Site] = true
		}
	}
	return out
}

// Resume returns the deliveries of a revision while no new revision may begin: with unchanged trees. The deletion policy and the timeouts follow the
// current spec.
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

// Observers returns the SiteSync of a revision that continues unchanged: the same Sites, with the timeouts of the current spec, and with the trees that the
// deliveries of the revision request. The observed SiteSync may have been composed for another revision.
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

// CanResume reports whether each repository that the current revision has reached has a delivery that requests its trees: no delivery was lost, or restored
// from a backup. A ledger that a user left by force may have had another revision of the same number, with other Sites.
func CanResume(parts map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	for _, part := range s.Current.Parts {
		d := parts[part.Delivery]
		if d == nil || !asksForSites(d, part.Sites, s) {
			return false
		}
	}
	return true
}

// asksForSites reports whether a delivery requests the trees of exactly those Sites that the current revision has reached, now or among its later trees.
// A position of a lower epoch requested the same trees.
func asksForSites(d *deliveryv1alpha1.GitDelivery, sites []string, s ledger.State) bool {
	stepped := *d
	stepped.Spec.ForProvider = directories.At(d.Spec.ForProvider, s)
	p, later := d.Spec.ForProvider.Position, directories.LaterTrees(d.Spec.ForProvider, s)
	return !slices.ContainsFunc(sites, func(site string) bool {
		isRequested := p != nil && p.Revision == s.Current.Number && p.Attempt == s.Cursor.Attempt && p.Step <= s.Cursor.Step && p.Step >= s.StepOf(site)
		isLater := slices.ContainsFunc(later, func(l deliveryv1alpha1.LaterTree) bool { return l.Site == site })
		return s.HasReached(site) && !isLater && (!isRequested || !slices.Equal(sites, SitesOf(&stepped)))
	})
}
