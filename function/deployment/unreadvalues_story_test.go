package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/phase"
)

// TestUnreadValue sets a value that the quickstart's Blueprint does not read, in an intent that is delivered already.
func TestUnreadValue(t *testing.T) {
	const message = `spec.intent: endpoints[http].port, qos.latencyMs: Blueprint "web-1.0.0" does not read this value, ` +
		"so it would have no effect: leave it out, or choose a Blueprint that reads it"
	w := newWorld(t)
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2, "qos": {"latencyMs": 5}, "endpoints": [{"name": "http", "port": 8080}]}`)
	out := w.call()
	want := phase.Condition{
		Type: deploymentv1alpha1.TypeValid, Status: corev1.ConditionFalse, Reason: deploymentv1alpha1.ReasonNotSupportedByBlueprint, Message: message,
	}
	if diff := cmp.Diff(want, conditionOf(out, deploymentv1alpha1.TypeValid)); diff != "" {
		t.Errorf("A value that the Blueprint does not read is refused with its field: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(message+". Revision 1 stays as it is.", out.Status.Message); diff != "" {
		t.Errorf("The running revision goes on: -want, +got:\n%s", diff)
	}
	if out.Status.Phase != deploymentv1alpha1.PhaseFailed || out.Status.Revision != 1 {
		t.Errorf("Run(...): got phase %s at revision %d, want Failed at 1", out.Status.Phase, out.Status.Revision)
	}
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2}`)
	w.settle()
	if got := w.call().Status; got.Phase != deploymentv1alpha1.PhaseSucceeded || got.Revision != 1 {
		t.Errorf("A value that is left out again makes no revision: got phase %s at revision %d", got.Phase, got.Revision)
	}
}
