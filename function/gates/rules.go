package gates

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

func metricRulesPath(metric string) string { return "spec.gatesConfig.metricRules." + metric }

// errorAtField puts the path of an object before an error that begins with one of its fields.
func errorAtField(path string, err error) error { return errors.Errorf("%s.%w", path, err) }

// CheckMetrics returns an error, with the path of the field, for a metric of a Blueprint that could never be judged by its own rules.
func CheckMetrics(metrics []catalogv1alpha1.BlueprintMetric) error {
	for i, m := range metrics {
		if err := applyMetricRules(&deploymentv1alpha1.Check{}, m.MetricRules); err != nil {
			return errorAtField(fmt.Sprintf("spec.metrics[%d]", i), err)
		}
	}
	return nil
}

// Rules returns the rules that a metric of a Blueprint is judged by where a deployment declares no rules, each with its value.
func Rules(m catalogv1alpha1.BlueprintMetric) deploymentv1alpha1.Check {
	c := deploymentv1alpha1.Check{}
	SetRules(&c, m.MetricRules)
	c.Default()
	return c
}

// checkRuleNames returns an error for rules of a metric without a threshold: they would have no effect.
func checkRuleNames(g deploymentv1alpha1.GatesConfig) error {
	for _, metric := range slices.Sorted(maps.Keys(g.MetricRules)) {
		if _, ok := g.SLOThresholds[metric]; !ok {
			return errors.Errorf("%s: the metric has no threshold: set %s, or remove its rules", metricRulesPath(metric), thresholdPath(metric))
		}
	}
	return nil
}

// completeRules returns the rules of a deployment, completed by the rules of a Blueprint for each field that is not set.
func completeRules(r, base deploymentv1alpha1.MetricRules) deploymentv1alpha1.MetricRules {
	return deploymentv1alpha1.MetricRules{
		InitialDelay:          cmp.Or(r.InitialDelay, base.InitialDelay),
		Interval:              cmp.Or(r.Interval, base.Interval),
		Count:                 cmp.Or(r.Count, base.Count),
		FailureLimit:          cmp.Or(r.FailureLimit, base.FailureLimit),
		ConsecutiveErrorLimit: cmp.Or(r.ConsecutiveErrorLimit, base.ConsecutiveErrorLimit),
		InconclusiveLimit:     cmp.Or(r.InconclusiveLimit, base.InconclusiveLimit),
		NoData:                cmp.Or(r.NoData, base.NoData),
		Timeout:               cmp.Or(r.Timeout, base.Timeout),
	}
}

// SetRules sets the rules in a check. Fields without a rule are left to the check's own defaults. The check shares no memory with the rules.
func SetRules(c *deploymentv1alpha1.Check, r deploymentv1alpha1.MetricRules) {
	rules := r.DeepCopy()
	c.InitialDelay, c.Interval, c.Timeout, c.NoData = rules.InitialDelay, rules.Interval, rules.Timeout, rules.NoData
	c.Count, c.FailureLimit, c.InconclusiveLimit = rules.Count, rules.FailureLimit, rules.InconclusiveLimit
	c.ConsecutiveErrorLimit = rules.ConsecutiveErrorLimit
}

// applyMetricRules completes a check with rules, and with defaults for fields that the rules leave open. It returns an error that begins with the
// field for rules by which there could never be a verdict.
func applyMetricRules(c *deploymentv1alpha1.Check, r deploymentv1alpha1.MetricRules) error {
	SetRules(c, r)
	c.Default()
	if *c.FailureLimit >= *c.Count {
		return errors.Errorf("failureLimit: %d of %d measurements may fail: it must be less than count", *c.FailureLimit, *c.Count)
	}
	return checkTimeBounds(c)
}

// checkBounds returns an error, with the path of the field, for rules of a deployment that a place does not allow.
func checkBounds(p catalog.Place, declared declaredCheck) error {
	if err := policy.CheckMetricRules(&p.Site, p.ConfigRef.Kind, &p.Config, declared.rules); err != nil {
		return errorAtField(metricRulesPath(declared.Name), err)
	}
	return nil
}
