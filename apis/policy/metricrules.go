package policy

import (
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// CheckMetricRules returns an error, which names the field of the rules, when a deployment may not judge a metric by them at a Site: the bounds
// of the Site and the bounds of its repository's configuration both apply.
func CheckMetricRules(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, r deploymentv1alpha1.MetricRules) error {
	ofSite, ofConfig := deploymentv1alpha1.MetricRuleBounds{}, deploymentv1alpha1.MetricRuleBounds{}
	if m := site.Spec.Metrics; m != nil && m.MetricRuleBounds != nil {
		ofSite = *m.MetricRuleBounds
	}
	if b := c.Policy.MetricRuleBounds; b != nil {
		ofConfig = *b
	}
	inSite := fmt.Sprintf("spec.metrics.metricRuleBounds of Site %q", site.GetName())
	if err := checkRuleBounds(r, ofSite, inSite); err != nil {
		return err
	}
	if err := checkRuleBounds(r, ofConfig, fmt.Sprintf("spec.policy.metricRuleBounds of the %s of Site %q", configKind, site.GetName())); err != nil {
		return err
	}
	// Who owns a namespace writes its ProviderConfig: that one only narrows.
	allowed := ofSite.NoDataPass == deploymentv1alpha1.NoDataPassAllow ||
		configKind == KindClusterProviderConfig && ofConfig.NoDataPass == deploymentv1alpha1.NoDataPassAllow
	if r.NoData == deploymentv1alpha1.NoDataPass && !allowed {
		return errors.Errorf("noData: Pass is not allowed: it needs noDataPass: Allow in %s, or in spec.policy.metricRuleBounds of its ClusterProviderConfig", inSite)
	}
	return nil
}

// checkRuleBounds returns an error for the first rule that is beyond the bounds which a field holds.
func checkRuleBounds(r deploymentv1alpha1.MetricRules, b deploymentv1alpha1.MetricRuleBounds, place string) error {
	for _, d := range []struct {
		rule, bound   string
		says, allowed deploymentv1alpha1.Duration
		least         bool
	}{
		{rule: "initialDelay", bound: "maxInitialDelay", says: r.InitialDelay, allowed: b.MaxInitialDelay},
		{rule: "interval", bound: "minInterval", says: r.Interval, allowed: b.MinInterval, least: true},
		{rule: "timeout", bound: "maxTimeout", says: r.Timeout, allowed: b.MaxTimeout},
	} {
		if exceedsDurationBound(d.says, d.allowed, d.least) {
			return boundError(d.rule, d.says, d.least, d.allowed, d.bound, place)
		}
	}
	for _, n := range []struct {
		rule, bound   string
		says, allowed *int32
		least         bool
	}{
		{rule: "count", bound: "minCount", says: r.Count, allowed: b.MinCount, least: true},
		{rule: "failureLimit", bound: "maxFailureLimit", says: r.FailureLimit, allowed: b.MaxFailureLimit},
		{rule: "consecutiveErrorLimit", bound: "maxConsecutiveErrorLimit", says: r.ConsecutiveErrorLimit, allowed: b.MaxConsecutiveErrorLimit},
	} {
		if n.says != nil && n.allowed != nil && (n.least && *n.says < *n.allowed || !n.least && *n.says > *n.allowed) {
			return boundError(n.rule, *n.says, n.least, *n.allowed, n.bound, place)
		}
	}
	if r.NoData == deploymentv1alpha1.NoDataPass && b.NoDataPass == deploymentv1alpha1.NoDataPassDeny {
		return errors.Errorf("noData: Pass is denied by noDataPass in %s", place)
	}
	return nil
}

// exceedsDurationBound reports whether a duration is beyond its bound. A malformed duration is refused where it is parsed; a malformed bound allows nothing.
func exceedsDurationBound(says, allowed deploymentv1alpha1.Duration, isMinimum bool) bool {
	if says == "" || allowed == "" {
		return false
	}
	duration, err := time.ParseDuration(string(says))
	if err != nil {
		return false
	}
	bound, err := time.ParseDuration(string(allowed))
	return err != nil || isMinimum && duration < bound || !isMinimum && duration > bound
}

func boundError(rule string, says any, isMinimum bool, allowed any, bound, place string) error {
	if isMinimum {
		return errors.Errorf("%s: %v is less than the %v of %s in %s", rule, says, allowed, bound, place)
	}
	return errors.Errorf("%s: %v is more than the %v of %s in %s", rule, says, allowed, bound, place)
}
