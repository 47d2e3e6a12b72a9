package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

const (
	claimResource     = "intentdeployments.claims.intentplane.dev"
	compositeResource = "intentdeployments.intentplane.dev"
)

// A shape is one of the two shapes of an IntentDeployment.
type shape struct {
	resource string
	describe func(s *scene.Scene, name, intent string) *unstructured.Unstructured
}

func shapesOfClaims() map[string]shape {
	return map[string]shape{
		"Claim":     {resource: claimResource, describe: (*scene.Scene).Claim},
		"Composite": {resource: compositeResource, describe: (*scene.Scene).Composite},
	}
}

// wantColumns compares some columns of a row. AGE is not empty.
func wantColumns(t *testing.T, description string, row, want scene.Row) {
	t.Helper()
	got := scene.Row{}
	for name := range want {
		got[name] = row[name]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", description, diff)
	}
	if !strings.ContainsAny(row["AGE"], "0123456789") {
		t.Errorf("%s: AGE is %q", description, row["AGE"])
	}
}

// awaitReadyRow waits until kubectl shows an object as ready, and returns its row: Crossplane writes the conditions of a composite after the
// rest of its status, and later when it lost a race.
func awaitReadyRow(s *scene.Scene, resource, name string) scene.Row {
	s.T.Helper()
	read := func() scene.Row { return scene.ParseTable(s.Inside("get", resource))[name] }
	return scene.UntilValue(s, "READY of "+name, read, func(r scene.Row) bool { return r["READY"] == "True" })
}
