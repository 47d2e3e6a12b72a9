package v1alpha1

import (
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// CPU is an amount of processors.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="isQuantity(self) && quantity(self).isGreaterThan(quantity('0')) && !quantity(self).isGreaterThan(quantity('256'))",message="must be a quantity above zero and at most 256, such as 500m"
type CPU string

// Memory is an amount of memory.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="isQuantity(self) && quantity(self).isGreaterThan(quantity('0')) && !quantity(self).isGreaterThan(quantity('4Ti'))",message="must be a quantity above zero and at most 4Ti, such as 512Mi"
type Memory string

// Resources are the CPU request, and the memory request and limit, of each replica.
type Resources struct {
	// CPU of each replica, such as 500m or 2. At most 256. Absent means the value of the Blueprint: 100m with app and app-internal.
	// +optional
	CPU CPU `json:"cpu,omitempty"`

	// Memory of each replica, request and limit, such as 512Mi. At most 4Ti. Absent means the value of the Blueprint: 128Mi with app and app-internal.
	// +optional
	Memory Memory `json:"memory,omitempty"`
}

// ServiceVariable is an environment variable that has the value of one key of an attached service's Secret.
type ServiceVariable struct {
	// Name of the variable.
	// +required
	Name deploymentv1alpha1.EnvName `json:"name"`

	// Key of the Secret.
	// +required
	Key deploymentv1alpha1.DataKey `json:"key"`
}

// Service is an attached service, such as a database, with the Secret of its address and credentials.
type Service struct {
	// Name of the service.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Name string `json:"name"`

	// SecretRef names the Secret. It is in the namespace of the Application, at each Site: neither Git nor a status has its values.
	// +required
	SecretRef deploymentv1alpha1.ObjectReference `json:"secretRef"`

	// Env are variables with values of the Secret. They follow the variables of spec.env.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Env []ServiceVariable `json:"env,omitempty"`

	// Mount mounts the Secret at /bindings/<name>, as the Service Binding specification defines.
	// +optional
	// +kubebuilder:default=true
	Mount *bool `json:"mount,omitempty"`
}

// Health configures the readiness check of a pod.
type Health struct {
	// Path that has to answer a GET to the port with a status from 200 to 399.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[-A-Za-z0-9/._~]*$')",message="must be a path that begins with '/'"
	Path string `json:"path"`
}

// GatewayReference names a Gateway of each Site.
type GatewayReference struct {
	// Name of the Gateway. Absent means the Blueprint's: public with app.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of an object: lower-case letters, digits, '-' and '.'"
	Name string `json:"name,omitempty"`

	// Namespace of the Gateway. Absent means the Blueprint's: gateway-system with app.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Namespace string `json:"namespace,omitempty"`
}

// Route is the address of the service outside of its cluster.
type Route struct {
	// Enabled set to false removes the route, and keeps the other fields. Default: true.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// Host that is served, without a wildcard.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="must be the name of one host: lower-case letters, digits, '-' and '.'"
	Host string `json:"host"`

	// Path is the prefix of the paths that are served. Absent means the Blueprint's: all with app.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[-A-Za-z0-9/._~]*$')",message="must be a path that begins with '/'"
	Path string `json:"path,omitempty"`

	// Gateway that accepts the requests.
	// +optional
	Gateway *GatewayReference `json:"gateway,omitempty"`

	// TLS is true if the Gateway has a certificate for the host, so that status.url begins with https. The route is the same.
	// +optional
	// +kubebuilder:default=false
	TLS *bool `json:"tls,omitempty"`
}

// Deploy has the Sites of the service, and the settings of delivery, checks and rollback: the blocks of an IntentDeployment.
type Deploy struct {
	// Sites to run at. Absent means that deliveryConfig names them.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	Sites []deploymentv1alpha1.SiteName `json:"sites,omitempty"`

	// Type of the service, which chooses its Blueprint. Absent means app with a route, and app-internal without one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Type string `json:"type,omitempty"`

	// Parameters for the Blueprint, beside the parameters that a route sets: host, path, gateway and gateway-namespace.
	// +optional
	// +kubebuilder:validation:MaxProperties=60
	// +kubebuilder:validation:XValidation:rule="!('host' in self) && !('path' in self) && !('gateway' in self) && !('gateway-namespace' in self)",message="host, path, gateway and gateway-namespace are set by spec.route"
	Parameters map[string]deploymentv1alpha1.ParameterValue `json:"parameters,omitempty"`

	// Blueprint that the service is compiled with.
	// +optional
	// +kubebuilder:default={}
	Blueprint deploymentv1alpha1.BlueprintChoice `json:"blueprint,omitempty"`

	// DeliveryConfig has the Sites of the service and the settings of its delivery.
	// +optional
	// +kubebuilder:default={}
	DeliveryConfig deploymentv1alpha1.DeliveryConfig `json:"deliveryConfig,omitempty"`

	// GatesConfig configures the checks of a delivered revision.
	// +optional
	// +kubebuilder:default={}
	GatesConfig deploymentv1alpha1.GatesConfig `json:"gatesConfig,omitempty"`

	// ProgressTimeout is the time for pods of a revision until one is available at each Site, counted from the moment when the Site runs the revision, from
	// 15s to 24h. A Gate rejects a revision that takes longer, such as a revision whose containers exit repeatedly, and it is rolled back in Git. Time
	// in which a Site cannot be observed does not count. It has no effect while gatesConfig.enabled is false. Absent means no timeout: the Application
	// stays Deploying, with its reason.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('15s') && duration(self) <= duration('24h')",message="must be from 15s to 24h"
	ProgressTimeout deploymentv1alpha1.Duration `json:"progressTimeout,omitempty"`

	// RollbackConfig configures the rollback of a rejected revision.
	// +optional
	// +kubebuilder:default={}
	RollbackConfig deploymentv1alpha1.RollbackConfig `json:"rollbackConfig,omitempty"`

	// Suspend stops new revisions. The Sites are still observed, and a rollback still works. Default: false.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`
}

// UpdatesPolicy is the action on an image that was rebuilt from the same source, with a new stack, buildpack or builder.
type UpdatesPolicy string

// Policies for rebuilt images.
const (
	// UpdatesAutomatic delivers them.
	UpdatesAutomatic UpdatesPolicy = "Automatic"

	// UpdatesManual delivers the image that approved names.
	UpdatesManual UpdatesPolicy = "Manual"

	// UpdatesWithSource delivers them with the next commit or edit of the source.
	UpdatesWithSource UpdatesPolicy = "WithSource"
)

// Build configures the build of the source.
type Build struct {
	buildv1alpha1.Settings `json:",inline"`

	// Updates is the action on an image that was rebuilt from the same source, with a new stack, buildpack or builder: Automatic delivers it, Manual waits
	// until approved names it, and WithSource leaves it to the next commit.
	// +optional
	// +kubebuilder:default=Automatic
	// +kubebuilder:validation:Enum=Automatic;Manual;WithSource
	Updates UpdatesPolicy `json:"updates,omitempty"`

	// Approved is the digest of the rebuilt image that may be delivered, as status.build.waiting.image has it. It counts with updates Manual.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:XValidation:rule="self.matches('^sha256:[0-9a-f]{64}$')",message="must be a digest: sha256: and 64 characters"
	Approved string `json:"approved,omitempty"`
}

// ApplicationSpec names the image to run, or the source to build it from, with its settings and its Sites.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) != has(self.source)",message="exactly one of image and source must be set"
// +kubebuilder:validation:XValidation:rule="has(self.source) || !has(self.build)",message="build needs source"
// +kubebuilder:validation:XValidation:rule="!has(self.autoscaling) || !has(self.replicas) && !has(self.siteReplicas)",message="autoscaling excludes replicas and siteReplicas"
type ApplicationSpec struct {
	// Source that the image is built of. Absent means that image names it.
	// +optional
	Source *buildv1alpha1.Source `json:"source,omitempty"`

	// Build configures the build of the source.
	// +optional
	Build *Build `json:"build,omitempty"`

	// Image that runs, such as registry.example.org/team/shop@sha256:…. It is not resolved: a later change of a tag to another image is not detected.
	// Absent means that it is built of source.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[][A-Za-z0-9._:/@-]+$')",message="must be the reference of an image, such as registry.example.org/team/app:1.2.0"
	Image string `json:"image,omitempty"`

	// Port that the service listens at. Absent means the Blueprint's: 8080 with app and app-internal, which set PORT to it.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port *int32 `json:"port,omitempty"`

	// Replicas at each Site. 0 means no pods. Absent means 1.
	// +optional
	Replicas *deploymentv1alpha1.Replicas `json:"replicas,omitempty"`

	// SiteReplicas are the replicas at single Sites, by the Site's name, instead of replicas.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	SiteReplicas map[string]deploymentv1alpha1.Replicas `json:"siteReplicas,omitempty"`

	// Autoscaling scales the service at each Site, in the place of replicas.
	// +optional
	Autoscaling *deploymentv1alpha1.Autoscaling `json:"autoscaling,omitempty"`

	// Resources are the CPU request, and the memory request and limit, of each replica.
	// +optional
	Resources Resources `json:"resources,omitempty"`

	// Env are environment variables, in this order. Secrets and ConfigMaps are read from the Application's namespace, at each Site.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Env []deploymentv1alpha1.EnvVar `json:"env,omitempty"`

	// Services are attached services: the Secret of each is exposed as environment variables and as files.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Services []Service `json:"services,omitempty"`

	// Health configures the readiness check of a pod. Absent means the check of the Blueprint: with app and app-internal the port has to accept connections.
	// +optional
	Health *Health `json:"health,omitempty"`

	// ImagePullSecrets are Secrets with which the image is pulled, in the namespace of the Application at each Site.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []deploymentv1alpha1.ObjectReference `json:"imagePullSecrets,omitempty"`

	// Route is the address of the service outside of its cluster. Absent means that only its cluster reaches it.
	// +optional
	Route *Route `json:"route,omitempty"`

	// Deploy has the Sites of the service, and the settings of delivery, checks and rollback.
	// +optional
	// +kubebuilder:default={}
	Deploy Deploy `json:"deploy,omitempty"`
}

// IsRouted reports whether the service has a route.
func (s *ApplicationSpec) IsRouted() bool {
	return s.Route != nil && (s.Route.Enabled == nil || *s.Route.Enabled)
}

// IsBuilt reports whether the image is built of a source.
func (s *ApplicationSpec) IsBuilt() bool { return s.Source != nil }
