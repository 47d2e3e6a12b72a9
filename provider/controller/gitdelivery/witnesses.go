package gitdelivery

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/usage"
)

const (
	// controllerField finds Gates and SiteSyncs by the UID of the object that controls them.
	controllerField = "intentplane.gitdelivery.controller"

	// maxWitnesses is how many Gates, and how many SiteSyncs, of one controller are read. A deployment has one SiteSync, and a Gate for each of its 20 steps.
	maxWitnesses = 64
)

// indexWitnesses lets objects of a kind be found by their controllers.
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

// A witnessReader reads Gates and SiteSyncs from the cache.
type witnessReader struct {
	kube client.Reader
	// hasGates is true once Gates are served, and indexed.
	hasGates atomic.Bool
}

// watchGates lets homes be looked at when a Gate comes to a verdict, and reads Gates from then on. Without that the provider must not look healthy: the function
// leaves the verdicts to it.
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

// gatherWitnesses gathers what may prove something to a home with a mandate. It returns an error if the cache cannot be read.
func (e *external) gatherWitnesses(ctx context.Context, f facts) (mandate.Facts, error) {
	home := e.asRead
	if f.spec.Mandate == nil || home == nil {
		return mandate.Facts{}, nil
	}
	out := mandate.Facts{Home: home, Unobserved: unobservedSites(f.allSiteNames(), f.sites), Delivered: f.deliveredByPath(), Now: f.ledger.now}
	if f.isInState() {
		out.Applied = f.memory.Position
	}
	owner := metav1.GetControllerOfNoCopy(home)
	if owner == nil {
		return out, nil
	}
	gates, syncs := &rolloutv1alpha1.GateList{}, &v1alpha1.SiteSyncList{}
	of := []client.ListOption{
		client.InNamespace(home.GetNamespace()), client.MatchingFields{controllerField: string(owner.UID)}, client.Limit(maxWitnesses), client.UnsafeDisableDeepCopy,
	}
	if err := e.witnesses.kube.List(ctx, syncs, of...); err != nil {
		return out, errors.Wrap(err, "cannot list SiteSyncs")
	}
	if e.witnesses.hasGates.Load() {
		if err := e.witnesses.kube.List(ctx, gates, of...); err != nil {
			return out, errors.Wrap(err, "cannot list Gates")
		}
	}
	out.Gates, out.Syncs = gates.Items, syncs.Items
	return out, nil
}

// isInState is true where the state has the record of the repository.
func (f facts) isInState() bool { return f.memory != nil && !f.rebuilt && !f.memory.Deleted }

// deliveredByPath returns the directories of the branch that were delivered.
func (f facts) deliveredByPath() map[string]v1alpha1.DeliveredTree {
	out := map[string]v1alpha1.DeliveredTree{}
	for _, t := range f.spec.Trees {
		if was, isKnown := f.deliveredTree(t.Branch, t.Path); isKnown {
			out[t.Path] = was.DeliveredTree
		}
	}
	return out
}

// requestsForWitness wakes the home of a deployment with a mandate, for a Gate or a SiteSync of it.
func (w waker) requestsForWitness(ctx context.Context, o client.Object) []reconcile.Request {
	claim := claimOfWitness(o)
	ds, err := usage.OfClaim(ctx, w.kube, claim)
	return w.newRequests(slices.DeleteFunc(ds, func(d v1alpha1.GitDelivery) bool {
		return d.Spec.ForProvider.Mandate == nil || !mandate.IsWitness(o, claim, &d)
	}), err)
}

func claimOfWitness(o client.Object) rolloutv1alpha1.ClaimReference {
	switch o := o.(type) {
	case *rolloutv1alpha1.Gate:
		return o.Spec.ForProvider.ClaimRef
	case *v1alpha1.SiteSync:
		return o.Spec.ForProvider.ClaimRef
	}
	return rolloutv1alpha1.ClaimReference{}
}

// saidOtherThings lets through a Gate or a SiteSync that proves something else than before.
func saidOtherThings() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return statementOf(e.Object) != "" },
		UpdateFunc:  func(e event.UpdateEvent) bool { return statementOf(e.ObjectOld) != statementOf(e.ObjectNew) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// statementOf returns what a Gate or a SiteSync proves, as text: the verdict, or why the Sites of a position are ready or not, and what the tracks of each Site
// are proven to do. It is empty for nothing.
func statementOf(o client.Object) string {
	switch o := o.(type) {
	case *rolloutv1alpha1.Gate:
		return string(evidence.GateVerdict(o))
	case *v1alpha1.SiteSync:
		return statementOfSites(o) + statementOfTracks(o.Status.AtProvider.Sites)
	}
	return ""
}

// statementOfSites returns why the Sites of a position are ready or not. It is empty where the condition is about an earlier generation.
func statementOfSites(s *v1alpha1.SiteSync) string {
	ready := s.GetCondition(xpv2.TypeReady)
	if ready.Reason == "" || ready.ObservedGeneration != s.GetGeneration() {
		return ""
	}
	return fmt.Sprint(s.Status.AtProvider.ObservedPosition(), ready.Status, ready.Reason)
}

// statementOfTracks returns which tracks are proven to be without requests, and of which folders the pods were available: a stage of a rollback ends by that.
func statementOfTracks(sites []v1alpha1.SiteObservation) string {
	out := ""
	for _, o := range sites {
		if o.Traffic == nil {
			continue
		}
		for _, t := range o.Traffic.Tracks {
			out += fmt.Sprintln(o.Name, t.Name, t.Idle, ptr.Deref(t.ProvenAt, ledger.Position{}), t.AvailableTree, ptr.Deref(t.AvailableAt, ledger.Position{}))
		}
	}
	return out
}
