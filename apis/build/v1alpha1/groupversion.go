// Package v1alpha1 contains the managed resource that builds an image from source, and the types of source and build settings in Applications.
//
// +kubebuilder:object:generate=true
// +groupName=build.intentplane.dev
// +versionName=v1alpha1
package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Group is the API group of the kinds in this package.
const Group = "build.intentplane.dev"

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

// Labels and annotations of the objects of a build.
const (
	// LabelImageBuild holds the name of the ImageBuild that an Image of kpack is for. kpack hands it on to the Builds.
	LabelImageBuild = "build.intentplane.dev/imagebuild"

	// AnnotationRequest is the digest of the build request (source and settings), on an Image, its Builds, and the deployment of the image.
	AnnotationRequest = "build.intentplane.dev/request"

	// AnnotationTrigger is source.trigger, on an Image and its Builds.
	AnnotationTrigger = "build.intentplane.dev/trigger"

	// AnnotationCommit is the commit that an image was built of, on the deployment of the image.
	AnnotationCommit = "build.intentplane.dev/commit"

	// AnnotationBuild is the Build that made an image, on the deployment of the image.
	AnnotationBuild = "build.intentplane.dev/build"

	// AnnotationLookNow requests an observation of the repository by the provider. Each new value is a request.
	AnnotationLookNow = "build.intentplane.dev/look-now"

	// AnnotationHookedAt is the time of the last webhook. The replica of the provider that received it writes it, and the leader observes the repository.
	AnnotationHookedAt = "build.intentplane.dev/hooked-at"
)
