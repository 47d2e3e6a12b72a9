package revisionobject

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestName(t *testing.T) {
	a := strings.Repeat("a", 60)
	cases := map[string]struct {
		reason string
		group  string
		name   string
		want   string
	}{
		"Claim": {reason: "A name that fits is used as it is.", group: deploymentv1alpha1.GroupClaims, name: "shop", want: "shop-failed-r2"},
		"Composite": {
			reason: "A composite with the name of a claim has another ConfigMap.",
			group:  deploymentv1alpha1.GroupNamespaced, name: "shop", want: "shop-8c526e1c-failed-r2",
		},
		"Long": {
			reason: "A digest replaces the end of a name that is too long.",
			group:  deploymentv1alpha1.GroupClaims, name: a, want: a[:44] + "-11ee3912-failed-r2",
		},
		"LongComposite": {
			reason: "A digest replaces the end of a composite's name that is too long.",
			group:  deploymentv1alpha1.GroupNamespaced, name: a, want: a[:44] + "-916b2f3c-failed-r2",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Name(tc.group, tc.name, "failed", 2)
			if diff := cmp.Diff(tc.want, got); diff != "" || len(got) > maxName {
				t.Errorf("\n%s\nName(...): %d characters: -want, +got:\n%s", tc.reason, len(got), diff)
			}
		})
	}
}
