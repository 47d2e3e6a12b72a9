package deployment

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/desired"
)

// TestProviderNotResponding edits a deployment whose provider observes nothing any more.
func TestProviderNotResponding(t *testing.T) {
	cases := map[string]struct {
		reason string
		// after is how long ago the last change was.
		after  time.Duration
		change func(*world)
		want   string
		wait   time.Duration
	}{
		"Soon": {
			reason: "A provider that may still observe the change in time responds, and Crossplane asks again by then.",
			after:  30 * time.Second, want: deploymentv1alpha1.ReasonDelivering, wait: 270 * time.Second,
		},
		"Backlog": {
			reason: "A provider that works off a backlog after its restart responds.",
			after:  4 * time.Minute, want: deploymentv1alpha1.ReasonDelivering, wait: time.Minute,
		},
		"Late": {
			reason: "A provider that has not observed the change in time does not respond.",
			after:  6 * time.Minute, want: deploymentv1alpha1.ReasonProviderNotResponding,
		},
		"Status": {
			reason: "A write to a status does not change the spec.",
			after:  6 * time.Minute, change: func(w *world) { w.stamp(0, "status") }, want: deploymentv1alpha1.ReasonProviderNotResponding,
		},
		"Observed": {
			reason: "A provider that observed the change, and is not done, responds.",
			after:  6 * time.Minute, change: (*world).observeGenerations, want: deploymentv1alpha1.ReasonDelivering,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			w.apply(w.call())
			w.stamp(tc.after, "")
			if tc.change != nil {
				tc.change(w)
			}
			out := w.call()
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeDelivered, corev1.ConditionFalse, tc.want)
			if tc.want == deploymentv1alpha1.ReasonProviderNotResponding {
				w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeReconciling, corev1.ConditionTrue, tc.want)
			}
			if diff := cmp.Diff(tc.wait, out.Wait); diff != "" || out.Dated != (name != "Observed") {
				t.Errorf("\n%s\nRun(...): dated: %t; wait: -want, +got:\n%s", tc.reason, out.Dated, diff)
			}
		})
	}
}

// stamp records in every composed resource that a client wrote it, or a subresource of it, some time ago. No condition is about the new generation.
func (w *world) stamp(ago time.Duration, subresource string) {
	w.t.Helper()
	timestamp := metav1.NewTime(w.in.Now.Add(-ago))
	for _, o := range w.in.Observed {
		if subresource == "" {
			o.SetGeneration(desired.ObservedGeneration(o) + 1)
			for i, fields := 0, o.GetManagedFields(); i < len(fields); i++ {
				fields[i].Time = &timestamp
				o.SetManagedFields(fields)
			}
			continue
		}
		entry := metav1.ManagedFieldsEntry{Manager: "provider", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, Time: &timestamp}
		o.SetManagedFields(append(o.GetManagedFields(), entry))
	}
}

// observeGenerations lets a condition of every composed resource speak of its current generation.
func (w *world) observeGenerations() {
	for _, o := range w.in.Observed {
		o.Object["status"].(map[string]any)["conditions"] = []any{map[string]any{
			"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "observedGeneration": o.GetGeneration(),
		}}
	}
}
