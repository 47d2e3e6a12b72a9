package v1alpha1

// ObjectName is the name of an object in the namespace of the workload.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of an object: lower-case letters, digits, '-' and '.'"
type ObjectName string

// DataKey is a key of a Secret or a ConfigMap.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$')",message="must be a key of a Secret or a ConfigMap: letters, digits, '-', '_' and '.'"
type DataKey string

// EnvName is the name of an environment variable.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$')",message="must be the name of an environment variable: letters, digits and '_', and no digit first"
type EnvName string

// ObjectReference names an object in the namespace of the workload, at its Site. Objects of other namespaces cannot be named.
type ObjectReference struct {
	// Name of the object.
	// +required
	Name ObjectName `json:"name"`
}

// KeyReference names a key of a Secret or a ConfigMap in the namespace of the workload, at its Site. Only the reference is delivered: the value is
// neither in Git nor in a status.
type KeyReference struct {
	// Key whose value is taken.
	// +required
	Key DataKey `json:"key"`

	// Name of the Secret or the ConfigMap. Pods wait until it exists.
	// +required
	Name ObjectName `json:"name"`
}

// EnvSource is the source of the value of an environment variable.
//
// +kubebuilder:validation:XValidation:rule="has(self.configMapKeyRef) != has(self.secretKeyRef)",message="exactly one of configMapKeyRef and secretKeyRef must be set"
type EnvSource struct {
	// ConfigMapKeyRef takes the value from a ConfigMap.
	// +optional
	ConfigMapKeyRef *KeyReference `json:"configMapKeyRef,omitempty"`

	// SecretKeyRef takes the value from a Secret.
	// +optional
	SecretKeyRef *KeyReference `json:"secretKeyRef,omitempty"`
}

// EnvVar is one environment variable.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.value) && has(self.valueFrom))",message="value and valueFrom exclude each other"
type EnvVar struct {
	// Name of the variable.
	// +required
	Name EnvName `json:"name"`

	// Value of the variable. Absent, without valueFrom, means that it is empty. $(NAME) stands for a variable before it, as in Kubernetes.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`

	// ValueFrom takes the value from a Secret or a ConfigMap.
	// +optional
	ValueFrom *EnvSource `json:"valueFrom,omitempty"`
}

// Binding mounts a Secret as the Service Binding specification defines: each key is a file in /bindings/<name>, and SERVICE_BINDING_ROOT is /bindings.
type Binding struct {
	// Name of the folder below /bindings.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Name string `json:"name"`

	// SecretRef names the Secret.
	// +required
	SecretRef ObjectReference `json:"secretRef"`
}

// HealthCheck configures the readiness check of a container.
type HealthCheck struct {
	// Path that has to answer a GET with a status from 200 to 399. Absent means that the port has to accept connections.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[-A-Za-z0-9/._~]*$')",message="must be a path that begins with '/'"
	Path string `json:"path,omitempty"`

	// Port of the request.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// Autoscaling scales the workload by its use of CPU. A cluster needs its metrics server for that.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min must not be greater than max"
type Autoscaling struct {
	// CPUPercent is the target use of CPU, in percent of the pods' CPU requests, from 1 to 1000. Default: 70.
	// +optional
	// +kubebuilder:default=70
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	CPUPercent int32 `json:"cpuPercent,omitempty"`

	// Max is the greatest number of replicas at each Site.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Max int32 `json:"max"`

	// Min is the smallest number of replicas at each Site.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Min int32 `json:"min,omitempty"`
}

// Runtime has settings for the first container of a workload, and for its pods. They apply to the workload with the label intentplane.dev/workload:
// main, in any Blueprint.
type Runtime struct {
	// Autoscaling scales the workload, instead of replicas. Absent means the number in replicas.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// Bindings are Secrets that are mounted below /bindings.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Bindings []Binding `json:"bindings,omitempty"`

	// Env are environment variables, in this order. A variable replaces the Blueprint's variable of the same name; the others follow the
	// variables of the Blueprint.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=map
	// +listMapKey=name
	Env []EnvVar `json:"env,omitempty"`

	// Health is the readiness probe, in the place of the Blueprint's. Absent means the Blueprint's.
	// +optional
	Health *HealthCheck `json:"health,omitempty"`

	// ImagePullSecrets are Secrets for pulling images, beside the Secrets of the Blueprint.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []ObjectReference `json:"imagePullSecrets,omitempty"`
}
