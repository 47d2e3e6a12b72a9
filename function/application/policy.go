package application

import (
	"slices"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// passPolicy copies the policy of an edit to a deployment whose image stays for now: whether it is suspended, how it is rolled back, how long its delivery may
// take, what its deletion leaves, and for how long and how often it is measured. Changed rules of measurements are judged as a revision of their own, as those
// of an edit are that no build holds back.
func passPolicy(to *deploymentv1alpha1.IntentDeploymentSpec, from deploymentv1alpha1.IntentDeploymentSpec) {
	to.Suspend, to.RollbackConfig = from.Suspend, from.RollbackConfig
	passTimeouts(&to.DeliveryConfig, from.DeliveryConfig)
	passRules(&to.GatesConfig, from.GatesConfig)
}

func passTimeouts(to *deploymentv1alpha1.DeliveryConfig, from deploymentv1alpha1.DeliveryConfig) {
	to.DeliveryTimeout, to.SyncWaitTimeout, to.ClusterWaitTimeout = from.DeliveryTimeout, from.SyncWaitTimeout, from.ClusterWaitTimeout
	to.DeletionPolicy = from.DeletionPolicy
}

// passRules copies the rules of measurements: the progressTimeout, and those of the metrics and checks that are measured already. What is measured, and its
// limits, belong to the image.
func passRules(to *deploymentv1alpha1.GatesConfig, from deploymentv1alpha1.GatesConfig) {
	to.MetricsUnavailableTimeout, to.OnMetricsUnavailable = from.MetricsUnavailableTimeout, from.OnMetricsUnavailable
	if to.PostCheck != nil && from.PostCheck != nil {
		to.PostCheck.Timeout = from.PostCheck.Timeout
	}
	rules := map[string]deploymentv1alpha1.MetricRules{}
	for metric := range to.SLOThresholds {
		if r, ok := from.MetricRules[metric]; ok {
			rules[metric] = r
		}
	}
	if to.MetricRules = rules; len(rules) == 0 {
		to.MetricRules = nil
	}
	to.Checks = checksWithRules(to.Checks, from.Checks)
	if at := slices.IndexFunc(from.Checks, isProgressCheck); at >= 0 && to.SLOThresholds[ProgressCheck] == "" {
		to.Checks = addProgressCheck(to.Checks, from.Checks[at])
	}
}

// checksWithRules returns checks with the rules that those of an edit have, and without one of a progressTimeout.
func checksWithRules(checks, edited []deploymentv1alpha1.Check) []deploymentv1alpha1.Check {
	out := slices.DeleteFunc(slices.Clone(checks), isProgressCheck)
	for i := range out {
		isSame := func(c deploymentv1alpha1.Check) bool { return c.Name == out[i].Name && c.Type == out[i].Type }
		if at := slices.IndexFunc(edited, isSame); at >= 0 {
			rulesOf(edited[at]).Apply(&out[i])
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

// rulesOf returns the rules by which the measurements of a check make a verdict.
func rulesOf(c deploymentv1alpha1.Check) deploymentv1alpha1.MetricRules {
	return deploymentv1alpha1.MetricRules{
		InitialDelay: c.InitialDelay, Interval: c.Interval, Count: c.Count, FailureLimit: c.FailureLimit, ConsecutiveErrorLimit: c.ConsecutiveErrorLimit,
		InconclusiveLimit: c.InconclusiveLimit, NoData: c.NoData, Timeout: c.Timeout,
	}
}
