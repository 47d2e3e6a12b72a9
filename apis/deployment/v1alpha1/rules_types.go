package v1alpha1

import "cmp"

// Results of a measurement without data.
const (
	// NoDataFail counts it as a failed measurement.
	NoDataFail = "Fail"

	// NoDataInconclusive counts it as an inconclusive measurement, of which inconclusiveLimit allows some.
	NoDataInconclusive = "Inconclusive"

	// NoDataPass counts it as a passed measurement.
	NoDataPass = "Pass"

	// NoDataWait does not count it. The clock of the check stands still until there is data.
	NoDataWait = "Wait"
)

// MetricRules are the rules by which the measurements of one metric lead to a verdict. In a Blueprint they are the defaults of the metric; a
// deployment overrides them field by field. A field that neither sets has the default named at the field.
type MetricRules struct {
	// InitialDelay before the first measurement, from the time that the Site went live, from 1s to 24h. A query with a longer range is
	// sent later, so that its range begins after that time. Absent in both places means 30s.
	// +optional
	InitialDelay Duration `json:"initialDelay,omitempty"`

	// Interval between measurements, from 1s to 24h. Absent in both places means 30s.
	// +optional
	Interval Duration `json:"interval,omitempty"`

	// Count of measurements that lead to a verdict, without errors and without measurements that do not count, from 1 to 100.
	// Absent in both places means 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Count *int32 `json:"count,omitempty"`

	// FailureLimit is the number of measurements that may fail: fewer than count. 0 means none. Absent in both places means 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	FailureLimit *int32 `json:"failureLimit,omitempty"`

	// ConsecutiveErrorLimit is the number of consecutive measurements that may end with an error. 0 means none. Absent in both places means 4.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ConsecutiveErrorLimit *int32 `json:"consecutiveErrorLimit,omitempty"`

	// InconclusiveLimit is the number of measurements that may be inconclusive, if noData is Inconclusive. 0 means none. Absent in both places means 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	InconclusiveLimit *int32 `json:"inconclusiveLimit,omitempty"`

	// NoData is the result of a measurement without data: Fail; Inconclusive, which decides nothing; Wait, which does not count and stops the
	// clock of the check until there is data; or Pass. Absent in both places means Fail.
	// +optional
	// +kubebuilder:validation:Enum=Fail;Inconclusive;Pass;Wait
	NoData string `json:"noData,omitempty"`

	// Timeout of the check, from its first measurement on, from 1s to 24h. It has to be longer than initialDelay and the intervals between the
	// measurements take. Absent in both places means 5m.
	// +optional
	Timeout Duration `json:"timeout,omitempty"`
}

// Over returns these rules, completed by the rules of a Blueprint for each field that is not set.
func (r MetricRules) Over(base MetricRules) MetricRules {
	return MetricRules{
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

// Apply sets the rules in a check. Fields without a rule are left to the check's own defaults. The check shares no memory with the rules.
func (r MetricRules) Apply(c *Check) {
	rules := r.DeepCopy()
	c.InitialDelay, c.Interval, c.Timeout, c.NoData = rules.InitialDelay, rules.Interval, rules.Timeout, rules.NoData
	c.Count, c.FailureLimit, c.InconclusiveLimit = rules.Count, rules.FailureLimit, rules.InconclusiveLimit
	c.ConsecutiveErrorLimit = rules.ConsecutiveErrorLimit
}

// NoDataPassPolicy specifies whether deployments may count a measurement without data as passed.
type NoDataPassPolicy string

// Policies for measurements without data.
const (
	NoDataPassAllow NoDataPassPolicy = "Allow"
	NoDataPassDeny  NoDataPassPolicy = "Deny"
)

// MetricRuleBounds bound the fields of spec.gatesConfig.metricRules of deployments. They do not bound the defaults of a Blueprint,
// which the authors of the catalog write.
type MetricRuleBounds struct {
	// MinInterval between measurements, from 1s to 24h. Absent means 1s.
	// +optional
	MinInterval Duration `json:"minInterval,omitempty"`

	// MinCount of measurements that make a verdict. Absent means 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinCount *int32 `json:"minCount,omitempty"`

	// MaxFailureLimit is the greatest failureLimit of a deployment. 0 means none. Absent means one less than count.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=99
	MaxFailureLimit *int32 `json:"maxFailureLimit,omitempty"`

	// MaxConsecutiveErrorLimit is the greatest consecutiveErrorLimit of a deployment. 0 means none. Absent means 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxConsecutiveErrorLimit *int32 `json:"maxConsecutiveErrorLimit,omitempty"`

	// MaxInitialDelay before the first measurement, from 1s to 24h. Absent means 24h.
	// +optional
	MaxInitialDelay Duration `json:"maxInitialDelay,omitempty"`

	// MaxTimeout of a check, from 1s to 24h. Absent means 24h.
	// +optional
	MaxTimeout Duration `json:"maxTimeout,omitempty"`

	// NoDataPass specifies whether a deployment may set noData to Pass. Allow counts in a Site and in a ClusterProviderConfig. Absent means Deny,
	// unless the other one allows it.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Deny
	NoDataPass NoDataPassPolicy `json:"noDataPass,omitempty"`
}
