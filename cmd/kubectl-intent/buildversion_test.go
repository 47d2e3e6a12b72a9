package main

import (
	"runtime/debug"
	"testing"
)

func TestBuildVersion(t *testing.T) {
	module := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	cases := map[string]struct {
		reason string
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		"Linked": {
			reason: "The version of a release is that of the linker.",
			linked: "v0.1.0", info: module("v0.0.0-20260101000000-abcdefabcdef"), want: "v0.1.0",
		},
		"Installed": {reason: "A program of go install has the version of its module.", linked: unlinked, info: module("v0.1.0"), want: "v0.1.0"},
		"Checkout":  {reason: "A program of a checkout without a version has none.", linked: unlinked, info: module("(devel)"), want: unlinked},
		"NoInfo":    {reason: "A program without build information has no version.", linked: unlinked, want: unlinked},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := buildVersion(tc.linked, tc.info); got != tc.want {
				t.Errorf("\n%s\nbuildVersion(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
