package v1alpha1

// Duration is a length of time above zero.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) > duration('0s')",message="must be a duration above zero, such as 30s, 10m or 1h30m"
type Duration string

// ParameterValue is the value of a parameter.
//
// +kubebuilder:validation:MaxLength=4096
type ParameterValue string

// SiteName is the name of a Site.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of a Site: lower-case letters, digits, '-' and '.'"
type SiteName string

// Replicas is a number of replicas. 0 means no pods.
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=10000
type Replicas int32

// Quantity is an amount of a resource.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",message="must be a quantity above zero, such as 500m or 4Gi"
type Quantity string

// Decimal is a number in decimal notation.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="must be a decimal number, such as 20 or 0.5"
type Decimal string

// CompileConfig configures the compilation of the intent.
type CompileConfig struct {
	// Engine that renders manifests.
	// +optional
	// +kubebuilder:default=kustomize
	// +kubebuilder:validation:Enum=kustomize
	Engine string `json:"engine,omitempty"`

	// RenderTimeout is the timeout for rendering. At most 60s, since Crossplane ends a reconcile after two minutes.
	// +optional
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) > duration('0s') && duration(self) <= duration('60s')",message="must be a duration above zero and at most 60s, such as 10s"
	RenderTimeout string `json:"renderTimeout,omitempty"`
}

// BlueprintChoice selects the Blueprint of the intent.
//
// +kubebuilder:validation:XValidation:rule="!has(self.version) || has(self.name)",message="version needs name"
type BlueprintChoice struct {
	// Name of the Blueprint. Absent means the intent's service type.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Name string `json:"name,omitempty"`

	// Version of the Blueprint. It wins over channel. Absent means the version in the channel.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)[.](0|[1-9][0-9]*)(-[0-9a-z.-]+)?$')",message="must be a version such as 1.2.0"
	Version string `json:"version,omitempty"`

	// Channel of the Blueprint.
	// +optional
	// +kubebuilder:default=stable
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Channel string `json:"channel,omitempty"`

	// UpdatePolicy specifies whether a new version in the channel, and a new version of the function with other rendered files, is applied automatically, or
	// after a user approved it with a RolloutRequest.
	// +optional
	// +kubebuilder:default=Automatic
	// +kubebuilder:validation:Enum=Automatic;Manual
	UpdatePolicy string `json:"updatePolicy,omitempty"`
}

// SiteSelector selects Sites by their labels.
type SiteSelector struct {
	// MatchLabels that a Site must have, all of them.
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]LabelValue `json:"matchLabels"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// ConfigReference names the configuration of a repository.
type ConfigReference struct {
	// Kind of the configuration.
	// +optional
	// +kubebuilder:default=ClusterProviderConfig
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the configuration.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of an object: lower-case letters, digits, '-' and '.'"
	Name string `json:"name,omitempty"`
}

// Wave is a group of Sites that are delivered together, one wave after another.
//
// +kubebuilder:validation:XValidation:rule="has(self.sites) != has(self.matchLabels)",message="exactly one of sites and matchLabels must be set"
type Wave struct {
	// Name of the wave.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Sites of the wave.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +listType=set
	Sites []SiteName `json:"sites,omitempty"`

	// MatchLabels of the wave's Sites.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`

	// Steps of the wave, in the place of the steps of canary, which has to be set. Absent means the steps of canary.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=19
	// +kubebuilder:validation:XValidation:rule="self.filter(s, has(s.weight)).map(s, s.weight).isSorted() && self.filter(s, has(s.weight)).all(s, self.filter(t, has(t.weight) && t.weight == s.weight).size() == 1)",message="each weight must be higher than the previous weight"
	// +kubebuilder:validation:XValidation:rule="[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17].all(i, i + 1 >= self.size() || !has(self[i].pause) || !has(self[i + 1].pause))",message="a weight must stand between two pauses"
	// +listType=atomic
	Steps []CanaryStep `json:"steps,omitempty"`
}

// Deletion policies.
const (
	// DeletionRemoveFromGit removes the claim's directories when the claim is deleted.
	DeletionRemoveFromGit = "RemoveFromGit"

	// DeletionOrphan keeps the claim's directories.
	DeletionOrphan = "Orphan"
)

