// Package site maintains a label on Sites by which the function selects the Sites that a namespace may use.
package site

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// Setup adds the controller of Sites to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: "site", Reconciler: &Reconciler{kube: mgr.GetClient()}, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder { return b.For(&catalogv1alpha1.Site{}) },
	})
	return err
}

// A Reconciler keeps catalogv1alpha1.LabelUsableFrom equal to spec.allowedNamespaces of the Site. It changes nothing else.
type Reconciler struct {
	kube client.Client
}

// Reconcile one Site. It returns an error if the Site cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	s := &catalogv1alpha1.Site{}
	if err := r.kube.Get(ctx, req.NamespacedName, s); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get Site")
	}
	original := s.DeepCopy()
	if meta.WasDeleted(s) || !s.SetUsableFrom() {
		return reconcile.Result{}, nil
	}
	// The version makes sure that the label follows from the namespaces that are allowed now.
	err := r.kube.Patch(ctx, s, client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}))
	if kerrors.IsConflict(err) {
		return reconcile.Result{}, nil // The change that the cache does not have yet enqueues the Site again.
	}
	return reconcile.Result{}, errors.Wrapf(client.IgnoreNotFound(err), "cannot label Site %q", s.GetName())
}
