package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// platform is a Bundle in which all is well.
const platform = `apiVersion: intentplane.dev/v1alpha1
kind: Bundle
metadata: {namespace: team-a, name: platform}
spec:
  version: 1.4.0
  packages:
    - name: data-base
      existing: {}
    - name: web-shop
      dependsOn: [data-base]
      deployment:
        expectation:
          service: web-shop
          sites: [edge1]
`

func TestCheckBundle(t *testing.T) {
	cases := map[string]struct {
		reason   string
		from, to string
		args     []string
		want     []Finding
	}{
		"Valid": {reason: "A Bundle whose packages can be deployed has no mistakes."},
		"Cycle": {
			reason: "Packages that wait for each other are named by their path.", from: "      dependsOn: [data-base]\n", to: "      dependsOn: [web-shop]\n",
			want: []Finding{
				{
					Line: 10, Field: "spec.packages[1].dependsOn",
					Message: "spec.packages[web-shop].dependsOn: the packages wait for each other: web-shop → web-shop",
				},
			},
		},
		"UnknownField": {
			reason: "A field that the kind of a package does not have is named in its package.", from: "expectation:", to: "expectatoin:",
			want: []Finding{{Line: 11, Field: "spec.packages[1].deployment", Message: `spec.packages[web-shop].deployment: unknown field "expectatoin"`}},
		},
		"SiteMissing": {
			reason: "With a catalog, each package is looked at as it would be delivered.", from: "edge1", to: "edge9",
			args: []string{"--site=" + trialSites, "--blueprint=" + examples + "20-blueprint.yaml"},
			want: []Finding{{Line: 11, Field: "spec.packages[1].deployment", Reason: "SiteMissing"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(strings.Replace(platform, tc.from, tc.to, 1), append([]string{"validate", "-", "-o", "json"}, tc.args...)...)
			got := ValidationReport{}
			if err := json.Unmarshal([]byte(out), &got); err != nil || (code != 0) != (len(tc.want) > 0) {
				t.Fatalf("\n%s\nrun(...): exit code %d, %v:\n%s%s", tc.reason, code, err, out, problems)
			}
			for i := range tc.want {
				w := &tc.want[i]
				w.File, w.Document, w.Kind, w.Namespace, w.Name = "-", 1, "Bundle", "team-a", "platform"
				if w.Reason == "" {
					w.Reason = "InvalidSpec"
				}
				if w.Message == "" && len(got.Findings) > i {
					w.Message = got.Findings[i].Message
				}
			}
			if diff := cmp.Diff(append([]Finding{}, tc.want...), got.Findings); diff != "" {
				t.Errorf("\n%s\nrun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
