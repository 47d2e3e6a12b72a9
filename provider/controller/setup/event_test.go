package setup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestNewEvent makes an event about a deployment: it is in its namespace, and its name follows from the key.
func TestNewEvent(t *testing.T) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("intentplane.dev/v1alpha1")
	u.SetKind("IntentDeployment")
	u.SetNamespace("team-a")
	u.SetName("shop")
	u.SetUID("u1")
	timestamp := metav1.NewTime(time.Unix(1, 0))
	want := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "team-a", Name: "shop.0123"},
		InvolvedObject: corev1.ObjectReference{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", UID: "u1"},
		Type:           corev1.EventTypeWarning, Reason: "Rejected", Message: "said", Source: corev1.EventSource{Component: "intentplane-provider"},
		ReportingController: "intentplane-provider", FirstTimestamp: timestamp, LastTimestamp: timestamp, Count: 1,
	}
	if diff := cmp.Diff(want, NewEvent(ReferenceTo(u), "0123", corev1.EventTypeWarning, "Rejected", "said", timestamp)); diff != "" {
		t.Errorf("NewEvent(...): -want, +got:\n%s", diff)
	}
}
