package gitdelivery

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestNamespacedConfigIsGuarded delivers by the same server once for an administrator, and once for a namespace.
func TestNamespacedConfigIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guarded = true
	w.create(w.first())
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)

	w.must(w.kube.Create(w.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}, Spec: w.config().Spec}))
	d := delivery("near", order(1, "a"), desired(t, "edge2", webAtE2, "a"))
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	w.create(d)
	_ = w.try("near") // It is in the condition.
	w.expect("near", v1alpha1.ReasonPolicyDenied)
	if m := w.get("near").GetCondition(xpv2.TypeReady).Message; strings.Contains(m, "127.0.0.1") || !strings.Contains(m, "may not reach") {
		t.Errorf("The condition says that the address is refused, and nothing of what is there.\nmessage: %s", m)
	}
}
