package gates

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/shellscript"
	"github.com/intentplane/intentplane/function/catalog"
)

const typeJob = "Job"

// jobKind returns the kind of checks that run a script in the Site's cluster.
func jobKind() kind {
	return kind{
		block: "job", read: readJobCheck, whyNoThreshold: "a Job has none: the code that it exits with decides",
		isSet: func(check *deploymentv1alpha1.Check) bool { return check.Job != nil },
		allow: func(_ *Compiler, _ Input, p catalog.Place, check *declaredCheck) error {
			return policy.CheckJob(&p.Site, check.Job)
		},
		textBytes: func(check *deploymentv1alpha1.Check) int { return len(check.Job.Script) },
	}
}

// readJobCheck refuses an image that no pod can have, and a script that always passes.
func readJobCheck(_ *Compiler, check *deploymentv1alpha1.Check, _ *int) error {
	if err := checkImageRef("job.image", check.Job.Image); err != nil {
		return err
	}
	return checkScript("job.script", check.Job.Script)
}

// checkScript returns an error, which begins with the field, for a script that cannot fail. The provider refuses such a text of a ConfigMap, which is not known
// here: its script is empty.
func checkScript(field, script string) error {
	if script == "" {
		return nil
	}
	return errors.Wrap(shellscript.Check(script), field)
}
