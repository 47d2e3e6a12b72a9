package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestForgottenBranches(t *testing.T) {
	cases := map[string]struct {
		reason     string
		annotation string
		want       []string
	}{
		"None":   {reason: "A delivery without the annotation forgets no branch."},
		"One":    {reason: "One branch needs no comma.", annotation: "main", want: []string{"main"}},
		"Commas": {reason: "Commas divide the names.", annotation: "main,old/live", want: []string{"main", "old/live"}},
		"Spaces": {
			reason:     "White space around a name does not belong to it, and divides names too.",
			annotation: " main, old\n live,", want: []string{"main", "old", "live"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha1.GitDelivery{}
			d.SetAnnotations(map[string]string{v1alpha1.AnnotationForgetBranches: tc.annotation})
			if diff := cmp.Diff(tc.want, forgottenBranches(d), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nforgottenBranches(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
