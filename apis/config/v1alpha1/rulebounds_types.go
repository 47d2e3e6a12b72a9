package v1alpha1

import deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"

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
	MinInterval deploymentv1alpha1.Duration `json:"minInterval,omitempty"`

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
	MaxInitialDelay deploymentv1alpha1.Duration `json:"maxInitialDelay,omitempty"`

	// MaxTimeout of a check, from 1s to 24h. Absent means 24h.
	// +optional
	MaxTimeout deploymentv1alpha1.Duration `json:"maxTimeout,omitempty"`

	// NoDataPass specifies whether a deployment may set noData to Pass. Allow counts in a Site and in a ClusterProviderConfig. Absent means Deny,
	// unless the other one allows it.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Deny
	NoDataPass NoDataPassPolicy `json:"noDataPass,omitempty"`
}
