package analysis

import (
	"time"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Defaults and bounds of Flagger (pkg/apis/flagger/v1beta1/canary.go, pkg/controller/scheduler.go and pkg/metrics/providers/prometheus.go).
const (
	flaggerAnswerSeconds    = 5
	flaggerInterval         = time.Minute
	flaggerShortestInterval = 10 * time.Second
	flaggerTotalWeight      = 100

	// providerKubernetes shifts no requests, so that each canary has iterations.
	providerKubernetes   = "kubernetes"
	kubernetesIterations = 10
)

// setFlaggerTimes sets how often a metric is measured, and how often it may fail: threshold is how many failures end the analysis. Flagger ends once enough
// measurements passed. The check takes as many more as may fail, so that it passes no revision that Flagger rejects.
func (c *converter) setFlaggerTimes(canary flaggerCanary, check *deploymentv1alpha1.Check) {
	const field = "spec.analysis.iterations"
	a := canary.Spec.Analysis
	if c.refuseHighCount(field, a.Iterations) || c.refuseHighCount("spec.analysis.threshold", a.Threshold) {
		return
	}
	passes := canary.neededPasses()
	if passes == 0 {
		c.refuseFieldf("spec.analysis.stepWeights", "Flagger would measure never or for ever: let the weights rise, and end at 100 or less")
		return
	}
	failures := max(flaggerNumber(a.Threshold)-1, 0)
	check.FailureLimit = new(failures)
	count := passes + failures
	switch {
	case canary.canaryIterations() == 0:
		if c.Count > 0 {
			count = max(c.Count, failures+1)
		}
		c.addNotef(field, "is absent: Flagger measures %d times while the weight rises, and a check %d times in each step", passes, count)
	case flaggerNumber(a.Iterations) == 0:
		c.addNotef(field, "is absent: Flagger takes %d iterations without a mesh, and ignores weights", kubernetesIterations)
	}
	c.setCheckTimes(field, check, 0, c.flaggerInterval(a.Interval), count)
}

// flaggerInterval returns the interval of an analysis.
func (c *converter) flaggerInterval(text string) time.Duration {
	if text == "" {
		return flaggerInterval
	}
	return max(c.parseCheckDuration("spec.analysis.interval", text), flaggerShortestInterval)
}

// refuseHighCount refuses a number of measurements that no check has, and reports whether it did.
func (c *converter) refuseHighCount(field string, number int64) bool {
	if number > maxCount {
		c.refuseFieldf(field, "a check has at most %d measurements, and not %d", maxCount, number)
	}
	return number > maxCount
}

// flaggerNumber returns a number of measurements. Flagger reads a number below 1 as an absent one, and a number above 100 is refused.
func flaggerNumber(number int64) int32 { return int32(max(0, min(number, maxCount))) } //nolint:gosec // It is bounded.

// canaryIterations returns how many iterations a canary has. It is 0 for a canary whose weight rises.
func (f flaggerCanary) canaryIterations() int32 {
	a := f.Spec.Analysis
	hasWeights := a.StepWeight > 0 || len(a.StepWeights) > 0
	if n := flaggerNumber(a.Iterations); n > 0 || hasWeights && f.Spec.Provider != providerKubernetes {
		return n
	}
	return kubernetesIterations
}

// neededPasses returns how many measurements pass before Flagger promotes a canary. It measures before each iteration except the first, and once more
// before it promotes. Without a match, which selects requests of a mesh, it measures once more when all requests went to the canary. It is 0 for a canary that
// Flagger measures never or for ever.
func (f flaggerCanary) neededPasses() int32 {
	iterations := f.canaryIterations()
	isABTest := len(f.Spec.Analysis.Match) > 0 && f.Spec.Analysis.Iterations > 0 && f.Spec.Provider != providerKubernetes
	switch {
	case iterations == 0:
		return f.countWeights()
	case isABTest:
		return iterations
	}
	return iterations + 1
}

// countWeights returns at how many weights Flagger measures before it promotes a canary, which is once at each. It measures mirrored requests once more.
func (f flaggerCanary) countWeights() int32 {
	limit := f.promotionWeight()
	if limit <= 0 {
		return 0
	}
	count := int32(0)
	if f.Spec.Analysis.Mirror {
		count++
	}
	for weight := int64(0); weight < limit; count++ {
		step := f.weightStepAfter(weight)
		if step <= 0 || weight == flaggerTotalWeight {
			return 0
		}
		weight = min(weight+step, flaggerTotalWeight)
	}
	return count
}

// promotionWeight returns the weight at which a canary is promoted.
func (f flaggerCanary) promotionWeight() int64 {
	a := f.Spec.Analysis
	if n := len(a.StepWeights); n > 0 {
		return min(flaggerTotalWeight, a.StepWeights[n-1])
	}
	if a.MaxWeight > 0 {
		return a.MaxWeight
	}
	return flaggerTotalWeight
}

// weightStepAfter returns by how much the weight of a canary rises.
func (f flaggerCanary) weightStepAfter(weight int64) int64 {
	a := f.Spec.Analysis
	if a.StepWeight > 0 || len(a.StepWeights) == 0 {
		return a.StepWeight
	}
	remaining := flaggerTotalWeight - weight
	if weight == 0 {
		return min(remaining, a.StepWeights[0])
	}
	for i, w := range a.StepWeights[:len(a.StepWeights)-1] {
		if w == weight {
			return min(remaining, a.StepWeights[i+1]-weight)
		}
	}
	return remaining
}
