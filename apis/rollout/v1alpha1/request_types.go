package v1alpha1

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is the action that a RolloutRequest requests.
type Action string

// Actions. Of several that name one revision, the first in the order Abort, RollbackTo, MoveLedger, Promote, ApproveUpdate, Retry is taken, and of
// two alike the older one.
const (
	// ActionRetry delivers the content of the revision again, as the next revision.
	ActionRetry Action = "Retry"

	// ActionAbort rejects the revision.
	ActionAbort Action = "Abort"

	// ActionRollbackTo rolls back to an earlier revision.
	ActionRollbackTo Action = "RollbackTo"

	// ActionMoveLedger makes another repository the home of the deployment's ledger.
	ActionMoveLedger Action = "MoveLedger"

	// ActionPromote releases a step of the revision.
	ActionPromote Action = "Promote"

	// ActionApproveUpdate starts the next revision with the newest Blueprint of the channel, and the newest renderer.
	ActionApproveUpdate Action = "ApproveUpdate"
)

// Result is the result of a RolloutRequest. It is in the deployment's status.requests, and is the reason of the request's conditions.
type Result string

// Results. All but ResultWaiting and ResultTaken are final.
const (
	// ResultWaiting means that no decision was made: the deployment has no revision yet, the record of a repository is
	// unknown, or the deployment is held back. The function decides it later.
	ResultWaiting Result = "Waiting"

	// ResultTaken means that the request made, or changed, the present revision, which continues.
	ResultTaken Result = "Taken"

	// ResultDone means that the request made, or changed, the present revision, and that this revision has ended, verified or rejected.
	ResultDone Result = "Done"

	// ResultStale means that the request names another revision than the current revision, another digest, or another update than the waiting update.
	ResultStale Result = "Stale"

	// ResultUnknownRevision means that the deployment never had a revision of this number.
	ResultUnknownRevision Result = "UnknownRevision"

	// ResultAlreadyJudged means that the revision has a verdict, which never changes.
	ResultAlreadyJudged Result = "AlreadyJudged"

	// ResultNoTarget means that the revision is not a possible rollback target: it was not verified in every repository that took part in it,
	// it was withdrawn, it is the present revision, or no repository retains its trees.
	ResultNoTarget Result = "NoTarget"

	// ResultNothingToRestore means that the directories of all Sites hold the files of the revision already, or that the present revision
	// is being rolled back to it.
	ResultNothingToRestore Result = "NothingToRestore"

	// ResultUnknownStep means that the revision has no such step, or that the step has no pause, or that an earlier pause was not released.
	ResultUnknownStep Result = "UnknownStep"

	// ResultNoUpdate means that no update waits for an approval.
	ResultNoUpdate Result = "NoUpdate"

	// ResultUpdateFailed means that the update cannot be delivered. Nothing was changed.
	ResultUpdateFailed Result = "UpdateFailed"

	// ResultSameHome means that the ledger is already in the repository that the request names.
	ResultSameHome Result = "SameHome"

	// ResultUnknownRepository means that the deployment delivers to no repository of the configuration that the request names.
	ResultUnknownRepository Result = "UnknownRepository"

	// ResultTooLarge means that the object, with the metadata that other clients wrote into it, is larger than the
	// objects that the function gets.
	ResultTooLarge Result = "TooLarge"

	// ResultNotSupported means that this version does not support the action.
	ResultNotSupported Result = "NotSupported"
)

// Final reports whether a result never changes. An unknown one is not final.
func (r Result) Final() bool {
	return r == ResultDone || r.Refused()
}

// Refused reports whether a result refuses the request.
func (r Result) Refused() bool {
	return slices.Contains([]Result{
		ResultStale, ResultUnknownRevision, ResultAlreadyJudged, ResultNoTarget, ResultNothingToRestore, ResultUnknownStep,
		ResultNoUpdate, ResultUpdateFailed, ResultSameHome, ResultUnknownRepository, ResultTooLarge, ResultNotSupported,
	}, r)
}

