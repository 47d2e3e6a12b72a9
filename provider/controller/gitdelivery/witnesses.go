package gitdelivery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/usage"
)

const (
	// controllerField is the index of Gates and SiteSyncs by the UID of their controller reference.
	controllerField = "intentplane.gitdelivery.controller"

	// maxWitnesses is the maximum number of Gates, and of SiteSyncs, that are read for one controller. A deployment has one SiteSync, and a Gate for each of
	// its 20 steps.
	maxWitnesses = 64
)

// indexWitnesses indexes objects of a kind by their controllers.
func indexWitnesses(ctx context.Context, i client.FieldIndexer, o client.Object) error {
	return errors.Wrapf(i.IndexField(ctx, o, controllerField, controllerIndexKeys), "cannot index %T by controller", o)
}

func controllerIndexKeys(o client.Object) []string {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil {
		return nil
	}
	return []string{string(owner.UID)}
}

// A witnessReader reads Gates, SiteSyncs and RolloutRequests from the cache.
type witnessReader struct {
	kube client.Reader
	// hasGates is true once Gates are served, and indexed, and hasRequests is true once RolloutRequests are.
	hasGates, hasRequests atomic.Bool
}

// A gate calls back once kinds are served.
type gate interface {
	Register(callback func(), kinds ...schema.GroupVersionKind)
}

// watchOnceServed watches Gates and RolloutRequests for homes once these kinds are served. They are optional: without them a deployment has no
// measurements and no requests of users, and still delivers.
func (r *witnessReader) watchOnceServed(mgr ctrl.Manager, g gate, c controller.Controller, unchanged *fastPath, w waker) {
	g.Register(func() { r.watchGates(mgr, c, unchanged.invalidateMapped(w.requestsForWitness)) }, rolloutv1alpha1.GroupVersion.WithKind("Gate"))
	g.Register(func() { r.watchRequests(mgr, c, unchanged.invalidateMapped(w.requestsForRollout)) }, rolloutv1alpha1.GroupVersion.WithKind("RolloutRequest"))
}

// watchGates requeues homes when a Gate reaches a verdict, and enables reads of Gates. An error panics, so that the provider does not look healthy: the
// function leaves these verdicts to it.
func (r *witnessReader) watchGates(mgr ctrl.Manager, c controller.Controller, wake handler.EventHandler) {
	err := indexWitnesses(context.Background(), mgr.GetFieldIndexer(), &rolloutv1alpha1.Gate{})
	if err == nil {
		r.hasGates.Store(true)
		err = c.Watch(source.Kind[client.Object](mgr.GetCache(), &rolloutv1alpha1.Gate{}, wake, saidOtherThings()))
	}
	if err != nil {
		panic(errors.Wrap(err, "cannot watch Gates"))
	}
}

// gatherWitnesses gathers the evidence for a home with a mandate: deliveries, SiteSyncs, Gates and RolloutRequests. It returns an error if the cache
// cannot be read.
func (e *external) gatherWitnesses(ctx context.Context, f facts) (mandate.Facts, error) {
	home := e.asRead
	if f.spec.Mandate == nil || home == nil {
		return mandate.Facts{}, nil
	}
	out := mandate.Facts{Home: home, Followers: f.followersOf(home), Delivered: f.deliveredByPath(), Now: f.ledger.now, Tracker: e.tracker}
	var err error
	if out, err = e.withSites(ctx, f, out); err != nil {
		return out, err
	}
	if f.isInState() {
		out.Applied = f.memory.Position
	}
	owner := metav1.GetControllerOfNoCopy(home)
	if owner == nil {
		return out, nil
	}
	gates, syncs := &rolloutv1alpha1.GateList{}, &v1alpha1.SiteSyncList{}
	options := []client.ListOption{
		client.InNamespace(home.GetNamespace()), client.MatchingFields{controllerField: string(owner.UID)}, client.Limit(maxWitnesses),
	}
	if err := listing.Cached(ctx, e.witnesses.kube, syncs, options...); err != nil {
		return out, errors.Wrap(err, "cannot list SiteSyncs")
	}
	if e.witnesses.hasGates.Load() {
		if err := listing.Cached(ctx, e.witnesses.kube, gates, options...); err != nil {
			return out, errors.Wrap(err, "cannot list Gates")
		}
	}
	out.Gates, out.Syncs = gates.Items, syncs.Items
	out.Requests, err = e.gatherRequests(ctx, home)
	return out, err
}

