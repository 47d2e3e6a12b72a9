package v1alpha1

// Resources are the resource requests of each replica.
type Resources struct {
	// CPU of each replica, such as 500m or 2. Absent means the value of the Blueprint.
	// +optional
	CPU Quantity `json:"cpu,omitempty"`

	// Memory of each replica, such as 4Gi. Absent means the value of the Blueprint.
	// +optional
	Memory Quantity `json:"memory,omitempty"`
}

// Endpoint is a port that the service offers.
type Endpoint struct {
	// Name of the endpoint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	Name string `json:"name"`

	// Port of the endpoint.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// Protocol of the endpoint.
	// +optional
	// +kubebuilder:default=TCP
	// +kubebuilder:validation:Enum=TCP;UDP;SCTP
	Protocol string `json:"protocol,omitempty"`
}

// QoS is the desired quality of service.
type QoS struct {
	// DownlinkMbps is the throughput to the user, in megabits per second.
	// +optional
	DownlinkMbps Decimal `json:"downlinkMbps,omitempty"`

	// UplinkMbps is the throughput from the user, in megabits per second.
	// +optional
	UplinkMbps Decimal `json:"uplinkMbps,omitempty"`

	// LatencyMs is the longest latency, in milliseconds.
	// +optional
	LatencyMs Decimal `json:"latencyMs,omitempty"`

	// JitterMs is the largest jitter, in milliseconds.
	// +optional
	JitterMs Decimal `json:"jitterMs,omitempty"`

	// PacketLossRate is the largest share of lost packets, from 0 to 1.
	// +optional
	PacketLossRate Decimal `json:"packetLossRate,omitempty"`
}

// Slice is a network slice (3GPP TS 23.003, section 28.4).
type Slice struct {
	// SST is the slice or service type.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=255
	SST int32 `json:"sst"`

	// SD is the slice differentiator, six hexadecimal digits. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^[0-9A-Fa-f]{6}$`
	SD string `json:"sd,omitempty"`

	// PLMN is the mobile network's code, five or six digits. Absent means the Site's.
	// +optional
	// +kubebuilder:validation:MaxLength=6
	// +kubebuilder:validation:Pattern=`^[0-9]{5,6}$`
	PLMN string `json:"plmn,omitempty"`
}

// Expectation is an intent in structured form.
type Expectation struct {
	// Service is the name of the service to run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=52
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must be a DNS label: lower-case letters, digits and '-', beginning with one of a-z"
	Service string `json:"service"`

	// Type of the service. It chooses the Blueprint.
	// +optional
	// +kubebuilder:default=web
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Type string `json:"type,omitempty"`

	// Sites to run at. Absent means that deliveryConfig names them.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	Sites []SiteName `json:"sites,omitempty"`

	// Replicas at each Site. 0 means no pods.
	// +optional
	// +kubebuilder:default=1
	Replicas *Replicas `json:"replicas,omitempty"`

	// SiteReplicas are the replicas at single Sites, by the Site's name, instead of replicas.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	SiteReplicas map[string]Replicas `json:"siteReplicas,omitempty"`

	// Image that runs. Absent means the Blueprint's.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// Resources are the resource requests of each replica.
	// +optional
	Resources Resources `json:"resources,omitempty"`

	// Runtime has settings for the containers and pods of the service. Absent means the settings of the Blueprint.
	// +optional
	Runtime *Runtime `json:"runtime,omitempty"`

	// Endpoints that the service offers.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	Endpoints []Endpoint `json:"endpoints,omitempty"`

	// Parameters for the Blueprint.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`

	// QoS is the desired quality of service.
	// +optional
	QoS *QoS `json:"qos,omitempty"`

	// Slice that the service belongs to.
	// +optional
	Slice *Slice `json:"slice,omitempty"`

	// Priority of the intent.
	// +optional
	// +kubebuilder:default=medium
	// +kubebuilder:validation:Enum=low;medium;high;critical
	Priority string `json:"priority,omitempty"`
}
