// Package v1alpha1 contains the kinds that configure the provider's connections: repositories, receivers and metrics servers.
//
// +kubebuilder:object:generate=true
// +groupName=config.intentplane.dev
// +versionName=v1alpha1
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Group is the API group of the kinds in this package.
const Group = "config.intentplane.dev"

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
