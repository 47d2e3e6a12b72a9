package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestCheckAvailability(t *testing.T) {
	cases := map[string]struct {
		reason  string
		allowed []string
		want    string
	}{
		"Own":   {reason: "A Site that takes the namespace of each claim lets its pods be observed.", allowed: []string{"{claimNamespace}"}},
		"Named": {reason: "A Site may name the namespace.", allowed: []string{"team-b", "team-a"}},
		"Another": {
			reason:  "Pods of a namespace that a claim may not write to are not observed.",
			allowed: []string{"team-b"}, want: `availability: the Site's spec.targetNamespaces.allowed does not allow namespace "team-a"`,
		},
		"None": {
			reason: "A Site that allows no namespace lets none be observed.",
			want:   `availability: the Site's spec.targetNamespaces.allowed does not allow namespace "team-a"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site, got := &catalogv1alpha1.Site{}, ""
			site.Spec.TargetNamespaces.Allowed = tc.allowed
			if err := CheckAvailability(site, "team-a"); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckAvailability(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
