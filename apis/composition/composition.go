// Package composition holds the definitions and Compositions of the Configurations.
package composition

import "embed"

//go:embed claims/*definition.yaml namespaced/*definition.yaml applications/*definition.yaml
var definitions embed.FS

// Definitions returns the files that hold the definitions of the kinds that people write, one for each shape of
// each.
func Definitions() embed.FS { return definitions }
