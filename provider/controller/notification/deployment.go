package notification

import (
	"cmp"
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/notification"
)

// defaultConfig is the name of the configuration of a deployment that names none.
const defaultConfig = "default"

// observedDeployment holds the fields that are read from a deployment.
type observedDeployment struct {
	Spec struct {
		DeliveryConfig struct {
			GitOpsRepo deploymentv1alpha1.ConfigReference `json:"gitOpsRepo"`
		} `json:"deliveryConfig"`
	} `json:"spec"`
	Status notification.Status `json:"status"`

	// Identity of the deployment. It is a part of neither.
	Identity notification.Deployment `json:"-"`
}

// getDeployment returns a deployment, or nil if it does not exist. It returns an error if it cannot be read.
func (r *Reconciler) getDeployment(ctx context.Context, key types.NamespacedName) (*observedDeployment, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	err := r.kube.Get(ctx, key, u)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // This means that the deployment does not exist.
	}
	if err != nil {
		return nil, errors.Wrap(err, "cannot get deployment")
	}
	d := &observedDeployment{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d)
	d.Identity = notification.Deployment{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()),
	}
	return d, errors.Wrap(err, "cannot read deployment")
}

// config returns the configuration that a deployment names.
func (d *observedDeployment) config() notification.Config {
	ref := d.Spec.DeliveryConfig.GitOpsRepo
	c := notification.Config{Kind: cmp.Or(ref.Kind, policy.KindClusterProviderConfig), Name: cmp.Or(ref.Name, defaultConfig)}
	if c.Kind == policy.KindProviderConfig {
		c.Namespace = d.Identity.Namespace
	}
	return c
}

// ledgerOf returns the newest state of a deployment's ledger that its GitDeliveries have. It returns an error if they cannot be listed.
func (r *Reconciler) ledgerOf(ctx context.Context, d notification.Deployment) (*ledger.State, error) {
	l := &deliveryv1alpha1.GitDeliveryList{}
	if err := r.kube.List(ctx, l, client.InNamespace(d.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, errors.Wrap(err, "cannot list GitDeliveries")
	}
	newest := &ledger.State{}
	for i := range l.Items {
		of := l.Items[i].Spec.ForProvider.ClaimRef
		if of.APIGroup != r.gvk.Group || of.Name != d.Name {
			continue
		}
		for _, s := range []*ledger.State{l.Items[i].Status.AtProvider.Ledger, l.Items[i].Spec.ForProvider.Copy} {
			if s != nil && s.Compare(newest.Head) > 0 {
				newest = s
			}
		}
	}
	return newest, nil
}
