package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// wantUnchanged checks that the spec of a GitDelivery is unchanged.
func wantUnchanged(t *testing.T, event string, want, got *unstructured.Unstructured) {
	t.Helper()
	pick := func(u *unstructured.Unstructured) map[string]any {
		return map[string]any{
			"generation": u.GetGeneration(), "uid": u.GetUID(), "spec": u.Object["spec"], "labels": u.GetLabels(),
			"annotations": u.GetAnnotations(), "finalizers": u.GetFinalizers(), "owners": u.GetOwnerReferences(),
		}
	}
	if diff := cmp.Diff(pick(want), pick(got)); diff != "" {
		t.Errorf("GitDelivery after %s: -want, +got:\n%s", event, diff)
	}
}

// wantFailedClaim checks the last transition of a claim that failed, and the reason.
func wantFailedClaim(t *testing.T, reason string, observed *unstructured.Unstructured, phase, validReason string) {
	t.Helper()
	transitions, _, err := unstructured.NestedSlice(observed.Object, "status", "transitions")
	if err != nil || len(transitions) == 0 {
		t.Fatalf("\n%s\nthe claim has no transitions: %v", reason, err)
	}
	last := &unstructured.Unstructured{Object: map[string]any{"last": transitions[len(transitions)-1]}}
	if diff := cmp.Diff(phase+" → Failed", scene.Field(last, "last", "from")+" → "+scene.Field(last, "last", "to")); diff != "" {
		t.Errorf("\n%s\nlast transition: -want, +got:\n%s", reason, diff)
	}
	if !scene.Is(observed, "Valid", corev1.ConditionFalse, validReason) {
		t.Errorf("\n%s\ncondition Valid: want reason %s, got %v", reason, validReason, scene.Condition(observed, "Valid"))
	}
}

// composedRefs returns the composite's references of a claim to the composed resources.
func composedRefs(s *scene.Scene, claim *unstructured.Unstructured) []any {
	s.T.Helper()
	refs, _, err := unstructured.NestedSlice(s.XR(s.Now(claim)).Object, "spec", "resourceRefs")
	if err != nil || len(refs) == 0 {
		s.T.Fatalf("the composite has no resources: %v", err)
	}
	return refs
}
