// Package provider holds the content of the provider's Crossplane package: its metadata and its CustomResourceDefinitions. The RBAC rules of the provider are
// in examples/rbac/provider.yaml.
package provider

import "embed"

var (
	//go:embed crds/*.yaml
	crds embed.FS

	//go:embed crossplane.yaml
	metadata []byte
)

// CRDs returns the files that hold the CustomResourceDefinitions of the provider.
func CRDs() embed.FS { return crds }

// Metadata returns the metadata of the package.
func Metadata() []byte { return metadata }
