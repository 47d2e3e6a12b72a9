package setup

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// observing is an external whose observations end with an error, or with none. Nothing of a deleted object is left.
type observing struct {
	managed.TypedExternalClient[*v1alpha1.Gate]
	err error
}

// Observe returns the error.
func (o observing) Observe(_ context.Context, g *v1alpha1.Gate) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{ResourceExists: !meta.WasDeleted(g), ResourceUpToDate: true}, o.err
}

// Disconnect does nothing.
func (o observing) Disconnect(context.Context) error { return nil }

// TestConflictIsNoFailure reconciles an object with the real managed reconciler, whose result is the same after a failure and after some conflicts. The next
// reconcile after a conflict does not wait for the rate limiter of the queue.
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
		isDeleted  bool
		wantFailed int
		wantSoon   bool
	}{
		"Success":        {reason: "An object that was reconciled did not fail."},
		"Failure":        {reason: "An object that could not be observed failed.", observed: errors.New("no answer"), wantFailed: 1},
		"StatusConflict": {reason: "An object whose status another writer changed did not fail.", funcs: refuseStatus, wantSoon: true},
		"UpdateConflict": {reason: "An object that another writer changed before it got its finalizer did not fail.", funcs: refuseUpdate, wantSoon: true},
		"FinalizerConflict": {
			reason: "A deleted object that another writer changed before it lost its finalizer did not fail.",
			funcs:  refuseUpdate, isDeleted: true, wantSoon: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			g := &v1alpha1.Gate{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "0"}}
			if tc.isDeleted {
				g.DeletionTimestamp, g.Finalizers = new(metav1.Now()), []string{managed.FinalizerName}
			}
			kube := kubefake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(g).WithObjects(g).WithInterceptorFuncs(tc.funcs).Build()
			mgr := NotingConflicts(&rtfake.Manager{Client: kube, Scheme: scheme})
			connect := managed.TypedExternalConnectorFn[*v1alpha1.Gate](func(context.Context, *v1alpha1.Gate) (managed.TypedExternalClient[*v1alpha1.Gate], error) {
				return observing{err: tc.observed}, nil
			})
			r := managed.NewReconciler(mgr, resource.ManagedKind(v1alpha1.GroupVersion.WithKind("Gate")),
				managed.WithTypedExternalConnector[*v1alpha1.Gate](connect), managed.WithInitializers())
			retries := NewRetryShares(retryConflicts(r), 100, time.Now)
			res, err := retries.Reconcile(t.Context(), request("team-a", 0))
			if diff := cmp.Diff(tc.wantFailed, len(retries.failed)); diff != "" || err != nil {
				t.Errorf("\n%s\nReconcile(...): error %v, namespaces with objects that failed: -want, +got:\n%s", tc.reason, err, diff)
			}
			if isSoon := res.RequeueAfter == SoonInterval; isSoon != tc.wantSoon {
				t.Errorf("\n%s\nReconcile(...): got %+v, want another reconcile after %s: %t", tc.reason, res, SoonInterval, tc.wantSoon)
			}
		})
	}
}

// TestControllerNeedsNotes adds a controller to a manager whose client does not note conflicts.
func TestControllerNeedsNotes(t *testing.T) {
	nothing := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
	_, err := AddController(&rtfake.Manager{}, controller.Options{GlobalRateLimiter: NewRate(1)}, Controller{Name: "web", Reconciler: nothing})
	want := "cannot add controller web: the client of its manager does not note conflicts"
	if err == nil || err.Error() != want {
		t.Errorf("\nA controller whose conflicts nothing notes would wait for up to a minute after each.\nAddController(...): want %q, got %v", want, err)
	}
}
