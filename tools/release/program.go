package main

import (
	"debug/buildinfo"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/intentplane/intentplane/tools/release/plugin"
)

// levels are the settings of the instructions that a program may use, by architecture: with these values it runs on each processor of the architecture.
var levels = map[string]debug.BuildSetting{
	"amd64": {Key: "GOAMD64", Value: "v1"},
	"arm64": {Key: "GOARM64", Value: "v8.0"},
}

// checkProgram returns an error for a program of another platform, a program with the settings of a machine, and a program of another compiler than that of the
// programs before it. A second machine could not make such a release again.
func (m *maker) checkProgram(binary string, p plugin.Platform) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("cannot read the compiler of %s: %w", binary, err)
	}
	if err := checkSettings(p, info.Settings); err != nil {
		return fmt.Errorf("cannot release %s: %w", binary, err)
	}
	if m.compiler != "" && m.compiler != info.GoVersion {
		return fmt.Errorf("cannot release %s: %s compiled it, and %s another program: remove %s, and make the release again",
			binary, info.GoVersion, m.compiler, m.Built)
	}
	m.compiler = info.GoVersion
	return nil
}

// checkSettings compares the settings in a program with the settings of a release. A setting with an empty value has to be absent.
func checkSettings(p plugin.Platform, settings []debug.BuildSetting) error {
	got := map[string]string{}
	for _, s := range settings {
		got[s.Key] = s.Value
	}
	want := map[string]string{
		"GOOS": p.OS, "GOARCH": p.Architecture, "CGO_ENABLED": "0", "-trimpath": "true", "GOEXPERIMENT": "", "GOFIPS140": "", "-tags": "", "-race": "",
	}
	if level, ok := levels[p.Architecture]; ok {
		want[level.Key] = level.Value
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			return fmt.Errorf("setting %s is %q in the program, want %q: look for it in the output of go env", key, got[key], want[key])
		}
	}
	return nil
}
