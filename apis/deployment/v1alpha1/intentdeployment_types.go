package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// An IntentDeployment is one intent, delivered to its Sites.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=intentdeployments,singular=intentdeployment,shortName=idep
// +kubebuilder:printcolumn:name="OUTCOME",type="string",JSONPath=".status.outcome"
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="REVISION",type="integer",JSONPath=".status.revision"
// +kubebuilder:printcolumn:name="LIVE",type="integer",JSONPath=".status.liveRevision"
// +kubebuilder:printcolumn:name="COMMIT",type="string",JSONPath=".status.delivery.shortCommit"
// +kubebuilder:printcolumn:name="SITES",type="string",JSONPath=".status.delivery.sitesReady"
// +kubebuilder:printcolumn:name="STEP",type="string",JSONPath=".status.canary.step"
// +kubebuilder:printcolumn:name="WEIGHT",type="integer",JSONPath=".status.canary.weight"
// +kubebuilder:printcolumn:name="BLUEPRINT",type="string",priority=1,JSONPath=".status.blueprint.name"
// +kubebuilder:printcolumn:name="UPDATE",type="string",priority=1,JSONPath=".status.update.blueprint"
// +kubebuilder:printcolumn:name="SINCE",type="date",priority=1,JSONPath=".status.transitions[-1:].at"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",priority=1,JSONPath=".status.message"
type IntentDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the deployment.
	// +required
	Spec IntentDeploymentSpec `json:"spec"`

	// Status of the deployment.
	// +optional
	Status IntentDeploymentStatus `json:"status,omitempty"`
}
