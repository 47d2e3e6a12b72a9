// Package examples holds the manifests that an installation needs beside its packages. Programs that look at an installation compare it with them.
package examples

import "embed"

//go:embed install/*.yaml policies/*.yaml rbac/*.yaml
var files embed.FS

// Files returns the manifests, in their directories.
func Files() embed.FS { return files }
