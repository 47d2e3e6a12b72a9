package setup

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func named(name string) types.NamespacedName { return types.NamespacedName{Namespace: "a", Name: name} }

func TestInterval(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason      string
		due         time.Time
		least, most time.Duration
	}{
		"Never": {reason: "Without a due time, the next reconcile is one interval away, give or take a tenth.", least: 54 * time.Second, most: 66 * time.Second},
		"Soon":  {reason: "A due time before the end of the interval is kept.", due: now.Add(time.Second), least: time.Second, most: time.Second},
		"Late": {
			reason: "A request that is due after the interval waits for the interval.",
			due:    now.Add(time.Hour), least: 54 * time.Second, most: 66 * time.Second,
		},
		"Past": {reason: "An overdue request is due now.", due: now.Add(-time.Hour), least: time.Millisecond, most: time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Interval(time.Minute, tc.due, now); got < tc.least || got > tc.most {
				t.Errorf("\n%s\nInterval(...): want %s to %s, got %s", tc.reason, tc.least, tc.most, got)
			}
		})
	}
}

func TestForgetful(t *testing.T) {
	cases := map[string]struct {
		reason string
		name   string
		want   string
		fails  bool
	}{
		"There":   {reason: "An object that exists is reconciled and not forgotten.", name: "there", want: "reconciled there"},
		"Gone":    {reason: "An object that does not exist is forgotten and not reconciled.", name: "gone", want: "forgot gone"},
		"Unknown": {reason: "An object that could not be read is neither reconciled nor forgotten.", name: "unknown", fails: true},
	}
	existing := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "there"}}
	kube := kubefake.NewClientBuilder().WithObjects(existing).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if key.Name == "unknown" {
				return errors.New("no answer")
			}
			return c.Get(ctx, key, o, opts...)
		},
	}).Build()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			f := &Forgetful{
				Kube: kube, New: func() client.Object { return &corev1.ConfigMap{} }, Forget: func(key types.NamespacedName) { got += "forgot " + key.Name },
				Reconciler: reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
					got += "reconciled " + r.Name
					return reconcile.Result{}, nil
				}),
			}
			if _, err := f.Reconcile(t.Context(), reconcile.Request{NamespacedName: named(tc.name)}); (err != nil) != tc.fails {
				t.Errorf("\n%s\nReconcile(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nReconcile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
