package application

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

const (
	// ProgressCheck is the name of the check that deploy.progressTimeout adds to the Gates.
	ProgressCheck = "available"

	// A pod has to be available for progressInterval between progressCount measurements: a pod that ends soon after its start has not made progress.
	progressDelay    = "1s"
	progressInterval = "5s"
	progressCount    = 3

	// maxChecks is the greatest number of checks of an IntentDeployment.
	maxChecks = 16
)

// gatesConfigFor returns how the revisions of an Application are judged: as its spec says, and by the pods with a progressTimeout.
func gatesConfigFor(d v1alpha1.Deploy) deploymentv1alpha1.GatesConfig {
	if d.ProgressTimeout == "" {
		return d.GatesConfig
	}
	out := d.GatesConfig
	out.Checks = slices.Concat(out.Checks, []deploymentv1alpha1.Check{progressCheck(d.ProgressTimeout)})
	return out
}

// progressCheck returns the check that deploy.progressTimeout adds to the Gates.
func progressCheck(timeout deploymentv1alpha1.Duration) deploymentv1alpha1.Check {
	out := deploymentv1alpha1.Check{
		Name: ProgressCheck, Type: "Availability", Availability: &deploymentv1alpha1.AvailabilityCheck{},
		InitialDelay: progressDelay, Interval: progressInterval, Count: new(int32(progressCount)), Timeout: timeout,
	}
	out.Default()
	return out
}

// isProgressCheck reports whether deploy.progressTimeout added a check: a user may give the name to another check.
func isProgressCheck(c deploymentv1alpha1.Check) bool {
	return equality.Semantic.DeepEqual(c, progressCheck(c.Timeout))
}

// findProgressProblem returns why deploy.progressTimeout cannot add its check, or "".
func findProgressProblem(d v1alpha1.Deploy) string {
	const path = "spec.deploy.progressTimeout"
	if d.ProgressTimeout == "" {
		return ""
	}
	if len(d.GatesConfig.Checks) >= maxChecks {
		return fmt.Sprintf("%s: it adds a check to the %d of spec.deploy.gatesConfig.checks, and at most %d are possible: leave one of them out", path, len(d.GatesConfig.Checks), maxChecks)
	}
	if i := slices.IndexFunc(d.GatesConfig.Checks, func(c deploymentv1alpha1.Check) bool { return c.Name == ProgressCheck }); i >= 0 {
		return fmt.Sprintf("spec.deploy.gatesConfig.checks[%d].name: %q is the name of the check that %s adds: use another name", i, ProgressCheck, path)
	}
	if _, ok := d.GatesConfig.SLOThresholds[ProgressCheck]; ok {
		return fmt.Sprintf("spec.deploy.gatesConfig.sloThresholds.%s: it is the name of the check that %s adds: leave one of them out", ProgressCheck, path)
	}
	return ""
}
