package gates

import (
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

const typeJob = "Job"

// jobKind returns the kind of checks that run a script in the Site's cluster.
func jobKind() kind {
	return kind{
		block: "job", read: readJobImage, whyNoThreshold: "a Job has none: the code that it exits with decides",
		isSet: func(check *deploymentv1alpha1.Check) bool { return check.Job != nil },
		allow: func(_ *Compiler, _ Input, p catalog.Place, check *declaredCheck) error {
			return policy.CheckJob(&p.Site, check.Job)
		},
		textBytes: func(check *deploymentv1alpha1.Check) int { return len(check.Job.Script) },
	}
}

// readJobImage refuses an image that no pod can have.
func readJobImage(_ *Compiler, check *deploymentv1alpha1.Check, _ *int) error {
	return checkImage("job.image", check.Job.Image)
}