// followersOf returns the deliveries to other repositories that may be evidence for a home.
func (f facts) followersOf(home *v1alpha1.GitDelivery) []v1alpha1.GitDelivery {
	return slices.DeleteFunc(slices.Clone(f.siblings), func(d v1alpha1.GitDelivery) bool {
		return d.Spec.ForProvider.Copy == nil || !mandate.IsWitness(&d, d.Spec.ForProvider.ClaimRef, home)
	})
}

// withSites adds the Sites of all repositories to the evidence: the Sites without an engine, and the Sites without a later tree.
func (e *external) withSites(ctx context.Context, f facts, out mandate.Facts) (mandate.Facts, error) {
	matchLabels := f.spec.Mandate.MatchLabels
	out.Unobserved, out.Closed = unobservedSites(f.allSiteNames(), f.sites), closedSites(f.spec, matchLabels, f.sites)
	for i := range out.Followers {
		names := usage.Sites(&out.Followers[i])
		sites, err := e.sitesByName(ctx, names)
		if err != nil {
			return out, err
		}
		maps.Copy(out.Unobserved, unobservedSites(names, sites))
		maps.Copy(out.Closed, closedSites(out.Followers[i].Spec.ForProvider, matchLabels, sites))
	}
	return out, nil
}

// closedSites returns the Sites that get no later tree of a delivery: the tree is for another directory than the Site has, or the Site is missing, may not be
// used, or lost a label by which the deployment selects it. A step at a Site that is missing or closed to the namespace would be refused, and the revision
// rejected at the Sites that run it.
func closedSites(p v1alpha1.GitDeliveryParameters, matchLabels map[string]string, sites map[string]*catalogv1alpha1.Site) map[string]bool {
	out := map[string]bool{}
	for _, l := range p.Later {
		site, claim := sites[l.Site], p.ClaimRef
		if site == nil || policy.CheckSite(site, claim.Namespace) != nil || !policy.HasLabels(site, matchLabels) || l.Layout != site.Spec.Repository.Layout ||
			!strings.HasSuffix("/"+l.Path, "/"+policy.Directory("", site.Spec.Repository.Path, claim.Namespace, claim.Name)) {
			out[l.Site] = true
		}
	}
	return out
}

// isInState is true where the state has the record of the repository.
func (f facts) isInState() bool { return f.memory != nil && !f.rebuilt && !f.memory.Deleted }

// deliveredByPath returns the directories of the branch that were delivered, of the present and of later steps.
func (f facts) deliveredByPath() map[string]v1alpha1.DeliveredTree {
	out := map[string]v1alpha1.DeliveredTree{}
	for t := range f.spec.EachTree() {
		if delivered, isKnown := f.deliveredTree(t.Branch, t.Path); isKnown {
			out[t.Path] = delivered.DeliveredTree
		}
	}
	return out
}

// requestsForWitness requeues the home of a deployment with a mandate, for a Gate, a SiteSync or another delivery of it, and the other deliveries for the
// home.
func (w waker) requestsForWitness(ctx context.Context, o client.Object) []reconcile.Request {
	claim := claimOfWitness(o)
	ds, err := usage.OfClaim(ctx, w.kube, claim)
	return w.newRequests(slices.DeleteFunc(ds, func(d v1alpha1.GitDelivery) bool {
		return !hearsWitness(&d, o) || !mandate.IsWitness(o, claim, &d)
	}), err)
}

