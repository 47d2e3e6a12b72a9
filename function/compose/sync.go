package compose

import (
	"cmp"
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// SyncName is the name of the composed resource that observes the Sites.
const SyncName = "sync"

// Sync is the managed resource that observes whether Sites run the trees of deliveries, in any step. Sites without an
// engine are left out, and without any Site it is nil.
func Sync(claim rolloutv1alpha1.ClaimReference, spec deploymentv1alpha1.DeliveryConfig, s ledger.State, ds map[string]*deliveryv1alpha1.GitDelivery, unobserved map[string]bool) *deliveryv1alpha1.SiteSync {
	return SyncOf(claim, spec, s, sitesToObserve(s, ds, unobserved))
}

// SyncOf returns the SiteSync of some Sites, which it sorts by name, or nil for none.
func SyncOf(claim rolloutv1alpha1.ClaimReference, spec deploymentv1alpha1.DeliveryConfig, s ledger.State, sites []deliveryv1alpha1.SiteTree) *deliveryv1alpha1.SiteSync {
	if len(sites) == 0 {
		return nil
	}
	slices.SortFunc(sites, func(a, b deliveryv1alpha1.SiteTree) int { return cmp.Compare(a.Name, b.Name) })
	return &deliveryv1alpha1.SiteSync{
		TypeMeta:   metav1.TypeMeta{APIVersion: deliveryv1alpha1.GroupVersion.String(), Kind: "SiteSync"},
		ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Labels: map[string]string{LabelClaim: claim.Name}},
		Spec: deliveryv1alpha1.SiteSyncSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}},
			ForProvider: deliveryv1alpha1.SiteSyncParameters{
				ClaimRef:           claim,
				Position:           new(s.Position()),
				Pause:              s.PauseAfterStep(),
				Promoted:           s.PauseAfterStep() != "" && s.IsPauseReleased(),
				SyncWaitTimeout:    string(spec.SyncWaitTimeout),
				ClusterWaitTimeout: string(spec.ClusterWaitTimeout),
				Sites:              sites,
			},
		},
	}
}

// treesOfPlan returns the trees of a delivery with those of later steps: a SiteSync names the trees of the whole plan, since it comes to them by the ledger.
func treesOfPlan(p deliveryv1alpha1.GitDeliveryParameters, s ledger.State) []deliveryv1alpha1.Tree {
	out := slices.Clone(p.Trees)
	for _, l := range directories.LaterTrees(p, s) {
		out = append(out, l.Tree)
	}
	return out
}

// sitesToObserve returns the Sites of deliveries in all steps of the current revision, but for those without an engine.
func sitesToObserve(s ledger.State, ds map[string]*deliveryv1alpha1.GitDelivery, unobserved map[string]bool) []deliveryv1alpha1.SiteTree {
	var out []deliveryv1alpha1.SiteTree
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		for _, t := range treesOfPlan(ds[name].Spec.ForProvider, s) {
			if _, nobody := unobserved[t.Site]; nobody || t.Action == deliveryv1alpha1.ActionKeep {
				continue
			}
			out = append(out, directories.SiteToObserve(ds[name], t, s.StepOf(t.Site)))
		}
	}
	return out
}

// NeedsNoSpec reports whether an observed SiteSync comes to a desired one without another spec, since it follows the ledger from an earlier position of the
// attempt. In tracks it looks for the trees in the repositories. Without tracks its spec has the trees of all steps.
func NeedsNoSpec(observed, desired *deliveryv1alpha1.SiteSync, isTracked bool) bool {
	requested, p := observed.Spec.ForProvider, desired.Spec.ForProvider
	position, target := requested.AskedPosition(), p.AskedPosition()
	isStep := position != target && target.Attempt == 0 && target.HasReached(position)
	isSame := requested.ClaimRef == p.ClaimRef && requested.SyncWaitTimeout == p.SyncWaitTimeout && requested.ClusterWaitTimeout == p.ClusterWaitTimeout
	if !isStep || !isSame || !isTracked && len(requested.Sites) != len(p.Sites) {
		return false
	}
	return !slices.ContainsFunc(p.Sites, func(want deliveryv1alpha1.SiteTree) bool {
		return !slices.ContainsFunc(requested.Sites, func(t deliveryv1alpha1.SiteTree) bool { return isSameSiteRequest(t, want, isTracked) })
	})
}

// isSameSiteRequest is true for two requests to observe a Site, whose trees a SiteSync in tracks derives.
func isSameSiteRequest(a, b deliveryv1alpha1.SiteTree, isTracked bool) bool {
	if isTracked {
		a.Wave, a.Tree, a.Traffic = b.Wave, b.Tree, b.Traffic
	}
	return a == b
}
