package setup

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	"github.com/crossplane/crossplane-runtime/v2/pkg/test"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A tracked object says which request to reconcile was answered last.
type tracked struct {
	fake.Managed

	answered string
}

func (o *tracked) GetLastHandledReconcileAt() string { return o.answered }

// TestQuickLookOnRequest has a user who asks for a reconcile.
func TestQuickLookOnRequest(t *testing.T) {
	cases := map[string]struct {
		reason   string
		answered string
		// full is true where the object is reconciled in full, and its clusters are asked again.
		full bool
	}{
		"Asked":    {reason: "An object that was asked to reconcile is not answered from a quick look.", answered: "before", full: true},
		"Answered": {reason: "A request is answered once.", answered: "now"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			full, triedAgain := false, false
			q := &QuickLook[*tracked]{
				Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					full = true
					return reconcile.Result{}, nil
				}),
				Kube: &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
					f := o.(*tracked)
					f.answered = tc.answered
					f.SetConditions(xpv2.ReconcileSuccess())
					meta.AddAnnotations(f, map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"})
					return nil
				}},
				New: func() *tracked { return &tracked{} }, Interval: time.Hour, Now: time.Now,
				ReconciledAt: func(*tracked) time.Time { return time.Now() },
				IsUnchanged:  func(context.Context, *tracked) bool { return true },
				TryAgain:     func(types.NamespacedName) { triedAgain = true },
				NextLook:     func(resource.Managed, time.Duration) time.Duration { return time.Minute },
			}
			if _, err := q.Reconcile(t.Context(), reconcile.Request{}); err != nil || full != tc.full || triedAgain != tc.full {
				t.Errorf("\n%s\nReconcile(...): reconciled in full: %t, clusters asked again: %t, error %v", tc.reason, full, triedAgain, err)
			}
		})
	}
}

func TestQuickLook(t *testing.T) {
	now := time.Unix(1000000, 0)
	cases := map[string]struct {
		reason       string
		change       func(o *fake.Managed)
		missing      bool
		reconciledAt time.Time
		changed      bool
		waits        bool
		// full is true where the object is reconciled in full.
		full bool
	}{
		"Enough":     {reason: "A settled object of which nothing changed is not reconciled in full.", reconciledAt: now},
		"Changed":    {reason: "An object with something to write is reconciled in full.", reconciledAt: now, changed: true, full: true},
		"First":      {reason: "An object that this process never reconciled is reconciled in full.", full: true},
		"Interval":   {reason: "An object is reconciled in full once per interval.", reconciledAt: now.Add(-time.Hour), full: true},
		"Unreadable": {reason: "An object that cannot be read is left to the full reconciler.", reconciledAt: now, missing: true, full: true},
		"Generation": {reason: "An object with a new spec is reconciled in full.", reconciledAt: now, change: func(o *fake.Managed) { o.Generation = 2 }, full: true},
		"Waits":      {reason: "A new spec of which nothing is to be written yet waits.", waits: true, change: func(o *fake.Managed) { o.Generation = 2 }},
		"WaitsNot": {
			reason: "An object whose last reconcile failed does not wait.",
			waits:  true, change: func(o *fake.Managed) { o.SetConditions(xpv2.ReconcileError(errors.New("x"))) }, full: true,
		},
		"WaitsGone": {
			reason: "A deleted object does not wait.",
			waits:  true, change: func(o *fake.Managed) { o.Generation, o.DeletionTimestamp = 2, &metav1.Time{Time: now} }, full: true,
		},
		"Failed": {
			reason:       "An object whose last reconcile failed is reconciled in full.",
			reconciledAt: now, change: func(o *fake.Managed) { o.SetConditions(xpv2.ReconcileError(errors.New("x"))) }, full: true,
		},
		"Deleted": {
			reason:       "An object that is deleted is reconciled in full.",
			reconciledAt: now, change: func(o *fake.Managed) { o.DeletionTimestamp = &metav1.Time{Time: now} }, full: true,
		},
		"Paused": {reason: "The full reconciler says that a paused object is paused.", reconciledAt: now, change: func(o *fake.Managed) {
			meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		}, full: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			full := false
			q := &QuickLook[*fake.Managed]{
				Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
					full = true
					return reconcile.Result{}, nil
				}),
				Kube: &test.MockClient{MockGet: func(_ context.Context, _ client.ObjectKey, o client.Object) error {
					if tc.missing {
						return errors.New("boom")
					}
					f := o.(*fake.Managed)
					f.Generation = 1
					f.SetConditions(xpv2.ReconcileSuccess().WithObservedGeneration(1))
					if tc.change != nil {
						tc.change(f)
					}
					return nil
				}},
				New: func() *fake.Managed { return &fake.Managed{} }, Interval: time.Hour, Now: func() time.Time { return now },
				ReconciledAt: func(*fake.Managed) time.Time { return tc.reconciledAt },
				IsUnchanged:  func(context.Context, *fake.Managed) bool { return !tc.changed },
				MayWait:      func(context.Context, *fake.Managed) bool { return tc.waits },
				NextLook:     func(resource.Managed, time.Duration) time.Duration { return time.Minute },
			}
			got, err := q.Reconcile(t.Context(), reconcile.Request{})
			want := reconcile.Result{RequeueAfter: time.Minute}
			if tc.full {
				want = reconcile.Result{}
			}
			if diff := cmp.Diff(want, got); diff != "" || full != tc.full || err != nil {
				t.Errorf("%s\nReconcile(...): reconciled in full: %t, error %v, -want, +got:\n%s", tc.reason, full, err, diff)
			}
		})
	}
}
