package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestFromExpectation(t *testing.T) {
	zero := deploymentv1alpha1.Replicas(0)
	type want struct {
		canonical string
		err       string
	}
	cases := map[string]struct {
		reason      string
		expectation *deploymentv1alpha1.Expectation
		want        want
	}{
		"Nil": {
			reason: "There must be something to read.",
			want:   want{err: "spec.expectation: must be set"},
		},
		"Defaults": {
			reason:      "An absent field has its default, also without a schema.",
			expectation: &deploymentv1alpha1.Expectation{Service: "shop"},
			want:        want{canonical: `{"service":"shop"}`},
		},
		"Zero": {
			reason:      "No replicas is not the default.",
			expectation: &deploymentv1alpha1.Expectation{Service: "shop", Replicas: &zero},
			want:        want{canonical: `{"replicas":0,"service":"shop"}`},
		},
		"Everything": {
			reason: "Each field of an intent is read.",
			expectation: &deploymentv1alpha1.Expectation{
				Service: "shop", Type: "batch", Sites: []deploymentv1alpha1.SiteName{"edge2", "edge1"}, Image: "nginx",
				SiteReplicas: map[string]deploymentv1alpha1.Replicas{"edge1": 3},
				Resources:    deploymentv1alpha1.Resources{CPU: "1000m", Memory: "1Gi"},
				Parameters:   map[string]deploymentv1alpha1.ParameterValue{"color": "<blue>"},
			},
			want: want{canonical: `{"image":"nginx","parameters":{"color":"<blue>"},"resources":{"cpu":"1","memory":"1Gi"},` +
				`"service":"shop","siteReplicas":{"edge1":3},"sites":["edge1","edge2"],"type":"batch"}`},
		},
		"Invalid": {
			reason:      "An invalid value is named as a field of the claim.",
			expectation: &deploymentv1alpha1.Expectation{Service: "shop", Sites: []deploymentv1alpha1.SiteName{"edge1", "../x"}},
			want:        want{err: "spec.expectation.sites[1]: must be the name of a Site: at most 63 lower-case letters, digits, '-' and '.'"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromExpectation(tc.expectation)
			if diff := cmp.Diff(tc.want.err, message(err)); diff != "" {
				t.Fatalf("\n%s\nFromExpectation(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want.canonical, string(got.Canonical())); diff != "" {
				t.Errorf("\n%s\nCanonical(): -want, +got:\n%s", tc.reason, diff)
			}
			reparsed, err := FromText(string(got.Canonical()))
			if err != nil {
				t.Fatalf("\n%s\nFromText(Canonical()): %v", tc.reason, err)
			}
			if diff := cmp.Diff(got, reparsed); diff != "" {
				t.Errorf("\n%s\nFromText(Canonical()): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
