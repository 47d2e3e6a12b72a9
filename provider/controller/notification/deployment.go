package notification

import (
	"cmp"
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
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

	// Identity of the deployment, and Generation of its spec. They are a part of neither.
	Identity   notification.Deployment `json:"-"`
	Generation int64                   `json:"-"`
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
	d.Generation = u.GetGeneration()
	d.Identity = notification.Deployment{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()),
	}
	return d, errors.Wrap(err, "cannot read deployment")
}

// namedConfig returns the configuration that a deployment names.
func (d *observedDeployment) namedConfig() notification.Config {
	ref := d.Spec.DeliveryConfig.GitOpsRepo
	c := notification.Config{Kind: cmp.Or(ref.Kind, policy.KindClusterProviderConfig), Name: cmp.Or(ref.Name, defaultConfig)}
	if c.Kind == policy.KindProviderConfig {
		c.Namespace = d.Identity.Namespace
	}
	return c
}

// mayHaveReceivers reports whether a deployment may name a configuration with receivers. A deployment whose configuration is known to have no
// receivers need not be read: the cache does not have its status. It returns an error if the cache cannot be read.
func (r *Reconciler) mayHaveReceivers(ctx context.Context, key types.NamespacedName, recorded *note) (bool, error) {
	wanted, err := r.hasReceivers(ctx, key.Namespace)
	if err != nil {
		return false, err
	}
	if !wanted {
		r.countPending(recorded, 0)
		r.notes.forgetDeployment(key)
		return false, nil
	}
	if recorded.uid == "" {
		return true, nil
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(r.gvk)
	if err := r.kube.Get(ctx, key, m); err != nil {
		return true, errors.Wrap(client.IgnoreNotFound(err), "cannot get metadata of deployment")
	}
	if string(m.UID) != recorded.uid || m.Generation != recorded.generation {
		return true, nil
	}
	spec, err := r.getAllowedConfig(ctx, recorded.config, key.Namespace)
	if err != nil || spec != nil && len(spec.Notifications) > 0 {
		return true, err
	}
	r.countPending(recorded, 0)
	return false, nil
}

// newReceiverTurns returns a turn for each receiver of a deployment's configuration, and whether the configuration exists and is allowed.
func (r *Reconciler) newReceiverTurns(ctx context.Context, d *observedDeployment) (out []*turn, exists bool, err error) {
	config := d.namedConfig()
	spec, err := r.getAllowedConfig(ctx, config, d.Identity.Namespace)
	if err != nil || spec == nil {
		return nil, false, err
	}
	for i, id := range config.Receivers(spec.Notifications) {
		out = append(out, &turn{id: id, config: config, receiver: &spec.Notifications[i], controlPlane: spec.ControlPlane, ended: map[string]bool{}})
	}
	return out, true, nil
}
