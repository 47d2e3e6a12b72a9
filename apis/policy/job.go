package policy

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// CheckJob returns an error, which names the field of the check, when its Job may not run at a Site. Images are compared character by
// character with the images that the Site allows, of which "*" means all. The only service account is the Site's.
func CheckJob(site *catalogv1alpha1.Site, job *deploymentv1alpha1.JobCheck) error {
	p := site.Spec.PostCheck
	switch {
	case p == nil:
		return errors.New("job: the Site has no spec.postCheck, so that no Job runs there")
	case !containsOrStar(p.AllowedImages, job.Image):
		return errors.Errorf("job: image: %q is not among the spec.postCheck.allowedImages of the Site", job.Image)
	case job.ServiceAccountName != "" && job.ServiceAccountName != p.ServiceAccountName:
		return errors.Errorf("job: serviceAccountName: must be absent, or %q as the Site says", p.ServiceAccountName)
	}
	return nil
}
