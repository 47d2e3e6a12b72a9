package setup

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	rtfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// observing is an external whose observations end with an error, or with none.
type observing struct {
	managed.TypedExternalClient[*v1alpha1.Gate]
	err error
}

// Observe returns the error.
func (o observing) Observe(context.Context, *v1alpha1.Gate) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, o.err
}

// Disconnect does nothing.
func (o observing) Disconnect(context.Context) error { return nil }

// TestConflictIsNoFailure reconciles an object with the real managed reconciler, whose result is the same after a failure and after some conflicts.
func TestConflictIsNoFailure(t *testing.T) {
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "gates"}, "web", errors.New("it was changed"))
	refuseUpdate := interceptor.Funcs{Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return conflict }}
	refuseStatus := interceptor.Funcs{SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
		return conflict
	}}
	cases := map[string]struct {
		reason     string
		funcs      interceptor.Funcs
		observed   error
		wantFailed int
	}{
		"Success":        {reason: "An object that was reconciled did not fail."},
		"Failure":        {reason: "An object that could not be observed failed.", observed: errors.New("no answer"), wantFailed: 1},
		"StatusConflict": {reason: "An object whose status another writer changed did not fail.", funcs: refuseStatus},
		"UpdateConflict": {reason: "An object that another writer changed before it got its finalizer did not fail.", funcs: refuseUpdate},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			g := &v1alpha1.Gate{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "0"}}
			kube := kubefake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(g).WithObjects(g).WithInterceptorFuncs(tc.funcs).Build()
			mgr := NotingConflicts(&rtfake.Manager{Client: kube, Scheme: scheme})
			connect := managed.TypedExternalConnectorFn[*v1alpha1.Gate](func(context.Context, *v1alpha1.Gate) (managed.TypedExternalClient[*v1alpha1.Gate], error) {
				return observing{err: tc.observed}, nil
			})
			r := managed.NewReconciler(mgr, resource.ManagedKind(v1alpha1.GroupVersion.WithKind("Gate")),
				managed.WithTypedExternalConnector[*v1alpha1.Gate](connect), managed.WithInitializers())
			retries := NewRetryShares(r, 100, time.Now)
			_, _ = retries.Reconcile(t.Context(), request("team-a", 0))
			if diff := cmp.Diff(tc.wantFailed, len(retries.failed)); diff != "" {
				t.Errorf("%s\nnamespaces with objects that failed: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
