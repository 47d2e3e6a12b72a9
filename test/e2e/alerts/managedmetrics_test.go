package alerts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestManagedResourceMetrics compares Crossplane's metrics of managed resources, as a real Prometheus server scraped them of the running provider, with the objects. No
// other test runs, and the Gate of the deployment rejects its revision, so that it is never ready. The provider counts at its start, and then once a minute.
func TestManagedResourceMetrics(t *testing.T) {
	s := newAlertStage(t)
	s.shop.Set(scene.ErrorRatio, scene.BadRatio)
	s.Apply(s.deployment)
	s.Await(s.deployment, "failed", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Failed" })
	cp.KillProvider()
	s.Must(cp.StartProvider(t.Context(), controlplane.Program{}))
	for _, kind := range []schema.GroupVersionKind{deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"), rolloutv1alpha1.GroupVersion.WithKind("Gate")} {
		want, got := managedCounts{}, managedCounts{}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s: -objects, +scraped:\n%s", kind.Kind, cmp.Diff(want, got))
			}
		})
		s.Until(kind.Kind+": the metrics count the objects", patience.Limit, func() bool {
			want, got = s.countObjects(kind), s.scrapedCounts(kind)
			return want.Exists > 0 && cmp.Equal(want, got)
		})
		t.Logf("%s: %+v", kind.Kind, got)
		if isGate := kind.Kind == "Gate"; isGate && want.Ready == want.Exists {
			t.Errorf("a Gate that rejected its revision is Ready: %+v", want)
		}
	}
}
