package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// SiteSyncReference names a SiteSync in the same namespace.
type SiteSyncReference struct {
	// Name of the SiteSync.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// GateCheck is one check at one Site.
//
// +kubebuilder:validation:XValidation:rule="has(self.site)",message="a check of a Gate names its Site"
type GateCheck struct {
	deploymentv1alpha1.Check `json:",inline"`

	// ProviderConfigReference names the configuration of the Site's repository. Absent means the configuration of the Gate.
	// +optional
	ProviderConfigReference *xpv2.ProviderConfigReference `json:"providerConfigRef,omitempty"`
}

// ConfigOf returns the configuration that bounds the addresses and queries of a check: the check's own, or else the Gate's. It is nil if neither names one.
func (g *Gate) ConfigOf(c GateCheck) *xpv2.ProviderConfigReference {
	if c.ProviderConfigReference != nil {
		return c.ProviderConfigReference
	}
	return g.Spec.ProviderConfigReference
}

// GateParameters are the position to judge, and its checks.
type GateParameters struct {
	// ClaimRef names the claim that is judged.
	// +required
	ClaimRef ClaimReference `json:"claimRef"`

	// Position of the deployment whose revision and step are judged.
	// +required
	Position *ledger.Position `json:"position,omitempty"`

	// Blueprint that the revision was compiled with. Its metrics are allowed even if a Site or a configuration allows no other queries. Absent means that only
	// queries that are allowed without a Blueprint may be sent.
	// +optional
	Blueprint *ledger.BlueprintReference `json:"blueprint,omitempty"`

	// SiteSyncRef names the SiteSync that proves the position live while it is measured. Absent means the SiteSync of the claim, if it exists.
	// +optional
	SiteSyncRef *SiteSyncReference `json:"siteSyncRef,omitempty"`

	// MetricsUnavailableTimeout is the time for which the metrics backend of a check may be unavailable without interruption before
	// onMetricsUnavailable decides, from 1s to 24h. Absent means 30m.
	// +optional
	MetricsUnavailableTimeout deploymentv1alpha1.Duration `json:"metricsUnavailableTimeout,omitempty"`

	// OnMetricsUnavailable is the action after metricsUnavailableTimeout: Hold waits for the backend, and Reject ends the check with an
	// error. Absent means Hold.
	// +optional
	// +kubebuilder:validation:Enum=Hold;Reject
	OnMetricsUnavailable deploymentv1alpha1.MetricsUnavailablePolicy `json:"onMetricsUnavailable,omitempty"`

	// Until is the end of the measurements. Released continues each check at its interval, after it has its count, until the SiteSync reports that the step is
	// released: so the pause behind the step is watched, and failureLimit and inconclusiveLimit count over all of it, timeout for the first count. Absent means
	// until each has its count.
	// +optional
	// +kubebuilder:validation:Enum=Released
	Until GateUntil `json:"until,omitempty"`

	// OnInconclusive is the action on checks that come to no conclusion: Hold gives verdict Inconclusive, so that a user decides, and Reject gives
	// verdict Error. Absent means Reject.
	// +optional
	// +kubebuilder:validation:Enum=Reject;Hold
	OnInconclusive string `json:"onInconclusive,omitempty"`

	// Checks that all have to pass, each at one Site.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	Checks []GateCheck `json:"checks"`
}

// AskedPosition returns the position that a Gate judges.
func (p GateParameters) AskedPosition() ledger.Position {
	return ptr.Deref(p.Position, ledger.Position{})
}

// BlueprintName returns the name of the Blueprint that the judged revision was compiled with. It is empty if the Gate names none.
func (p GateParameters) BlueprintName() string {
	return ptr.Deref(p.Blueprint, ledger.BlueprintReference{}).Name
}

// GateUntil is the end of the measurements of a Gate's checks.
type GateUntil string

// GateUntilReleased measures until the SiteSync reports that the step is released.
const GateUntilReleased GateUntil = "Released"

// GateVerdict is the verdict of a Gate.
type GateVerdict string

// Verdicts of a Gate. All but Passed and Inconclusive reject the revision.
const (
	// GatePassed means that all checks passed.
	GatePassed GateVerdict = "Passed"

	// GateFailed means that a check was violated.
	GateFailed GateVerdict = "Failed"

	// GateError means that a check could not be measured.
	GateError GateVerdict = "Error"

	// GateTimedOut means that a check did not end in time.
	GateTimedOut GateVerdict = "TimedOut"

	// GateInconclusive means that no check was violated, and that one check was inconclusive: a user decides. Only with onInconclusive Hold.
	GateInconclusive GateVerdict = "Inconclusive"
)

// CheckPhase is the state of a check.
type CheckPhase string

// Phases of a check.
const (
	// CheckPending means that the check has no measurement yet.
	CheckPending CheckPhase = "Pending"

	// CheckRunning means that the check is measured.
	CheckRunning CheckPhase = "Running"

	// CheckPassed means that the check passed.
	CheckPassed CheckPhase = "Passed"

	// CheckFailed means that the check was violated.
	CheckFailed CheckPhase = "Failed"

	// CheckError means that the check could not be measured.
	CheckError CheckPhase = "Error"

	// CheckTimedOut means that the check did not end in time.
	CheckTimedOut CheckPhase = "TimedOut"

	// CheckInconclusive means that the measurements are no evidence for or against the subject. Only with onInconclusive Hold.
	CheckInconclusive CheckPhase = "Inconclusive"
)

// CheckJobReference names the Job that a check runs as.
type CheckJobReference struct {
	// Name of the Job.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the Job. Empty until the cluster has confirmed the creation of the Job.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// NonceDigest is the SHA-256 digest, in hex, of a random value. The provider writes it here before it creates the Job, and puts the value on the
	// Job as the annotation rollout.intentplane.dev/nonce. So it recognizes its Job if the cluster changed the Job and the response with its UID was
	// lost. A reader of the digest does not know the value, and cannot create a Job with it. Empty once the UID is known.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NonceDigest string `json:"nonceDigest,omitempty"`
}

// MaxRecent is the number of measurements in the result of a check.
const MaxRecent = 10

// Measurement is one evaluated response.
type Measurement struct {
	// At is the time of the response.
	// +required
	At metav1.Time `json:"at"`

	// Outcome of the measurement. Pass, Fail and Inconclusive count, Error counts if it repeats consecutively, and Early, Waiting and Unavailable do not
	// count.
	// +required
	// +kubebuilder:validation:Enum=Pass;Fail;Inconclusive;Error;Early;Waiting;Unavailable
	Outcome string `json:"outcome"`

	// Value is the measured value, in the unit of the threshold. Empty for a measurement without a value.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value,omitempty"`
}

// CheckResult is the result of one check.
type CheckResult struct {
	// Name of the check.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Site that was checked.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site"`

	// Phase of the check.
	// +required
	// +kubebuilder:validation:Enum=Pending;Running;Passed;Failed;Error;TimedOut;Inconclusive
	Phase CheckPhase `json:"phase"`

	// Value is the last measured value, in the unit of the threshold. Empty without a measured value.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value,omitempty"`

	// Threshold that the value was judged by. Empty for types Job and Availability.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Threshold string `json:"threshold,omitempty"`

	// Measurements that were taken.
	// +optional
	Measurements int32 `json:"measurements,omitempty"`

	// Recent are the last measurements of the check, the oldest first. They are written when the check ends, and never before. Empty for types Job and
	// Availability.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	Recent []Measurement `json:"recent,omitempty"`

	// JobRef names the Job that the provider created for the check, or is about to create, in the namespace that the Site's spec.postCheck names. Another Job
	// of that name does not count, also after a restart of the provider. Absent without a Job, and for other types of checks.
	// +optional
	JobRef *CheckJobReference `json:"jobRef,omitempty"`

	// UnavailableSince is the time since which the metrics backend of the check, or for type Availability the cluster of the Site, has been unavailable without
	// interruption. Absent means that it is available, or was not queried.
	// +optional
	UnavailableSince *metav1.Time `json:"unavailableSince,omitempty"`

	// CountsFrom is the start of the timeout of a check of type Availability, if it is later than the time when its Site went live: the time in which
	// the Site could not be observed is added. Absent means the time when the Site went live.
	// +optional
	CountsFrom *metav1.Time `json:"countsFrom,omitempty"`

	// ObservedAt is the time when the provider first observed the workload of a check of type Availability at its Site. From then on the pods alone
	// count, also after a restart of the provider: neither the health that the engine reports nor unobservedIsLive replaces them. Absent before, and for
	// other types of checks.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`

	// Message that explains the phase; of a Job, its last lines.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// StartedAt is the time when the check began. Absent while it waits for its subject to be live.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// CountedAt is the time when a check that is measured until the step is released had its count and would have passed. Absent before, and for other checks.
	// +optional
	CountedAt *metav1.Time `json:"countedAt,omitempty"`

	// EndedAt is the time of the check's result.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}

// GateObservation has the measurements and the verdict.
type GateObservation struct {
	// Position that the observation is about. Absent means that nothing was observed.
	// +optional
	Position *ledger.Position `json:"position,omitempty"`

	// StartedAt is the time when the step was first observed live.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// Verdict on the position. It is written once, when all checks have ended, and never changes. Absent means that the position has no verdict yet.
	// +optional
	// +kubebuilder:validation:Enum=Passed;Failed;Error;TimedOut;Inconclusive
	Verdict GateVerdict `json:"verdict,omitempty"`

	// EndedAt is the time of the verdict.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`

	// Checks, in the order of the spec.
	// +optional
	// +kubebuilder:validation:MaxItems=200
	// +listType=atomic
	Checks []CheckResult `json:"checks,omitempty"`
}

// ObservedPosition returns the position that an observation is about. It is the zero value if nothing was observed.
func (o GateObservation) ObservedPosition() ledger.Position {
	return ptr.Deref(o.Position, ledger.Position{})
}

// GateSpec is the position to judge, and its checks.
type GateSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider is the position to judge, and its checks.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the position and the checks of a Gate are immutable"
	ForProvider GateParameters `json:"forProvider"`
}

// GateStatus is the last observation.
type GateStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider has the measurements and the verdict.
	// +optional
	AtProvider GateObservation `json:"atProvider,omitempty"`
}

// A Gate judges one step of one revision by measurements, once. It is Ready when all checks passed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="CLAIM",type="string",JSONPath=".spec.forProvider.claimRef.name"
// +kubebuilder:printcolumn:name="REVISION",type="integer",JSONPath=".spec.forProvider.position.revision"
// +kubebuilder:printcolumn:name="INDEX",type="integer",JSONPath=".spec.forProvider.position.step"
// +kubebuilder:printcolumn:name="VERDICT",type="string",JSONPath=".status.atProvider.verdict"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="STARTED",type="date",JSONPath=".status.atProvider.startedAt"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type Gate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Gate.
	// +required
	Spec GateSpec `json:"spec"`

	// Status of the Gate.
	// +optional
	Status GateStatus `json:"status,omitempty"`
}

// GateList contains a list of Gates.
//
// +kubebuilder:object:root=true
type GateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gate `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&Gate{}, &GateList{})
}
