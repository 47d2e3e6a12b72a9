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

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// Setup adds the controllers to the manager, each once the kind that it follows is served, which may be never. Without a Tracer no traces are exported.
func Setup(mgr ctrl.Manager, o controller.Options, m *telemetry.Metrics, t Tracer) {
	for _, group := range []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced} {
		deployments := schema.GroupVersionKind{Group: group, Version: deploymentv1alpha1.Version, Kind: deploymentv1alpha1.Kind}
		o.Gate.Register(func() { panicOnError(addReconciler(mgr, o, m, m, t, deployments)) }, deployments)
		clusters := schema.GroupVersionKind{Group: group, Version: workloadclusterv1alpha1.Version, Kind: workloadclusterv1alpha1.Kind}
		o.Gate.Register(func() { panicOnError(addReconciler(mgr, o, m, m.Clusters(), nil, clusters)) }, clusters)
		applications := schema.GroupVersionKind{Group: group, Version: applicationv1alpha1.Version, Kind: applicationv1alpha1.Kind}
		o.Gate.Register(func() { panicOnError(addReconciler(mgr, o, m, m.Applications(), nil, applications)) }, applications)
		bundles := schema.GroupVersionKind{Group: group, Version: bundlev1alpha1.Version, Kind: bundlev1alpha1.Kind}
		o.Gate.Register(func() { panicOnError(addReconciler(mgr, o, m, m.Bundles(), nil, bundles)) }, bundles)
	}
	o.Gate.Register(func() { panicOnError(addSiteReconciler(mgr, o, m)) }, deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
}

// panicOnError stops a provider that would report no transitions although it looks healthy. The callback cannot return an error.
func panicOnError(err error) {
	if err != nil {
		panic(errors.Wrap(err, "cannot set up telemetry"))
	}
}

// addReconciler adds a controller for the objects of one kind. The cache holds metadata only.
func addReconciler(mgr ctrl.Manager, o controller.Options, m *telemetry.Metrics, changes Counter, t Tracer, gvk schema.GroupVersionKind) error {
	name := "transition/" + gvk.GroupKind().String()
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(gvk)
	r := &Reconciler{
		kube: mgr.GetClient(), gvk: gvk, changes: changes, metrics: m, tracer: t, now: time.Now,
		log: o.Logger.WithValues("controller", name), logs: map[types.NamespacedName]*phaseLog{},
	}
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: r, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder { return b.For(partial, builder.OnlyMetadata) },
	})
	return err
}

func addSiteReconciler(mgr ctrl.Manager, o controller.Options, m *telemetry.Metrics) error {
	r := &SiteReconciler{kube: mgr.GetClient(), metrics: m, since: time.Now(), measured: map[types.NamespacedName]map[string]time.Time{}}
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: "transition/sites", Reconciler: r, IsCheap: true,
		Watch: func(b *builder.Builder) *builder.Builder { return b.For(&deliveryv1alpha1.SiteSync{}) },
	})
	return err
}
