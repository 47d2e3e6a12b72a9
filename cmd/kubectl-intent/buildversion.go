package main

import (
	"runtime/debug"

	"golang.org/x/mod/semver"
)

// unlinked is the version of a program whose linker set none.
const unlinked = "dev"

// buildVersion returns the version that the linker set, and else the version of the module that "go install" built.
func buildVersion(linked string, info *debug.BuildInfo) string {
	if linked != unlinked || info == nil || !semver.IsValid(info.Main.Version) {
		return linked
	}
	return info.Main.Version
}
