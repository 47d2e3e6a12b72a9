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

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	leaseName = "intentplane-provider"

	// minLease leaves room for a leader that tries to renew it more than once.
	minLease = 5 * time.Second
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		catalogv1alpha1.AddToScheme,
		configv1alpha1.AddToScheme,
		deliveryv1alpha1.AddToScheme,
		rolloutv1alpha1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	return s
}

// options of the manager. A leader that cannot renew its lease must stop before another one starts: the renewal is given up when a sixth
// of the lease is left. A leader that is asked to stop gives its lease back, so an upgrade does not wait.
func (c *cli) options() ctrl.Options {
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
			// To read one of these through the cache is to keep all of the cluster's in memory.
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.Namespace{}},
		}},
		Cache: cache.Options{
			// Nobody here asks who set which field, and that takes more memory than most of what is set.
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
			},
		},
	}
}