// An End is the end of the revision of a request that is Done.
type End string

// Ends.
const (
	// EndVerified means that the Sites run the revision, and that its Gates passed.
	EndVerified End = "Verified"

	// EndRolledBack means that the revision was rejected, or given up, and that the Sites run an earlier revision again.
	EndRolledBack End = "RolledBack"

	// EndNothingToRestore means that the revision was rejected, or given up, and had changed no directory of any Site.
	EndNothingToRestore End = "NothingToRestore"

	// EndNotRolledBack means that the revision was rejected, or given up, and that the Sites may still run it.
	EndNotRolledBack End = "NotRolledBack"
)

// Achieves reports whether an end fulfils an action. An unknown end does not.
func (e End) Achieves(a Action) bool {
	if a == ActionAbort || a == ActionRollbackTo {
		return e == EndRolledBack || e == EndNothingToRestore
	}
	return e == EndVerified
}

// Types of the conditions of a RolloutRequest.
const (
	// TypeAccepted reports whether the deployment accepted the request.
	TypeAccepted xpv2.ConditionType = "Accepted"

	// TypeCompleted reports whether the request is complete.
	TypeCompleted xpv2.ConditionType = "Completed"
)

// Reasons of the conditions of a RolloutRequest, beside the results.
const (
	// ReasonUnknownDeployment means that the deployment does not exist. The request is evaluated again when it appears.
	ReasonUnknownDeployment xpv2.ConditionReason = "UnknownDeployment"

	// ReasonSuperseded means that another revision replaced the request's revision before that ended.
	ReasonSuperseded xpv2.ConditionReason = "Superseded"
)

