package gate

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// openField finds Gates without a verdict, which are all that a change of something else can concern.
const openField = "intentplane.gate.open"

func index(ctx context.Context, i client.FieldIndexer) error {
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.Gate{}, openField, open), "cannot index Gates without a verdict")
}

func open(o client.Object) []string {
	if g, ok := o.(*v1alpha1.Gate); ok && g.Status.AtProvider.Verdict == "" {
		return []string{"true"}
	}
	return nil
}

// A waker finds the Gates that a change of something else concerns. What it cannot find is looked at anyway, an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) list(ctx context.Context, keep func(*v1alpha1.Gate) bool, o ...client.ListOption) []reconcile.Request {
	l := &v1alpha1.GateList{}
	if err := w.kube.List(ctx, l, append(o, client.MatchingFields{openField: "true"})...); err != nil {
		w.log.Info("Cannot list Gates", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		if keep(&l.Items[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return out
}

// sync wakes those that name it, and of its claim those that name none.
func (w waker) sync(ctx context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*deliveryv1alpha1.SiteSync)
	if !ok {
		return nil
	}
	return w.list(ctx, func(g *v1alpha1.Gate) bool {
		if ref := g.Spec.ForProvider.SiteSyncRef; ref != nil {
			return ref.Name == s.GetName()
		}
		return sameClaim(s.Spec.ForProvider.ClaimRef, g.Spec.ForProvider.ClaimRef)
	}, client.InNamespace(o.GetNamespace()))
}

// delivery wakes those of the same claim.
func (w waker) delivery(ctx context.Context, o client.Object) []reconcile.Request {
	d, ok := o.(*deliveryv1alpha1.GitDelivery)
	if !ok {
		return nil
	}
	return w.list(ctx, func(g *v1alpha1.Gate) bool {
		return sameClaim(d.Spec.ForProvider.ClaimRef, g.Spec.ForProvider.ClaimRef)
	}, client.InNamespace(o.GetNamespace()))
}

func (w waker) site(ctx context.Context, o client.Object) []reconcile.Request {
	return w.list(ctx, func(g *v1alpha1.Gate) bool {
		for _, c := range g.Spec.ForProvider.Checks {
			if c.Site == o.GetName() {
				return true
			}
		}
		return false
	})
}

// config wakes those that name a configuration. One of the cluster has no namespace, and wakes in all of them.
func (w waker) config(ctx context.Context, o client.Object) []reconcile.Request {
	return w.list(ctx, func(g *v1alpha1.Gate) bool {
		return slices.ContainsFunc(g.Spec.ForProvider.Checks, func(c v1alpha1.GateCheck) bool {
			ref := g.ConfigOf(c)
			return ref != nil && ref.Name == o.GetName()
		})
	}, client.InNamespace(o.GetNamespace()))
}

// forgot lets through a status that lost its memory.
func forgot() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*v1alpha1.Gate)
		after, ok2 := e.ObjectNew.(*v1alpha1.Gate)
		return ok && ok2 && before.Status.AtProvider.Order != nil && after.Status.AtProvider.Order == nil
	}}
}
