package policy

import (
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// CheckMetricRules returns an error with the field of the first rule that exceeds a bound of the Site, or of the configuration of its repository: both
// bounds apply.
func CheckMetricRules(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, r deploymentv1alpha1.MetricRules) error {
	siteBounds, configBounds := configv1alpha1.MetricRuleBounds{}, configv1alpha1.MetricRuleBounds{}
	if m := site.Spec.Metrics; m != nil && m.MetricRuleBounds != nil {
		siteBounds = *m.MetricRuleBounds
	}
	if b := c.Policy.MetricRuleBounds; b != nil {
		configBounds = *b
	}
	sitePlace := fmt.Sprintf("spec.metrics.metricRuleBounds of Site %q", site.GetName())
	if err := checkRuleBounds(r, siteBounds, sitePlace); err != nil {
		return err
	}
	configPlace := fmt.Sprintf("spec.policy.metricRuleBounds of the %s of Site %q", configKind, site.GetName())
	if err := checkRuleBounds(r, configBounds, configPlace); err != nil {
		return err
	}
	// The owner of a namespace writes its ProviderConfigs, so a ProviderConfig can only deny.
	isAllowed := siteBounds.NoDataPass == configv1alpha1.NoDataPassAllow ||
		configKind == KindClusterProviderConfig && configBounds.NoDataPass == configv1alpha1.NoDataPassAllow
	if r.NoData == deploymentv1alpha1.NoDataPass && !isAllowed {
		return errors.Errorf("noData: Pass is not allowed: it needs noDataPass: Allow in %s, or in spec.policy.metricRuleBounds of its ClusterProviderConfig", sitePlace)
	}
	return nil
}

// checkRuleBounds returns an error for the first rule that exceeds its bound. The place is the field with the bounds.
func checkRuleBounds(r deploymentv1alpha1.MetricRules, b configv1alpha1.MetricRuleBounds, place string) error {
	for _, d := range []struct {
		rule, bound      string
		requested, limit deploymentv1alpha1.Duration
		isMinimum        bool
	}{
		{rule: "initialDelay", bound: "maxInitialDelay", requested: r.InitialDelay, limit: b.MaxInitialDelay},
		{rule: "interval", bound: "minInterval", requested: r.Interval, limit: b.MinInterval, isMinimum: true},
		{rule: "timeout", bound: "maxTimeout", requested: r.Timeout, limit: b.MaxTimeout},
	} {
		if exceedsDurationBound(d.requested, d.limit, d.isMinimum) {
			return boundError(d.rule, d.requested, d.isMinimum, d.limit, d.bound, place)
		}
	}
	for _, n := range []struct {
		rule, bound      string
		requested, limit *int32
		isMinimum        bool
	}{
		{rule: "count", bound: "minCount", requested: r.Count, limit: b.MinCount, isMinimum: true},
		{rule: "failureLimit", bound: "maxFailureLimit", requested: r.FailureLimit, limit: b.MaxFailureLimit},
		{rule: "consecutiveErrorLimit", bound: "maxConsecutiveErrorLimit", requested: r.ConsecutiveErrorLimit, limit: b.MaxConsecutiveErrorLimit},
	} {
		if n.requested != nil && n.limit != nil && (n.isMinimum && *n.requested < *n.limit || !n.isMinimum && *n.requested > *n.limit) {
			return boundError(n.rule, *n.requested, n.isMinimum, *n.limit, n.bound, place)
		}
	}
	if r.NoData == deploymentv1alpha1.NoDataPass && b.NoDataPass == configv1alpha1.NoDataPassDeny {
		return errors.Errorf("noData: Pass is denied by noDataPass in %s", place)
	}
	return nil
}

// exceedsDurationBound reports whether a duration exceeds its bound. A malformed duration is refused where it is parsed; a malformed bound allows nothing.
func exceedsDurationBound(requested, limit deploymentv1alpha1.Duration, isMinimum bool) bool {
	if requested == "" || limit == "" {
		return false
	}
	duration, err := time.ParseDuration(string(requested))
	if err != nil {
		return false
	}
	bound, err := time.ParseDuration(string(limit))
	return err != nil || isMinimum && duration < bound || !isMinimum && duration > bound
}

func boundError(rule string, requested any, isMinimum bool, limit any, bound, place string) error {
	if isMinimum {
		return errors.Errorf("%s: %v is less than the %v of %s in %s", rule, requested, limit, bound, place)
	}
	return errors.Errorf("%s: %v is more than the %v of %s in %s", rule, requested, limit, bound, place)
}
