// Package product has the resources of Crossplane's packages, and recognizes the objects of Intentplane's installation by their names and images. Pure.
package product

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Namespace of Crossplane by our manifests, with the lease of the provider.
	Namespace = "crossplane-system"

	// name is a part of the names of our packages.
	name = "intentplane"
)

// Definitions returns the resource of Crossplane's definitions.
func Definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.crossplane.io", Version: "v1", Resource: "compositeresourcedefinitions"}
}

// Packages returns a resource of Crossplane's packages, such as functions.
func Packages(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "pkg.crossplane.io", Version: "v1", Resource: resource}
}

// IsPackage is true for a package with our name in its name or in its image.
func IsPackage(o *unstructured.Unstructured) bool {
	image, _, _ := unstructured.NestedString(o.Object, "spec", "package")
	return strings.Contains(o.GetName()+image, name)
}

// IsRevision is true for a revision of such a package.
func IsRevision(o *unstructured.Unstructured) bool {
	image, _, _ := unstructured.NestedString(o.Object, "spec", "image")
	return strings.Contains(o.GetName()+image, name)
}

// HasGroup is true for an object that is named after one of our groups.
func HasGroup(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(o.GetName(), name+".dev")
}
