// Package blueprint labels the Blueprints whose names the function can suggest.
package blueprint

import (
	"context"
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
)

// Setup adds the controller of Blueprints to a manager. It returns an error if it cannot be added. The cache holds metadata alone: a catalog
// of large Blueprints would fill the memory of the provider, which reads each of them once.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: "blueprint", Reconciler: &Reconciler{kube: mgr.GetClient(), live: mgr.GetAPIReader()}, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&catalogv1alpha1.Blueprint{}, builder.OnlyMetadata)
		},
	})
	return err
}

// A Reconciler keeps catalogv1alpha1.LabelListed on Blueprints that are small enough, as long as there are not too many. It changes nothing else.
type Reconciler struct {
	// kube reads metadata from the cache, and live Blueprints from the API server.
	kube client.Client
	live client.Reader
}

// Reconcile one Blueprint. It returns an error if the Blueprint cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	b := &catalogv1alpha1.Blueprint{}
	if err := r.live.Get(ctx, req.NamespacedName, b); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get Blueprint")
	}
	if meta.WasDeleted(b) {
		return reconcile.Result{}, nil
	}
	listed, err := r.shouldBeListed(ctx, b)
	if err != nil {
		return reconcile.Result{}, err
	}
	if _, isListed := b.GetLabels()[catalogv1alpha1.LabelListed]; isListed == listed {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.setListedLabel(ctx, b, listed)
}

// shouldBeListed reports whether a Blueprint is small enough, and has the label already or there is room for it.
func (r *Reconciler) shouldBeListed(ctx context.Context, b *catalogv1alpha1.Blueprint) (bool, error) {
	raw, err := json.Marshal(b)
	if err != nil {
		return false, errors.Wrapf(err, "cannot encode Blueprint %q", b.GetName())
	}
	if len(raw) > catalogv1alpha1.MaxListedBytes {
		return false, nil
	}
	if _, isListed := b.GetLabels()[catalogv1alpha1.LabelListed]; isListed {
		return true, nil
	}
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(catalogv1alpha1.GroupVersion.WithKind("BlueprintList"))
	if err := listing.Cached(ctx, r.kube, all, client.HasLabels{catalogv1alpha1.LabelListed}); err != nil {
		return false, errors.Wrap(err, "cannot list Blueprints")
	}
	return len(all.Items) < catalogv1alpha1.MaxListed, nil
}

func (r *Reconciler) setListedLabel(ctx context.Context, b *catalogv1alpha1.Blueprint, listed bool) error {
	original := b.DeepCopy()
	meta.RemoveLabels(b, catalogv1alpha1.LabelListed)
	if listed {
		meta.AddLabels(b, map[string]string{catalogv1alpha1.LabelListed: catalogv1alpha1.ListedTrue})
	}
	return errors.Wrapf(client.IgnoreNotFound(r.kube.Patch(ctx, b, client.MergeFrom(original))), "cannot label Blueprint %q", b.GetName())
}
