package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A Bundle is a set of packages that are deployed together, in order. A record lists the deployed packages with their versions.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=bundles,singular=bundle,shortName=ibundle
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".spec.version"
// +kubebuilder:printcolumn:name="PACKAGES",type="string",JSONPath=".status.ready"
// +kubebuilder:printcolumn:name="UNREFERENCED",type="integer",JSONPath=".status.unreferenced"
// +kubebuilder:printcolumn:name="SINCE",type="date",priority=1,JSONPath=".status.transitions[-1:].at"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",priority=1,JSONPath=".status.message"
type Bundle struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Bundle.
	// +required
	Spec BundleSpec `json:"spec"`

	// Status of the Bundle.
	// +optional
	Status BundleStatus `json:"status,omitempty"`
}
