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

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
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

// config returns the configuration that a deployment names.
func (d *observedDeployment) config() notification.Config {
	ref := d.Spec.DeliveryConfig.GitOpsRepo
	c := notification.Config{Kind: cmp.Or(ref.Kind, policy.KindClusterProviderConfig), Name: cmp.Or(ref.Name, defaultConfig)}
	if c.Kind == policy.KindProviderConfig {
		c.Namespace = d.Identity.Namespace
	}
	return c
}

// A namedConfig is the configuration that a deployment named, as long as uid and generation are the same.
type namedConfig struct {
	uid        string
	generation int64
	config     notification.Config
}

// noteConfig remembers what a deployment names, or forgets one that does not exist.
func (r *Reconciler) noteConfig(key types.NamespacedName, d *observedDeployment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d == nil {
		delete(r.configs, key)
		return
	}
	r.configs[key] = namedConfig{uid: d.Identity.UID, generation: d.Generation, config: d.config()}
}

// isUnwanted reports whether a deployment is known to name a configuration without receivers, so that its status, which the cache does not have, need not be
// read. It returns an error if the cache cannot be read.
func (r *Reconciler) isUnwanted(ctx context.Context, key types.NamespacedName) (bool, error) {
	r.mu.Lock()
	known, ok := r.configs[key]
	r.mu.Unlock()
	if !ok {
		return false, nil
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(r.gvk)
	if err := r.kube.Get(ctx, key, m); err != nil {
		return false, errors.Wrap(client.IgnoreNotFound(err), "cannot get metadata of deployment")
	}
	if string(m.UID) != known.uid || m.Generation != known.generation {
		return false, nil
	}
	spec, err := r.getConfig(ctx, known.config, key.Namespace)
	return err == nil && (spec == nil || len(spec.Notifications) == 0), err
}

// receiversOf returns the receivers of the configuration that a deployment names. One that does not exist has none.
func (r *Reconciler) receiversOf(ctx context.Context, d *observedDeployment) ([]configv1alpha1.Notification, error) {
	if d == nil {
		return nil, nil
	}
	spec, err := r.getConfig(ctx, d.config(), d.Identity.Namespace)
	if err != nil || spec == nil {
		return nil, err
	}
	return spec.Notifications, nil
}
