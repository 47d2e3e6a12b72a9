// Package v1alpha1 contains the types of a rollout that several kinds share, and the RolloutRequest, by which a user requests an action of a running
// deployment.
//
// +kubebuilder:object:generate=true
// +groupName=rollout.intentplane.dev
// +versionName=v1alpha1
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Group is the API group of the kinds in this package.
const Group = "rollout.intentplane.dev"

// Version is the API version of the kinds in this package.
const Version = "v1alpha1"

//nolint:gochecknoglobals // Scheme registration is how Kubernetes types are made known.
var (
	// GroupVersion is the group and version of the kinds in this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: Version}

	// SchemeBuilder collects the kinds of this package.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
