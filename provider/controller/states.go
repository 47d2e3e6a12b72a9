package controller

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// managedLists returns a list of each kind of managed resource.
func managedLists() map[schema.GroupVersionKind]resource.ManagedList {
	return map[schema.GroupVersionKind]resource.ManagedList{
		buildv1alpha1.GroupVersion.WithKind("ImageBuild"):       &buildv1alpha1.ImageBuildList{},
		clusterv1alpha1.GroupVersion.WithKind("ManagedCluster"): &clusterv1alpha1.ManagedClusterList{},
		deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"):   &deliveryv1alpha1.GitDeliveryList{},
		deliveryv1alpha1.GroupVersion.WithKind("SiteSync"):      &deliveryv1alpha1.SiteSyncList{},
		deliveryv1alpha1.GroupVersion.WithKind("SiteHealth"):    &deliveryv1alpha1.SiteHealthList{},
		rolloutv1alpha1.GroupVersion.WithKind("Gate"):           &rolloutv1alpha1.GateList{},
		statev1alpha1.GroupVersion.WithKind("BundleState"):      &statev1alpha1.BundleStateList{},
	}
}

// countStates counts the managed resources of each kind for Crossplane's metrics, once the kind is served.
func countStates(mgr ctrl.Manager, o controller.Options) {
	for kind, list := range managedLists() {
		o.Gate.Register(func() {
			if err := setup.CountStates(mgr, o, list); err != nil {
				// The callback cannot return an error, and metrics that are missing would look like none of the kind.
				panic(errors.Wrapf(err, "cannot count objects of kind %s", kind.Kind))
			}
		}, kind)
	}
}
