package composition

import (
	"testing"

	xpextv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
)

// TestOutcomeComesFirst shows that a user reads the outcome of a deployment before its phase: after a rollback the phase is Succeeded.
func TestOutcomeComesFirst(t *testing.T) {
	for _, file := range []string{"claims/definition.yaml", "namespaced/definition.yaml"} {
		t.Run(file, func(t *testing.T) {
			d := &xpextv1.CompositeResourceDefinition{}
			read(t, file, d)
			for _, v := range d.Spec.Versions {
				var got []string
				for _, c := range v.AdditionalPrinterColumns[:2] {
					got = append(got, c.Name)
				}
				if diff := cmp.Diff([]string{"OUTCOME", "PHASE"}, got); diff != "" {
					t.Errorf("columns after the name: -want, +got:\n%s", diff)
				}
			}
		})
	}
}
