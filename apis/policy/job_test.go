package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestCheckJob(t *testing.T) {
	all := &catalogv1alpha1.SitePostCheck{ServiceAccountName: "checker", AllowedImages: []string{"*"}}
	bounds := &catalogv1alpha1.SitePostCheck{AllowedImages: []string{"curl:8"}}
	cases := map[string]struct {
		reason string
		site   *catalogv1alpha1.SitePostCheck
		job    deploymentv1alpha1.JobCheck
		want   string
	}{
		"AnyImage": {reason: "A star in the images of a Site allows each image.", site: all, job: deploymentv1alpha1.JobCheck{Image: "x"}},
		"Account":  {reason: "A Job may name the service account of the Site.", site: all, job: deploymentv1alpha1.JobCheck{ServiceAccountName: "checker"}},
		"OtherImage": {
			reason: "An image that the Site does not list is refused.",
			site:   bounds, job: deploymentv1alpha1.JobCheck{Image: "curl:9"},
			want: `job: image: "curl:9" is not among the spec.postCheck.allowedImages of the Site`,
		},
		"OtherAccount": {
			reason: "Another service account than that of the Site is refused.",
			site:   all, job: deploymentv1alpha1.JobCheck{ServiceAccountName: "admin"},
			want: `job: serviceAccountName: must be absent, or "checker" as the Site says`,
		},
		"NoJobs": {reason: "A Site without spec.postCheck runs no Jobs.", want: "job: the Site has no spec.postCheck, so that no Job runs there"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{}
			site.Spec.PostCheck = tc.site
			got := ""
			if err := CheckJob(site, &tc.job); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckJob(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
