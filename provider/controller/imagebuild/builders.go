package imagebuild

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	rtcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
)

// rightsInterval is how often it is looked whether the provider may list the builders of kpack, where it may not: nothing says when a right is granted.
const rightsInterval = 30 * time.Second

// hiddenBuilders describes the effect of that missing right on the provider, and the remedy.
const hiddenBuilders = "the provider may not list the builders of kpack, and does not notice that one is corrected under its own name: apply examples/builds/rbac.yaml"

// builderView is how the provider sees the builders of kpack.
type builderView struct {
	// reader has them. Nil without the right to list them.
	reader client.Reader
}

// areBuildersHidden reports whether the provider may not list builders. A view that is not there yet hides nothing.
func (v *builderView) areBuildersHidden() bool { return v != nil && v.reader == nil }

// watchBuilders watches the builders of kpack, so that a Build that failed is made again once its builder is another one. Without the right
// to list them all else goes on, and ImageBuilds whose Build failed name the missing right, until it is granted.
func (c *connector) watchBuilders(mgr manager.Manager, controller rtcontroller.Controller, w waker) {
	ctx := context.Background()
	_ = wait.PollUntilContextCancel(ctx, rightsInterval, true, func(context.Context) (bool, error) {
		mayList := awaitSuccess(w.log, func() (bool, error) { return c.mayListBuilders(ctx) })
		if !mayList && !c.builders.Load().areBuildersHidden() {
			w.log.Info("Cannot watch the builders of kpack", "problem", hiddenBuilders)
			c.showBuilders(ctx, w, &builderView{})
		}
		return mayList, nil
	})
	builderCache := awaitKindCache(mgr, w, cache.Options{DefaultTransform: trimBuilder}, kpack.BuilderKinds()...)
	if builderCache == nil {
		return
	}
	watchKpackKinds(controller, w, builderCache, w.requestsForBuilder, []predicate.TypedPredicate[*unstructured.Unstructured]{builderChanged()}, kpack.BuilderKinds()...)
	c.showBuilders(ctx, w, &builderView{reader: builderCache})
}

// showBuilders lets reconciles use a view, and wakes ImageBuilds with a failed Build.
func (c *connector) showBuilders(ctx context.Context, w waker, v *builderView) {
	c.builders.Store(v)
	for _, r := range w.requestsFor(ctx, failedBuild) {
		c.wake(r.NamespacedName)
	}
}

// mayListBuilders reports whether the provider may list the builders of kpack. It returns an error if the API server does not say.
func (c *connector) mayListBuilders(ctx context.Context) (bool, error) {
	for _, kind := range kpack.BuilderKinds() {
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(kind.GroupVersion().String())
		l.SetKind(kind.Kind + "List")
		err := c.live.List(ctx, l, client.Limit(1))
		if kerrors.IsForbidden(err) {
			return false, nil
		}
		if err != nil {
			return false, errors.Wrapf(err, "cannot list %ss of kpack", kind.Kind)
		}
	}
	return true, nil
}

// trimBuilder drops unused fields of a builder from the cache.
func trimBuilder(o any) (any, error) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		return kpack.TrimBuilder(u), nil
	}
	return o, nil
}

// builderChanged lets through the builders whose image is another one.
func builderChanged() predicate.TypedPredicate[*unstructured.Unstructured] {
	return predicate.TypedFuncs[*unstructured.Unstructured]{UpdateFunc: func(e event.TypedUpdateEvent[*unstructured.Unstructured]) bool {
		return kpack.BuilderImageOf(e.ObjectOld) != kpack.BuilderImageOf(e.ObjectNew)
	}}
}

// requestsForBuilder returns the ImageBuilds whose Build failed, and may have failed because of a builder. A ClusterBuilder is for all namespaces.
func (w waker) requestsForBuilder(ctx context.Context, u *unstructured.Unstructured) []ctrl.Request {
	return w.requestsFor(ctx, failedBuild, client.InNamespace(u.GetNamespace()))
}

// readBuilder reads which image the builder of a Build that failed has now. Without it the builder counts as unchanged since the Build.
func (e *external) readBuilder(ctx context.Context, f *facts) error {
	v := e.builders.Load()
	f.hidesBuilders = v.areBuildersHidden()
	if v == nil || v.reader == nil || !f.hasFailedBuild() {
		return nil
	}
	key := client.ObjectKey{Name: string(f.plan.Builder.Name)}
	if f.plan.Builder.Kind != v1alpha1.KindClusterBuilder {
		key.Namespace = f.plan.Namespace
	}
	u, err := readKpackObject(ctx, v.reader, kpack.BuilderKind(f.plan.Builder.Kind), key)
	f.builderImage = kpack.BuilderImageOf(u)
	return err
}
