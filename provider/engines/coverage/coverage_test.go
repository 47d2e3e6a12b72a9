package coverage

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
)

// TestCoverWarnings reports several warnings about an object, each by another of its names.
func TestCoverWarnings(t *testing.T) {
	web := instruction.Manifest{Object: policy.Object{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}
	cases := map[string]struct {
		reason   string
		warnings []Warning
		want     string
	}{
		"None": {reason: "An object without a warning is applied."},
		"Other": {
			reason:   "A warning about another object says nothing.",
			warnings: []Warning{{Subject: "apps/Deployment/" + web.Object.Namespace + "/other", Problem: "several files hold it", IsRepeated: true}},
		},
		"Last": {
			reason: "The last warning has the problem, and one of them is enough for a repeated object.",
			warnings: []Warning{
				{Subject: "apps/Deployment/" + web.Object.Namespace + "/web", Problem: "several files hold it", IsRepeated: true},
				{Subject: "Deployment/web", Problem: "the settings exclude it"},
				{Subject: "apps/Deployment web", Problem: "another Application owns it"},
			},
			want: "the engine does not report that it applied " + web.Object.String() + ": another Application owns it",
		},
		"Same": {
			reason: "A later warning about the same name keeps an object repeated.",
			warnings: []Warning{
				{Subject: "Deployment/web", Problem: "several files hold it", IsRepeated: true}, {Subject: "Deployment/web", Problem: "another Application owns it"},
			},
			want: "the engine does not report that it applied " + web.Object.String() + ": another Application owns it",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := Report{Warnings: tc.warnings, Applied: func(yield func(policy.Object) bool) { yield(web.Object) }}
			if diff := cmp.Diff(tc.want, r.Cover(catalogv1alpha1.EngineArgoCD, []instruction.Manifest{web}).Missing); diff != "" {
				t.Errorf("\n%s\nCover(...): missing: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
