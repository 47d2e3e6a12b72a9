package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// An Application is one service that runs an image at its Sites: a named image, or an image built from a source. Its phase is about the current spec.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=applications,singular=application,shortName=iapp
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="URL",type="string",JSONPath=".status.url"
// +kubebuilder:printcolumn:name="IMAGE",type="string",JSONPath=".status.shortImage"
// +kubebuilder:printcolumn:name="COMMIT",type="string",JSONPath=".status.shortCommit"
// +kubebuilder:printcolumn:name="AVAILABLE",type="string",JSONPath=".status.available"
// +kubebuilder:printcolumn:name="REVISION",type="integer",JSONPath=".status.deployment.revision"
// +kubebuilder:printcolumn:name="BUILD",type="string",priority=1,JSONPath=".status.build.state"
// +kubebuilder:printcolumn:name="SINCE",type="date",priority=1,JSONPath=".status.transitions[-1:].at"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",priority=1,JSONPath=".status.message"
type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Application.
	// +required
	Spec ApplicationSpec `json:"spec"`

	// Status of the Application.
	// +optional
	Status ApplicationStatus `json:"status,omitempty"`
}
