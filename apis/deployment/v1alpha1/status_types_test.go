package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An API server makes null of an object that loses all of its fields by server-side apply, and then refuses the whole status, so
// that a user would not learn why an edit broke a deployment. An empty object is left out as a whole.
func TestEmptyStatusHasNoObjects(t *testing.T) {
	b, err := json.Marshal(IntentDeploymentStatus{Phase: PhaseFailed})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"phase":"Failed"}`, string(b)); diff != "" {
		t.Errorf("json.Marshal(...): -want, +got:\n%s", diff)
	}
}
