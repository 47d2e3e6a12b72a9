package v1alpha1

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// RepositoryReference names the configuration of a repository.
type RepositoryReference struct {
	// Kind of the configuration.
	// +optional
	// +kubebuilder:default=ClusterProviderConfig
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the configuration.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SiteTree is the tree that one Site has to run.
type SiteTree struct {
	// Name of the Site.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Wave of the Site: the step of the plan from which on it has to run the tree.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=19
	Wave int32 `json:"wave"`

	// Path of the claim's directory from the repository's root: <pathPrefix>/<Site path>/<namespace>/<name>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=700
	Path string `json:"path"`

	// Tree is the git tree id (SHA-1, 40 hexadecimal digits) of the directory's files without the marker.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-f]{40}$')",message="must be a git tree id"
	Tree string `json:"tree"`

	// RepositoryRef names the configuration of the repository that the directory is in.
	// +required
	RepositoryRef RepositoryReference `json:"repositoryRef"`

	// Traffic is the desired share of requests of each track of the directory. Absent for a directory without tracks.
	// +optional
	Traffic *SiteTraffic `json:"traffic,omitempty"`
}

// SiteSyncParameters are the Sites to observe, and their timeouts.
type SiteSyncParameters struct {
	// ClaimRef names the claim that is observed.
	// +required
	ClaimRef rolloutv1alpha1.ClaimReference `json:"claimRef"`

	// Position of the deployment that the Sites have to run. A SiteSync observes any requested position, also a lower one. Where the ledger reached a later
	// position of the revision, or of its rollback, by a mandate of its home, a SiteSync observes the later position.
	// +required
	Position *ledger.Position `json:"position,omitempty"`

	// SyncWaitTimeout is the timeout for a Site to run its tree once that is in the repository.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h, such as 10m"
	SyncWaitTimeout string `json:"syncWaitTimeout,omitempty"`

	// ClusterWaitTimeout is the timeout for a Cluster API cluster that a Site names to become ready. It counts from the first observation of the step,
	// and separately from syncWaitTimeout, which begins after it.
	// +optional
	// +kubebuilder:default="30m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h, such as 30m"
	ClusterWaitTimeout string `json:"clusterWaitTimeout,omitempty"`

	// Pause is the time that the step lasts after all of its Sites are live: a duration, or Manual, which lasts until a user promotes the step
	// (promoted). Condition Released reports the end, once for a position. Absent means that the step has no pause.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self == 'Manual' || self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="must be Manual or a duration from 1s to 720h, such as 10m"
	Pause string `json:"pause,omitempty"`

	// Promoted is true if a user ended the pause of the step. Default: false.
	// +optional
	Promoted bool `json:"promoted,omitempty"`

	// Sites that are observed.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=name
	Sites []SiteTree `json:"sites,omitempty"`
}

// SiteState is the state of a Site.
type SiteState string

// States of a Site.
const (
	// SiteWaitingForCluster means that the Site's cluster is not ready.
	SiteWaitingForCluster SiteState = "WaitingForCluster"

	// SitePending means that the Site need not run the tree yet.
	SitePending SiteState = "Pending"

	// SiteSyncing means that the Site was not proven to run the tree.
	SiteSyncing SiteState = "Syncing"

	// SiteLive means that the Site runs the tree.
	SiteLive SiteState = "Live"

	// SiteFailed means that the Site's engine tried the tree and failed, or that its cluster declared final that an object failed.
	SiteFailed SiteState = "Failed"

	// SiteTimedOut means that the Site took too long.
	SiteTimedOut SiteState = "TimedOut"

	// SiteUnobserved means that no engine reports the tree that the Site runs.
	SiteUnobserved SiteState = "Unobserved"
)

// Proof is the kind of evidence that the running objects match the tree.
type Proof string

// Proofs, the strongest first.
const (
	// ProofExact means that the engine applied the files as they are.
	ProofExact Proof = "Exact"

	// ProofTransformed means that the engine, or a file above the claim's directory, may have changed the applied objects.
	ProofTransformed Proof = "Transformed"

	// ProofHydrated means that the engine applied files that it had rendered from the delivered files.
	ProofHydrated Proof = "Hydrated"
)

// SiteClusterObservation is the observed state of a Site's cluster.
type SiteClusterObservation struct {
	// UID of the Cluster. A Cluster that was recreated under the same name has another UID.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// InitializedAt is the time since which the control plane of that Cluster is initialized. It is never reset, also if another controller resets its
	// condition.
	// +optional
	InitializedAt *metav1.Time `json:"initializedAt,omitempty"`

	// PassedAt is the time when the cluster was first observed ready for this attempt. It stays if the cluster becomes unready later: a Site that passed
	// does not wait again.
	// +optional
	PassedAt *metav1.Time `json:"passedAt,omitempty"`

	// Ready reports whether the provider may deliver to the cluster: the cluster has been ready without interruption for 10 s, or for the
	// stabilization time of the ManagedCluster that published the Site, and for longer if it is flapping.
	// +optional
	Ready *bool `json:"ready,omitempty"`

	// Reason why the cluster is not ready; after it passed, the reason why it is degraded, until it has been healthy for long enough.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// EngineObservation is the self-reported state of a Site's engine.
type EngineObservation struct {
	// Kind of the engine's object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// ObservedGeneration of the engine's object.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Target is a digest of the UID of the engine's object and of the destination in its spec. It changes if another object, or another cluster, takes the place.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Target string `json:"target,omitempty"`

	// URL of the repository that the engine reads, without credentials, if it differs from the URL in the configuration: another form of that URL, or a
	// mirror with the commit. Empty if both are equal.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`

	// Health that the engine reports. Empty if the engine does not check it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Health string `json:"health,omitempty"`
}

// SiteObservation is the observed state of one Site.
type SiteObservation struct {
	// Name of the Site.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// State of the Site.
	// +required
	// +kubebuilder:validation:Enum=WaitingForCluster;Pending;Syncing;Live;Failed;TimedOut;Unobserved
	State SiteState `json:"state"`

	// Reason of the state. Empty with Live.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason, with the engine's own message.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// Cluster of the Site, if the Site names a Cluster API cluster.
	// +optional
	Cluster *SiteClusterObservation `json:"cluster,omitempty"`

	// Commit that proved the Site live; before that, the commit that its engine applied last.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Tree that the commit holds in the claim's directory, without the marker.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Tree string `json:"tree,omitempty"`

	// DesiredTree is the tree that the Site has to run at a later position than the position of the spec. Absent if it is the tree of the commit, while the Site
	// need not run it yet, and at the position of the spec.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	DesiredTree string `json:"desiredTree,omitempty"`

	// Proof that the Site runs the tree.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Proof Proof `json:"proof,omitempty"`

	// Unproven names the objects of the tree that the proof does not cover, each with the annotation, the label or the kind because of which the engine
	// skips it, applies it once or later, or may keep it after its removal. Up to 16 items; the last item has the number of omitted objects. Absent
	// means that the proof covers each object, or that the Site has no proof.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=atomic
	Unproven []string `json:"unproven,omitempty"`

	// Engine of the Site.
	// +optional
	Engine *EngineObservation `json:"engine,omitempty"`

	// Traffic of the Site's tracks. It stays across positions, as long as the Site has tracks.
	// +optional
	Traffic *SiteTrafficObservation `json:"traffic,omitempty"`

	// StartedAt is the time when the wait for the Site began. Absent without a wait.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// LiveSince is the time since which the Site was observed to run the tree in this attempt.
	// +optional
	LiveSince *metav1.Time `json:"liveSince,omitempty"`
}

// PauseObservation is the pause of a step.
type PauseObservation struct {
	// Position that the pause belongs to.
	// +required
	Position ledger.Position `json:"position"`

	// StartedAt is the time when all Sites of the step were first observed live at the position, to the second. It stays if a Site is temporarily not
	// live.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// StartedMicros are the microseconds after startedAt at which the pause began. Absent means none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999999
	StartedMicros int32 `json:"startedMicros,omitempty"`

	// EndsAt is the end of the pause, rounded up to a whole second. It is the start of the pause plus the current spec's pause.
	// +required
	EndsAt metav1.Time `json:"endsAt"`
}

// Start returns the time when the pause began.
func (p PauseObservation) Start() time.Time {
	return p.StartedAt.Add(time.Duration(p.StartedMicros) * time.Microsecond)
}

// SiteSyncObservation is the observed state of the Sites.
type SiteSyncObservation struct {
	// Position that the observation is about: the position of the spec, or a later position of the ledger. Absent means that nothing was observed.
	// +optional
	Position *ledger.Position `json:"position,omitempty"`

	// StartedAt is the time of the first observation of the step, in the present attempt.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// Pause of the step. Absent before it begins, for a step without a pause, and for a pause that only a user ends.
	// +optional
	Pause *PauseObservation `json:"pause,omitempty"`

	// SitesLive is the number of live Sites.
	// +optional
	SitesLive int32 `json:"sitesLive"`

	// Sites, in the order of the spec.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=name
	Sites []SiteObservation `json:"sites,omitempty"`
}

// SiteSyncSpec is the set of Sites to observe.
type SiteSyncSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider is the set of Sites to observe.
	// +required
	ForProvider SiteSyncParameters `json:"forProvider"`
}

// SiteSyncStatus is the last observation.
type SiteSyncStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the observed state of the Sites.
	// +optional
	AtProvider SiteSyncObservation `json:"atProvider,omitempty"`
}

// A SiteSync observes whether the Sites of one claim run the trees of a position. It is Ready when all Sites of the waves until the current step do.
// It creates no objects, so its deletion cleans up none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="CLAIM",type="string",JSONPath=".spec.forProvider.claimRef.name"
// +kubebuilder:printcolumn:name="REVISION",type="integer",JSONPath=".spec.forProvider.position.revision"
// +kubebuilder:printcolumn:name="LIVE",type="integer",JSONPath=".status.atProvider.sitesLive"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="RELEASED",type="string",JSONPath=".status.conditions[?(@.type=='Released')].reason"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type SiteSync struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the observation.
	// +required
	Spec SiteSyncSpec `json:"spec"`

	// Status of the observation.
	// +optional
	Status SiteSyncStatus `json:"status,omitempty"`
}

// SiteSyncList contains a list of SiteSyncs.
//
// +kubebuilder:object:root=true
type SiteSyncList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SiteSync `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&SiteSync{}, &SiteSyncList{})
}
