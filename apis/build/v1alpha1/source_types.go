package v1alpha1

import (
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// GitSource is a directory of a Git repository, at a revision.
type GitSource struct {
	// URL of the repository, without credentials in it: https, http or ssh.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://([A-Za-z0-9][A-Za-z0-9.-]*|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?/[-A-Za-z0-9._~/%+]+$') || self.matches('^ssh://([A-Za-z0-9_][A-Za-z0-9._-]*@)?([A-Za-z0-9][A-Za-z0-9.-]*|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?/[-A-Za-z0-9._~/%+]+$') || self.matches('^[A-Za-z0-9_][A-Za-z0-9._-]*@([A-Za-z0-9][A-Za-z0-9.-]*|[[][0-9A-Fa-f:.]+[]]):[A-Za-z0-9._~/][-A-Za-z0-9._~/%+]*$')",message="must be an https, http or ssh URL such as https://git.example.org/team/shop.git, or git@git.example.org:team/shop.git, without credentials, query or fragment"
	URL string `json:"url"`

	// Revision that is built: a branch, a tag, a full name such as refs/heads/main, or all characters of a commit id. A branch and a tag of one name
	// need the full name. A commit id is never looked up.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_][-A-Za-z0-9._/+@]*$') && !self.contains('..') && !self.contains('//') && !self.contains('/.') && !self.contains('/-') && !self.endsWith('/') && !self.endsWith('.') && !self.endsWith('.lock')",message="must be the name of a branch or a tag, such as main, or a full commit id"
	Revision string `json:"revision"`

	// SubPath is the directory with the source. Absent means the root of the repository.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$')",message="must be a relative path of letters, digits, '-', '_' and '.', whose parts do not begin with a dot"
	SubPath string `json:"subPath,omitempty"`

	// SecretRef names a Secret of the namespace with which the repository is read: username and password, or for ssh ssh-privatekey and known_hosts. kpack
	// reads the repository separately: its service account has to name the Secret, too. Absent means anonymous.
	// +optional
	SecretRef *deploymentv1alpha1.ObjectReference `json:"secretRef,omitempty"`
}

// BlobSource is an archive. Its URL is its identity: the content at the URL is not checked.
type BlobSource struct {
	// URL of the archive, without credentials in it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^https?://([A-Za-z0-9][A-Za-z0-9.-]*|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?/[-A-Za-z0-9._~/%+]+$')",message="must be an https or http URL such as https://files.example.org/shop-1.2.tgz, without credentials, query or fragment"
	URL string `json:"url"`
}

// SecretKey names a key of a Secret.
type SecretKey struct {
	// Name of the Secret. It is in the namespace of the Application.
	// +required
	Name deploymentv1alpha1.ObjectName `json:"name"`

	// Key whose value is taken.
	// +optional
	// +kubebuilder:default=token
	Key deploymentv1alpha1.DataKey `json:"key,omitempty"`
}

// Webhook authenticates the requests of a Git server for an observation of the repository.
type Webhook struct {
	// SecretRef names the Secret with the token that the Git server has, too, of 16 to 1024 bytes. GitHub and Gitea sign with it; GitLab signs with it or
	// sends it.
	// +required
	SecretRef SecretKey `json:"secretRef"`
}

// Source of an image.
//
// +kubebuilder:validation:XValidation:rule="has(self.git) != has(self.blob)",message="exactly one of git and blob must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.webhook) || has(self.git)",message="webhook needs git"
type Source struct {
	// Git is a directory of a Git repository.
	// +optional
	Git *GitSource `json:"git,omitempty"`

	// Blob is an archive.
	// +optional
	Blob *BlobSource `json:"blob,omitempty"`

	// Interval between observations of the repository, from 30s to 24h. All objects that name the repository share one observation.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="must be a duration from 30s to 24h, such as 5m"
	Interval string `json:"interval,omitempty"`

	// Webhook lets a Git server request an observation of the repository, with POST /hooks/<namespace>/<name of the Application> to the address that the
	// provider's flag --source-webhook-address opens. A hook has no other effect: its body is not read. Absent means that each is refused.
	// +optional
	Webhook *Webhook `json:"webhook,omitempty"`

	// Trigger builds the same source again each time that it gets another value.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-A-Za-z0-9._:]*$')",message="must consist of letters, digits, '-', '.', '_' and ':'"
	Trigger string `json:"trigger,omitempty"`
}

// BuilderReference names a builder of kpack.
type BuilderReference struct {
	// Kind of the builder: a ClusterBuilder, or a Builder of the namespace.
	// +optional
	// +kubebuilder:default=ClusterBuilder
	// +kubebuilder:validation:Enum=ClusterBuilder;Builder
	Kind string `json:"kind,omitempty"`

	// Name of the builder.
	// +required
	Name deploymentv1alpha1.ObjectName `json:"name"`
}

// Variable is an environment variable of a build.
type Variable struct {
	// Name of the variable.
	// +required
	Name deploymentv1alpha1.EnvName `json:"name"`

	// Value of the variable, which may be empty. It is required: a build takes no value from a Secret, and a valueFrom that is dropped by a client as an
	// unknown field must not become an empty variable. Use bindings for Secrets.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value"`
}

// CPU is an amount of processors.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="isQuantity(self) && quantity(self).isGreaterThan(quantity('0')) && !quantity(self).isGreaterThan(quantity('256'))",message="must be a quantity above zero and at most 256, such as 500m"
type CPU string

// Memory is an amount of memory or storage.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="isQuantity(self) && quantity(self).isGreaterThan(quantity('0')) && !quantity(self).isGreaterThan(quantity('4Ti'))",message="must be a quantity above zero and at most 4Ti, such as 512Mi"
type Memory string

// Resources of each step of a build.
type Resources struct {
	// CPU request of a step. At most 256, and at most the limit of the configuration. Absent means none.
	// +optional
	CPU CPU `json:"cpu,omitempty"`

	// Memory request and limit of a step. At most 4Ti, and at most the limit of the configuration. Absent means none.
	// +optional
	Memory Memory `json:"memory,omitempty"`
}

// Cache is the storage that builds of an image share.
//
// +kubebuilder:validation:XValidation:rule="has(self.volume) != (has(self.registry) && self.registry)",message="exactly one of volume and registry must be set"
type Cache struct {
	// Volume is the size of a volume, which must not become smaller. The cluster needs a default StorageClass for it.
	// +optional
	Volume Memory `json:"volume,omitempty"`

	// Registry keeps the cache beside the image, under the tag build-cache. Default: false.
	// +optional
	Registry bool `json:"registry,omitempty"`
}

// Settings of a build.
type Settings struct {
	// Builder of kpack. Absent means the builder of the configuration.
	// +optional
	Builder *BuilderReference `json:"builder,omitempty"`

	// ServiceAccountName is the service account of the namespace that names the Secrets to read the source and push the image with. Absent means the
	// service account of the configuration.
	// +optional
	ServiceAccountName deploymentv1alpha1.ObjectName `json:"serviceAccountName,omitempty"`

	// Env are environment variables of the build, in this order.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Env []Variable `json:"env,omitempty"`

	// Bindings are Secrets of the namespace that buildpacks read, each in a directory of its name, as the Service Binding specification defines.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Bindings []deploymentv1alpha1.ObjectReference `json:"bindings,omitempty"`

	// Resources of each step of the build.
	// +optional
	Resources Resources `json:"resources,omitempty"`

	// Timeout after which a build is ended, from 1m to 24h.
	// +optional
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="must be a duration from 1m to 24h, such as 30m"
	Timeout string `json:"timeout,omitempty"`

	// Cache of the builds. Absent means none.
	// +optional
	Cache *Cache `json:"cache,omitempty"`

	// Retries is the number of retries of a build that failed because of the infrastructure: an evicted pod, a lost node, a registry that did not answer.
	// A failed step detect or build is never retried. From 0, which means never, to 3.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3
	Retries *int32 `json:"retries,omitempty"`
}
