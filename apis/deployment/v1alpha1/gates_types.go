package v1alpha1

// Threshold is a limit that a measurement is judged by.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self.matches('^ *(<=|>=|<|>|==)? *[0-9]+([.][0-9]+)? *[A-Za-z%/]*(/[a-z]+)? *$')",message="must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'"
type Threshold string

// ConfigMapKeySelector selects one key of a ConfigMap, pinned by its content.
type ConfigMapKeySelector struct {
	// Name of the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the ConfigMap.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`

	// SHA256 of the key's value, in hexadecimal digits.
	// +required
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	SHA256 string `json:"sha256"`
}

// PrometheusCheck queries a Prometheus server.
type PrometheusCheck struct {
	// Query in PromQL.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query"`

	// Address of the server. Absent means the Site's, or the configuration's.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Address string `json:"address,omitempty"`
}

// JobCheck runs a script in the Site's cluster.
//
// +kubebuilder:validation:XValidation:rule="has(self.script) != has(self.configMapKeyRef)",message="exactly one of script and configMapKeyRef must be set"
type JobCheck struct {
	// Image that the script runs in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// Script as text.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Script string `json:"script,omitempty"`

	// ConfigMapKeyRef selects the script from a ConfigMap.
	// +optional
	ConfigMapKeyRef *ConfigMapKeySelector `json:"configMapKeyRef,omitempty"`

	// ServiceAccountName that the Job runs as. Absent means the Site's.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// WebCheck requests JSON from a web server.
type WebCheck struct {
	// URL of the request.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.startsWith('https://')",message="must be an https address"
	URL string `json:"url"`

	// Expression in CEL over the answer.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Expression string `json:"expression"`
}

// AvailabilityCheck waits until pods of the revision are available at a Site.
type AvailabilityCheck struct {
	// MinAvailable is the number of pods that have to be available at each Site, from 1 to 1000. If the desired number of pods at a Site is lower,
	// all of them have to be, and a Site with a desired number of 0 passes.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MinAvailable *int32 `json:"minAvailable,omitempty"`

	// Image that the pods have to run. Images with equal digests are equal, whatever their registry. Absent means the image of the intent; if the
	// intent names no image, pods of any image count.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
}

// Check is one thing that a delivered intent is judged by.
//
// +kubebuilder:validation:XValidation:rule="(self.type == 'Prometheus') == has(self.prometheus)",message="prometheus must be set with type Prometheus, and with no other type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Job') == has(self.job)",message="job must be set with type Job, and with no other type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Web') == has(self.web)",message="web must be set with type Web, and with no other type"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Availability') == has(self.availability)",message="availability must be set with type Availability, and with no other type"
// +kubebuilder:validation:XValidation:rule="self.type in ['Job', 'Availability'] || has(self.threshold)",message="threshold is required unless type is Job or Availability"
type Check struct {
	// Name of the check.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Site that is checked. Absent means each Site of the step.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site,omitempty"`

	// Type of the check.
	// +required
	// +kubebuilder:validation:Enum=Prometheus;Job;Web;Availability
	Type string `json:"type"`

	// Prometheus server that evaluates the query.
	// +optional
	Prometheus *PrometheusCheck `json:"prometheus,omitempty"`

	// Job that is run.
	// +optional
	Job *JobCheck `json:"job,omitempty"`

	// Web server that gets the request.
	// +optional
	Web *WebCheck `json:"web,omitempty"`

	// Availability of the pods at each Site.
	// +optional
	Availability *AvailabilityCheck `json:"availability,omitempty"`

	// Threshold that the value is judged by.
	// +optional
	Threshold Threshold `json:"threshold,omitempty"`

	// Unit of the value, such as ms.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Unit string `json:"unit,omitempty"`

	// InitialDelay before the first measurement.
	// +optional
	// +kubebuilder:default="30s"
	InitialDelay Duration `json:"initialDelay,omitempty"`

	// Interval between measurements.
	// +optional
	// +kubebuilder:default="30s"
	Interval Duration `json:"interval,omitempty"`

	// Count of measurements.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Count *int32 `json:"count,omitempty"`

	// FailureLimit is the number of measurements that may fail. 0 means none.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	FailureLimit *int32 `json:"failureLimit,omitempty"`

	// ConsecutiveErrorLimit is the number of consecutive measurements that may end with an error. 0 means none.
	// +optional
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ConsecutiveErrorLimit *int32 `json:"consecutiveErrorLimit,omitempty"`

	// InconclusiveLimit is the number of measurements that may be inconclusive. 0 means none.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	InconclusiveLimit *int32 `json:"inconclusiveLimit,omitempty"`

	// MinSamples that a measurement needs. 0 means no limit.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MinSamples *int32 `json:"minSamples,omitempty"`

	// NoData is the result of a measurement without data: Fail (default); Inconclusive, which decides nothing; Wait, which does not count and
	// stops the clock of the check until there is data; or Pass.
	// +optional
	// +kubebuilder:default=Fail
	// +kubebuilder:validation:Enum=Fail;Inconclusive;Pass;Wait
	NoData string `json:"noData,omitempty"`

	// Timeout of the check.
	// +optional
	// +kubebuilder:default="5m"
	Timeout Duration `json:"timeout,omitempty"`
}

// PostCheck is a script that is run in each Site's cluster when the intent is live there.
//
// +kubebuilder:validation:XValidation:rule="has(self.script) != has(self.configMapKeyRef)",message="exactly one of script and configMapKeyRef must be set"
type PostCheck struct {
	// Image that the script runs in.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// Script as text.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Script string `json:"script,omitempty"`

	// ConfigMapKeyRef selects the script from a ConfigMap.
	// +optional
	ConfigMapKeyRef *ConfigMapKeySelector `json:"configMapKeyRef,omitempty"`

	// Timeout of the script.
	// +optional
	// +kubebuilder:default="5m"
	Timeout Duration `json:"timeout,omitempty"`
}

// GatesConfig configures the checks of a delivered revision. Without checks and thresholds the gates are off.
type GatesConfig struct {
	// Enabled switches the gates on.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// SLOThresholds by the name of the metric. The query comes from the Blueprint.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	SLOThresholds map[string]Threshold `json:"sloThresholds,omitempty"`

	// MetricRules are the rules for measurements of metrics with a threshold, by name of the metric, where they differ from the rules of
	// the Blueprint. Site and configuration bound them. Absent means the rules of the Blueprint.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	MetricRules map[string]MetricRules `json:"metricRules,omitempty"`

	// Checks beside the thresholds.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Checks []Check `json:"checks,omitempty"`

	// PostCheck is a script that is run when the intent is live.
	// +optional
	PostCheck *PostCheck `json:"postCheck,omitempty"`

	// MetricsUnavailableTimeout is the time for which the metrics backend of a check may be unavailable without interruption before
	// onMetricsUnavailable decides, from 1s to 24h. Until then the revision is not judged: such measurements count neither as errors nor against
	// the timeout of the check.
	// +optional
	// +kubebuilder:default="30m"
	MetricsUnavailableTimeout Duration `json:"metricsUnavailableTimeout,omitempty"`

	// OnMetricsUnavailable is the action after metricsUnavailableTimeout: Hold (default) holds the revision until the backend answers
	// again, or until a RolloutRequest decides; Reject rejects the revision.
	// +optional
	// +kubebuilder:default=Hold
	// +kubebuilder:validation:Enum=Hold;Reject
	OnMetricsUnavailable MetricsUnavailablePolicy `json:"onMetricsUnavailable,omitempty"`
}

// MetricsUnavailablePolicy is the action on a revision whose metrics backend stays unavailable.
type MetricsUnavailablePolicy string

// Policies for a metrics backend that stays unavailable.
const (
	// MetricsUnavailableHold waits for the backend, or for a RolloutRequest.
	MetricsUnavailableHold MetricsUnavailablePolicy = "Hold"

	// MetricsUnavailableReject rejects the revision.
	MetricsUnavailableReject MetricsUnavailablePolicy = "Reject"
)

// Defaults of the fields about an unavailable metrics backend, equal to the defaults of the schema.
const (
	// DefaultMetricsUnavailableTimeout is the default of metricsUnavailableTimeout.
	DefaultMetricsUnavailableTimeout Duration = "30m"

	// DefaultOnMetricsUnavailable is that of onMetricsUnavailable.
	DefaultOnMetricsUnavailable = MetricsUnavailableHold
)
