// Package v1alpha1 contains the words of a rollout that several kinds share: the order, its plan and its verdict.
//
// +kubebuilder:object:generate=true
// +groupName=rollout.intentplane.dev
// +versionName=v1alpha1
package v1alpha1
