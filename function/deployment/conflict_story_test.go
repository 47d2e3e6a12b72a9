package deployment

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestConflictHolds finds two requests under one number, one of which was rejected: what was rejected does not go out under the next one.
func TestConflictHolds(t *testing.T) {
	w := newWorld(t)
	w.apply(w.call())
	w.refuse("PolicyDenied")
	w.apply(w.call())
	w.deliver()
	for name, o := range w.in.Observed {
		other := o.DeepCopy()
		for _, order := range [][]string{{"spec", "forProvider", "order"}, {"status", "atProvider", "order"}} {
			if err := unstructured.SetNestedField(other.Object, "sha256:other", append(order, "request")...); err != nil {
				t.Fatal(err)
			}
			unstructured.RemoveNestedField(other.Object, append(order, "verdict")...)
		}
		w.in.Observed["other"] = other
		if name == "other" {
			t.Fatal("the name is taken")
		}
		break
	}
	rejected := view{Phase: deploymentv1alpha1.PhaseFailed, Revision: 2, Trees: []string{"2 edge1 Keep", "2 edge1 Keep", "2 edge2 Keep", "2 edge2 Keep"}, Sites: "0/2"}
	w.want("The next number is rejected too, and nobody gets anything.", w.call(), rejected)
	w.apply(w.call())
	w.deliver()
	out := w.call()
	w.want("It is held.", out, rejected)
	w.wantFrozen("In every field.", out)
	w.wantCondition("It is remembered.", out, deploymentv1alpha1.TypeRecorded, corev1.ConditionTrue, deploymentv1alpha1.ReasonRecorded)
	w.wantCondition("And said why.", out, deploymentv1alpha1.TypeStalled, corev1.ConditionTrue, deploymentv1alpha1.ReasonDeliveryRefused)
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.apply(w.call())
	if got := w.call().Status.Revision; got != 3 {
		t.Errorf("Another intent is another revision: want 3, got %d", got)
	}
}
