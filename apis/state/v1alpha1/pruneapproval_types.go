package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PruneRequestReference names a PruneRequest of the same namespace.
type PruneRequestReference struct {
	// Name of the request.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the request. A request that was recreated under that name has another UID.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}

// PruneApprovalSpec names the approved plan.
type PruneApprovalSpec struct {
	// RequestRef names the request.
	// +required
	RequestRef PruneRequestReference `json:"requestRef"`

	// Plan is the digest of the plan that the user saw: status.plan.digest of the request.
	// +required
	// +kubebuilder:validation:MaxLength=71
	// +kubebuilder:validation:XValidation:rule="self.matches('^sha256:[0-9a-f]{64}$')",message="must be the digest of a plan, as status.plan.digest of a PruneRequest: sha256: and 64 hexadecimal digits"
	Plan string `json:"plan"`

	// ApprovedBy is the person who approves. It is recorded, and not verified unless an admission policy does: the audit log has the user that created
	// the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^\x00-\x1f\x7f]*$`
	ApprovedBy string `json:"approvedBy,omitempty"`
}

// PruneApprovalStatus is the result of an approval.
type PruneApprovalStatus struct {
	// The condition is Accepted.
	xpv2.ConditionedStatus `json:",inline"`
}

// A PruneApproval approves the plan of a PruneRequest. It is a separate kind, so that ordinary RBAC controls approvals. It is made once and never changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=pappr,categories={intentplane}
// +kubebuilder:printcolumn:name="REQUEST",type="string",JSONPath=".spec.requestRef.name"
// +kubebuilder:printcolumn:name="ACCEPTED",type="string",JSONPath=".status.conditions[?(@.type=='Accepted')].status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Accepted')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type PruneApproval struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the approval. It never changes.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec never changes: make another PruneApproval"
	Spec PruneApprovalSpec `json:"spec"`

	// Status of the approval.
	// +optional
	Status PruneApprovalStatus `json:"status,omitempty"`
}

// PruneApprovalList contains a list of PruneApprovals.
//
// +kubebuilder:object:root=true
type PruneApprovalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PruneApproval `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&PruneApproval{}, &PruneApprovalList{})
}
