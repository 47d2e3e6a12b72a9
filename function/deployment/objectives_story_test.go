package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// measured lets the Blueprint measure a latency, and the Sites be asked for it.
func (w *world) measured() {
	w.t.Helper()
	metric := map[string]any{"name": "latency_p99", "query": `p99{site="{{site}}"}`, "unit": "s", "direction": "AtMost"}
	w.set("Blueprint", "web-1.0.0", []any{metric}, "spec", "metrics")
	for _, site := range []string{"edge1", "edge2"} {
		w.set("Site", site, "http://prometheus", "spec", "metrics", "prometheus", "address")
	}
}

func TestObjectivesInIntent(t *testing.T) {
	w := newWorld(t)
	w.measured()
	w.say("Deploy shop on edge1 and edge2, p99 latency under 500 ms")
	out := w.settle()
	w.wantCondition("Without a verdict nothing is validated.", out, deploymentv1alpha1.TypeValidated, corev1.ConditionUnknown, deploymentv1alpha1.ReasonMeasuring)
	understood := `{"service":"shop","sites":["edge1","edge2"],"slos":{"latency_p99":"< 500ms"}}`
	if diff := cmp.Diff(understood, out.Status.Understood); diff != "" {
		t.Errorf("status.understood: -want, +got:\n%s", diff)
	}
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"availability": "99%"}
	out = w.call()
	w.wantCondition("A metric without a query cannot be judged.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonInvalidSpec)
	w.wantFrozen("The started revision goes on.", out)
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": "1s"}
	out = w.call()
	w.wantCondition("One metric with two values cannot be judged.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonInvalidIntent)
	w.wantFrozen("The started revision goes on.", out)
}