// hearsWitness is true for a delivery that a changed object concerns: a follower if the object is the home, otherwise a home with a mandate.
func hearsWitness(d *v1alpha1.GitDelivery, o client.Object) bool {
	if home, ok := o.(*v1alpha1.GitDelivery); ok && home.Spec.ForProvider.Ledger != nil {
		return d.Spec.ForProvider.Copy != nil
	}
	return d.Spec.ForProvider.Mandate != nil
}

func claimOfWitness(o client.Object) rolloutv1alpha1.ClaimReference {
	switch o := o.(type) {
	case *rolloutv1alpha1.Gate:
		return o.Spec.ForProvider.ClaimRef
	case *v1alpha1.SiteSync:
		return o.Spec.ForProvider.ClaimRef
	case *v1alpha1.GitDelivery:
		return o.Spec.ForProvider.ClaimRef
	}
	return rolloutv1alpha1.ClaimReference{}
}

// saidOtherThings passes a Gate, a SiteSync or a GitDelivery with new evidence.
func saidOtherThings() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return statementOf(e.Object) != "" },
		UpdateFunc:  func(e event.UpdateEvent) bool { return statementOf(e.ObjectOld) != statementOf(e.ObjectNew) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// statementOf returns the evidence of a Gate, a SiteSync or a GitDelivery as text: the verdict, or the reason why the Sites of a position are ready or not, and
// the proven state of the tracks of each Site. It is empty for an object without evidence.
func statementOf(o client.Object) string {
	switch o := o.(type) {
	case *rolloutv1alpha1.Gate:
		return string(evidence.GateVerdict(o))
	case *v1alpha1.GitDelivery:
		return statementOfDelivery(o)
	case *v1alpha1.SiteSync:
		return statementOfSites(o) + statementOfTracks(o.Status.AtProvider.Sites)
	}
	return ""
}

// statementOfDelivery returns the evidence of a delivery for the other deliveries of its deployment, as text: for a home, the position of its ledger, or the head
// with a rejected revision; for a follower, the position with its delivery or failure. It is empty without evidence.
func statementOfDelivery(d *v1alpha1.GitDelivery) string {
	observed := d.Status.AtProvider
	if d.Spec.ForProvider.Ledger != nil {
		switch s := observed.Ledger; {
		case observed.Mandate == nil || s == nil:
			return ""
		case s.IsRejected():
			return s.ID
		}
		return fmt.Sprint(observed.Ledger.Position())
	}
	requested, position := mandate.EffectiveDelivery(d), mandate.Position(d)
	if v := evidence.DeliveryFailure(requested, position); v != nil {
		return fmt.Sprint(position, v.Reason)
	}
	if evidence.IsDelivered(requested, position) {
		return fmt.Sprint(position)
	}
	return ""
}

// statementOfSites returns the position, status and reason of a SiteSync's Ready condition. It is empty if the condition is about an earlier generation.
func statementOfSites(s *v1alpha1.SiteSync) string {
	ready := s.GetCondition(xpv2.TypeReady)
	if ready.Reason == "" || ready.ObservedGeneration != s.GetGeneration() {
		return ""
	}
	return fmt.Sprint(s.Status.AtProvider.ObservedPosition(), ready.Status, ready.Reason)
}

// statementOfTracks returns the tracks that are proven to be without requests, and the folders with available pods: this evidence ends a stage of a
// rollback.
func statementOfTracks(sites []v1alpha1.SiteObservation) string {
	out := []string{}
	for _, o := range sites {
		if o.Traffic == nil {
			continue
		}
		for _, t := range o.Traffic.Tracks {
			out = append(out, fmt.Sprintln(o.Name, t.Name, t.Idle, ptr.Deref(t.ProvenAt, ledger.Position{}), t.AvailableTree, ptr.Deref(t.AvailableAt, ledger.Position{})))
		}
	}
	return strings.Join(out, "")
}