// DeploymentReference names a deployment of the same namespace.
type DeploymentReference struct {
	// APIGroup of the deployment: claims.intentplane.dev for a claim, intentplane.dev for a namespaced composite.
	// +required
	// +kubebuilder:validation:Enum=claims.intentplane.dev;intentplane.dev
	// +kubebuilder:validation:MaxLength=63
	APIGroup string `json:"apiGroup"`

	// Kind of the deployment.
	// +required
	// +kubebuilder:validation:Enum=IntentDeployment
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Name of the deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// UpdateReference names the update that the user saw. An absent field matches any value.
type UpdateReference struct {
	// Blueprint in the channel, by the name of its object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Blueprint string `json:"blueprint,omitempty"`

	// Digest of the Blueprint's spec.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`

	// Renderer is the version of the function's rules.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Renderer string `json:"renderer,omitempty"`
}

// ConfigReference names the configuration of a repository.
type ConfigReference struct {
	// Kind of the configuration. ProviderConfig is one of the namespace. Default: ClusterProviderConfig.
	// +optional
	// +kubebuilder:default=ClusterProviderConfig
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the configuration.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of an object: lower-case letters, digits, '-' and '.'"
	Name string `json:"name"`
}

// RolloutRequestSpec is the requested action, with its deployment and revision.
//
// +kubebuilder:validation:XValidation:rule="has(self.toRevision) == (self.action == 'RollbackTo')",message="toRevision goes with action RollbackTo, and only with it"
// +kubebuilder:validation:XValidation:rule="(has(self.step) || has(self.full)) == (self.action == 'Promote')",message="step or full goes with action Promote, and only with it"
// +kubebuilder:validation:XValidation:rule="!(has(self.step) && has(self.full))",message="step and full exclude each other"
// +kubebuilder:validation:XValidation:rule="!has(self.full) || self.full",message="full is true or absent"
// +kubebuilder:validation:XValidation:rule="!has(self.update) || self.action == 'ApproveUpdate'",message="update goes with action ApproveUpdate only"
// +kubebuilder:validation:XValidation:rule="has(self.toConfigRef) == (self.action == 'MoveLedger')",message="toConfigRef goes with action MoveLedger, and only with it"
// +kubebuilder:validation:XValidation:rule="!has(self.force) || self.action == 'MoveLedger'",message="force goes with action MoveLedger only"
type RolloutRequestSpec struct {
	// DeploymentRef names the deployment.
	// +required
	DeploymentRef DeploymentReference `json:"deploymentRef"`

	// Action is the requested action.
	// +required
	// +kubebuilder:validation:Enum=Retry;Abort;RollbackTo;MoveLedger;Promote;ApproveUpdate
	Action Action `json:"action"`

	// Revision of the deployment at the time of the request. With another revision, the request is Stale: the user saw another state.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision"`

	// Request digest that the revision has. Absent means any; another digest makes the request Stale.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Update that is approved, as status.update of the deployment names it. Absent means any waiting update; if another update waits, the
	// request is Stale. Goes with action ApproveUpdate only.
	// +optional
	Update *UpdateReference `json:"update,omitempty"`

	// ToRevision to roll back to. Goes with action RollbackTo.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ToRevision *int64 `json:"toRevision,omitempty"`

	// Step whose pause ends, counted from 1 as in status.canary.step of the deployment: 3 at step 3/5. The pause behind the last step holds back the
	// verdict. Each request releases one pause, and never a Gate. Goes with action Promote, without full.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Step *int32 `json:"step,omitempty"`

	// Full releases all steps. Once all pods of the revision are available, the remaining steps with a share of the requests are skipped. The Gate of
	// the last step still judges. Valid with action Promote, without step.
	// +optional
	Full *bool `json:"full,omitempty"`

	// ToConfigRef names the configuration of the repository that holds the ledger of the deployment from then on. Goes with action MoveLedger.
	// +optional
	ToConfigRef *ConfigReference `json:"toConfigRef,omitempty"`

	// Force moves the ledger although the repository that holds it cannot be reached. The ledger is recovered from its newest copy then: a verdict
	// that only the unreachable repository has is lost. Absent means false. Goes with action MoveLedger.
	// +optional
	Force *bool `json:"force,omitempty"`

	// RequestedBy is the person who requests. It is recorded, and not verified unless an admission policy does: the audit log has the user
	// that created the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	RequestedBy string `json:"requestedBy,omitempty"`

	// Reason of the request, for readers of the history.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
}

// RolloutRequestStatus is the result of a request.
type RolloutRequestStatus struct {
	// The conditions are Accepted and Completed.
	xpv2.ConditionedStatus `json:",inline"`

	// NewRevision that the request made. Absent means none.
	// +optional
	NewRevision int64 `json:"newRevision,omitempty"`

	// End is the end of the revision that the request made, or changed: Verified, RolledBack, NothingToRestore or NotRolledBack. Absent
	// until the request is Done.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	End End `json:"end,omitempty"`

	// ObservedAt is the time of the first observation of the request.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
}

// A RolloutRequest is a user's request to a deployment. It is made once and never changes: ordinary RBAC controls its creation, and
// the audit log has its author.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=rreq,categories={intentplane}
// +kubebuilder:printcolumn:name="DEPLOYMENT",type="string",JSONPath=".spec.deploymentRef.name"
// +kubebuilder:printcolumn:name="ACTION",type="string",JSONPath=".spec.action"
// +kubebuilder:printcolumn:name="REVISION",type="integer",JSONPath=".spec.revision"
// +kubebuilder:printcolumn:name="ACCEPTED",type="string",JSONPath=".status.conditions[?(@.type=='Accepted')].status"
// +kubebuilder:printcolumn:name="COMPLETED",type="string",JSONPath=".status.conditions[?(@.type=='Completed')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Completed')].reason"
// +kubebuilder:printcolumn:name="END",type="string",JSONPath=".status.end"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type RolloutRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the request. It never changes.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec never changes: make another RolloutRequest"
	Spec RolloutRequestSpec `json:"spec"`

	// Status of the request.
	// +optional
	Status RolloutRequestStatus `json:"status,omitempty"`
}

// RolloutRequestList contains a list of RolloutRequests.
//
// +kubebuilder:object:root=true
type RolloutRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RolloutRequest `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&RolloutRequest{}, &RolloutRequestList{})
}
