package application

import (
	"slices"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/gates"
)

// passEditedPolicy copies the policy of an edit to a deployment whose image stays for now: suspension, rollback, the timeouts of its delivery, the handling of
// files of other users, the deletion policy, the end of a canary's steps, and the update policy of the Blueprint. None of these fields makes a revision.
func passEditedPolicy(target *deploymentv1alpha1.IntentDeploymentSpec, edit deploymentv1alpha1.IntentDeploymentSpec) {
	target.Suspend, target.RollbackConfig = edit.Suspend, edit.RollbackConfig
	target.Blueprint.UpdatePolicy = edit.Blueprint.UpdatePolicy
	passDeliveryPolicy(&target.DeliveryConfig, edit.DeliveryConfig)
}

func passDeliveryPolicy(target *deploymentv1alpha1.DeliveryConfig, edit deploymentv1alpha1.DeliveryConfig) {
	target.DeliveryTimeout, target.SyncWaitTimeout, target.ClusterWaitTimeout = edit.DeliveryTimeout, edit.SyncWaitTimeout, edit.ClusterWaitTimeout
	target.DeletionPolicy, target.DriftPolicy, target.Adopt = edit.DeletionPolicy, edit.DriftPolicy, edit.Adopt
	if target.Canary != nil && edit.Canary != nil { // Else the image has no canary, or the next one has none.
		target.Canary.Drain, target.Canary.OnInconclusive = edit.Canary.Drain, edit.Canary.OnInconclusive
	}
}

// passEditedRules copies the rules of measurements: the progressTimeout, and the rules of metrics and checks that are measured already. The set of metrics and
// their limits belong to the image. Changed rules make a revision of their own, as they do without a build.
func passEditedRules(target *deploymentv1alpha1.GatesConfig, edit deploymentv1alpha1.GatesConfig) {
	target.MetricsUnavailableTimeout, target.OnMetricsUnavailable = edit.MetricsUnavailableTimeout, edit.OnMetricsUnavailable
	if target.PostCheck != nil && edit.PostCheck != nil {
		target.PostCheck.Timeout = edit.PostCheck.Timeout
	}
	target.MetricRules = metricRules(*target, edit)
	target.Checks = checksWithRules(target.Checks, edit.Checks)
	if index := slices.IndexFunc(edit.Checks, isProgressCheck); index >= 0 && target.SLOThresholds[ProgressCheck] == "" {
		target.Checks = addProgressCheck(target.Checks, edit.Checks[index])
	}
}

// metricRules returns the rules of the metrics that are measured already: from the edit if it has the metric, or else the present rules.
func metricRules(target, edit deploymentv1alpha1.GatesConfig) map[string]deploymentv1alpha1.MetricRules {
	var out map[string]deploymentv1alpha1.MetricRules
	for metric := range target.SLOThresholds {
		source := target.MetricRules
		if _, ok := edit.SLOThresholds[metric]; ok {
			source = edit.MetricRules
		}
		rules, ok := source[metric]
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]deploymentv1alpha1.MetricRules{}
		}
		out[metric] = rules
	}
	return out
}

// checksWithRules returns checks with the rules of an edit, and without the check of a progressTimeout.
func checksWithRules(checks, edited []deploymentv1alpha1.Check) []deploymentv1alpha1.Check {
	out := slices.DeleteFunc(slices.Clone(checks), isProgressCheck)
	for i := range out {
		isSame := func(c deploymentv1alpha1.Check) bool { return c.Name == out[i].Name && c.Type == out[i].Type }
		if index := slices.IndexFunc(edited, isSame); index >= 0 {
			gates.SetRules(&out[i], rulesOfCheck(edited[index]))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// addProgressCheck adds the check of a progressTimeout, if there is room for it and no other check has its name.
func addProgressCheck(checks []deploymentv1alpha1.Check, added deploymentv1alpha1.Check) []deploymentv1alpha1.Check {
	isTaken := slices.ContainsFunc(checks, func(c deploymentv1alpha1.Check) bool { return c.Name == added.Name })
	if isTaken || len(checks) >= maxChecks {
		return checks
	}
	return append(checks, added)
}

// rulesOfCheck returns the rules by which the measurements of a check make a verdict.
func rulesOfCheck(c deploymentv1alpha1.Check) deploymentv1alpha1.MetricRules {
	return deploymentv1alpha1.MetricRules{
		InitialDelay: c.InitialDelay, Interval: c.Interval, Count: c.Count, FailureLimit: c.FailureLimit, ConsecutiveErrorLimit: c.ConsecutiveErrorLimit,
		InconclusiveLimit: c.InconclusiveLimit, NoData: c.NoData, Timeout: c.Timeout,
	}
}
