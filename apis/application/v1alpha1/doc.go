// Package v1alpha1 contains the Application: one service that runs at its Sites, with one phase. Its phase speaks about what is asked for now, and
// what it says is available are pods of just that image.
//
// +kubebuilder:object:generate=true
// +groupName=intentplane.dev
// +versionName=v1alpha1
package v1alpha1