// DeliveryConfig has the Sites of the intent and the settings of its delivery.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.targetSite) && has(self.siteSelector))",message="targetSite and siteSelector exclude each other"
// +kubebuilder:validation:XValidation:rule="has(self.canary) || !has(self.waves) || self.waves.all(w, !has(w.steps))",message="steps of a wave need canary"
type DeliveryConfig struct {
	// TargetSite is a Site's name, both (the two Sites that the namespace may use) or all. Absent means that the intent
	// names its Sites.
	// +optional
	TargetSite SiteName `json:"targetSite,omitempty"`

	// SiteSelector selects the Sites by their labels.
	// +optional
	SiteSelector *SiteSelector `json:"siteSelector,omitempty"`

	// GitOpsRepo names the configuration of the repository. A Site's own repository wins.
	// +optional
	// +kubebuilder:default={}
	GitOpsRepo ConfigReference `json:"gitOpsRepo,omitempty"`

	// LedgerConfigRef names the configuration of the repository that holds the ledger of the deployment: its revisions, verdicts and rollbacks. While
	// that repository is unreachable, no revision is started, judged or rolled back. The field is read when the ledger is opened, with the first
	// revision: a later change has no effect; a RolloutRequest with action MoveLedger moves the ledger. Absent means the repository of the first Site
	// that gets the first revision. A Site of the deployment has to be delivered to it.
	// +optional
	LedgerConfigRef *ConfigReference `json:"ledgerConfigRef,omitempty"`

	// Adopt allows the claim to overwrite a directory with unmanaged files.
	// +optional
	// +kubebuilder:default=false
	Adopt *bool `json:"adopt,omitempty"`

	// DriftPolicy is the action after an unmanaged commit changes the claim's directory: Restore (default) or Report.
	// +optional
	// +kubebuilder:default=Restore
	// +kubebuilder:validation:Enum=Restore;Report
	DriftPolicy string `json:"driftPolicy,omitempty"`

	// DeliveryTimeout is the timeout for a delivery to Git.
	// +optional
	// +kubebuilder:default="10m"
	DeliveryTimeout Duration `json:"deliveryTimeout,omitempty"`

	// SyncWaitTimeout is the time for a Site to run the delivered tree. Default: 10m.
	// +optional
	// +kubebuilder:default="10m"
	SyncWaitTimeout Duration `json:"syncWaitTimeout,omitempty"`

	// ClusterWaitTimeout is the timeout for a Site's cluster to get ready.
	// +optional
	// +kubebuilder:default="30m"
	ClusterWaitTimeout Duration `json:"clusterWaitTimeout,omitempty"`

	// DeletionPolicy is the action in Git after the claim is deleted: RemoveFromGit (default) or Orphan.
	// +optional
	// +kubebuilder:default=RemoveFromGit
	// +kubebuilder:validation:Enum=RemoveFromGit;Orphan
	DeletionPolicy string `json:"deletionPolicy,omitempty"`

	// Waves in which the Sites are delivered. Absent means all Sites at once. Sites without a wave form the last wave.
	// +optional
	// +kubebuilder:validation:MaxItems=5
	// +listType=map
	// +listMapKey=name
	Waves []Wave `json:"waves,omitempty"`

	// Canary has the steps in which a revision gets the requests of the previous revision. The Blueprint has to have spec.canary. Absent means that a
	// revision replaces the previous revision at once.
	// +optional
	Canary *CanaryConfig `json:"canary,omitempty"`
}

// RollbackConfig configures the rollback of a rejected revision.
type RollbackConfig struct {
	// AutoRollback rolls a rejected revision back without a request.
	// +optional
	// +kubebuilder:default=true
	AutoRollback *bool `json:"autoRollback,omitempty"`

	// MaxRetries is the number of attempts of a rollback, from 0 to 10. 0 means no rollback. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	MaxRetries *int32 `json:"maxRetries,omitempty"`

	// AttemptTimeout is the timeout for one attempt. Default: 5m.
	// +optional
	// +kubebuilder:default="5m"
	AttemptTimeout Duration `json:"attemptTimeout,omitempty"`

	// MaxPerHour is the number of other revisions, among the last ten that Git remembers, that may be rejected within an hour before a further rejected
	// revision is rolled back only on request. Abort and RollbackTo are not bound by it. 0 means no limit. Default: 3.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	MaxPerHour *int32 `json:"maxPerHour,omitempty"`

	// RetainFailedArtifacts keeps the trees, the results and the events of the last three rejected revisions, each in a ConfigMap beside
	// the deployment.
	// +optional
	// +kubebuilder:default=false
	RetainFailedArtifacts *bool `json:"retainFailedArtifacts,omitempty"`
}

// IntentDeploymentSpec has an intent, and the settings of its compilation, delivery, checks and rollback.
//
// +kubebuilder:validation:XValidation:rule="has(self.intent) != has(self.expectation)",message="exactly one of intent and expectation must be set"
type IntentDeploymentSpec struct {
	// Intent as text: JSON such as {"service": "edge-analytics", "site": "edge1", "replicas": 2}, or plain language.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	Intent *string `json:"intent,omitempty"`

	// Expectation is the intent in structured form.
	// +optional
	Expectation *Expectation `json:"expectation,omitempty"`

	// CompileConfig configures the compilation of the intent.
	// +optional
	// +kubebuilder:default={}
	CompileConfig CompileConfig `json:"compileConfig,omitempty"`

	// Blueprint that the intent is compiled with.
	// +optional
	// +kubebuilder:default={}
	Blueprint BlueprintChoice `json:"blueprint,omitempty"`

	// DeliveryConfig has the Sites of the intent and the settings of its delivery.
	// +optional
	// +kubebuilder:default={}
	DeliveryConfig DeliveryConfig `json:"deliveryConfig,omitempty"`

	// GatesConfig configures the checks of a delivered revision.
	// +optional
	// +kubebuilder:default={}
	GatesConfig GatesConfig `json:"gatesConfig,omitempty"`

	// RollbackConfig configures the rollback of a rejected revision.
	// +optional
	// +kubebuilder:default={}
	RollbackConfig RollbackConfig `json:"rollbackConfig,omitempty"`

	// Suspend stops new revisions. The Sites are still observed, and a rollback still works. Default: false.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`
}
