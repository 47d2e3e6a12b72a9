package transition

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// Setup adds the controllers to the manager, each once the kind that it follows is served: a shape of deployments may never be.
func Setup(mgr ctrl.Manager, o controller.Options, m *telemetry.Metrics) {
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		gvk := schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
		o.Gate.Register(func() { must(deployments(mgr, o, m, gvk)) }, gvk)
	}
	o.Gate.Register(func() { must(sites(mgr, o, m)) }, deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
}

// must stop a provider that would tell nothing and look healthy. There is nobody to return the error to.
func must(err error) {
	if err != nil {
		panic(errors.Wrap(err, "cannot set up telemetry"))
	}
}

// deployments of one shape. Only who they are is kept in memory.
func deployments(mgr ctrl.Manager, o controller.Options, m *telemetry.Metrics, gvk schema.GroupVersionKind) error {
	name := "transition/" + gvk.GroupKind().String()
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(gvk)
	r := &Reconciler{
		kube: mgr.GetClient(), gvk: gvk, metrics: m, now: time.Now,
		log: o.Logger.WithValues("controller", name), stories: map[types.NamespacedName]*story{},
	}
	return ctrl.NewControllerManagedBy(mgr).Named(name).WithOptions(o.ForControllerRuntime()).For(partial, builder.OnlyMetadata).Complete(r)
}

func sites(mgr ctrl.Manager, o controller.Options, m *telemetry.Metrics) error {
	r := &SiteReconciler{kube: mgr.GetClient(), metrics: m, begun: map[types.NamespacedName]map[string]time.Time{}}
	return ctrl.NewControllerManagedBy(mgr).Named("transition/sites").WithOptions(o.ForControllerRuntime()).For(&deliveryv1alpha1.SiteSync{}).Complete(r)
}
