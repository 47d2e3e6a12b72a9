package v1alpha1

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
