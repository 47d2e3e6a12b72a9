// Package provider holds what the provider's package is made of.
package provider

import "embed"

//go:embed crds/*.yaml
var crds embed.FS

// CRDs returns the files that hold the CustomResourceDefinitions of the provider.
func CRDs() embed.FS { return crds }
