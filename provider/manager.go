package main

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/catalogview"
)

const (
	leaseName = "intentplane-provider"

	// minLease leaves a leader time to renew its lease more than once.
	minLease = 5 * time.Second
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		buildv1alpha1.AddToScheme,
		catalogv1alpha1.AddToScheme,
		clusterv1alpha1.AddToScheme,
		configv1alpha1.AddToScheme,
		deliveryv1alpha1.AddToScheme,
		rolloutv1alpha1.AddToScheme,
		statev1alpha1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return s
}

// managerOptions returns the options of the manager. A leader that cannot renew its lease must stop before another one starts: it gives up
// the renewal when a sixth of the lease is left. A leader that is stopped releases its lease, so that an upgrade does not wait.
func (c *cli) managerOptions() ctrl.Options {
	lease, renew := c.LeaderLease, c.LeaderLease-c.LeaderLease/6
	return ctrl.Options{
		Scheme:                        newScheme(),
		LeaderElection:                c.LeaderElection,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       c.Namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		HealthProbeBindAddress:        c.HealthProbeBindAddress,
		Metrics:                       server.Options{BindAddress: c.MetricsBindAddress},
		Client: client.Options{Cache: &client.CacheOptions{
			// A cached read of one of these kinds would keep all of the cluster's objects in memory.
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}, &corev1.Namespace{}},
		}},
		Cache: cache.Options{
			// No controller reads managedFields, and they take more memory than most of the fields.
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
				&corev1.ConfigMap{}:                         catalogview.CacheOptions(),
			},
		},
	}
}
