package main

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/tools/release/plugin"
)

func TestCheckSettings(t *testing.T) {
	arm64 := plugin.Platform{OS: "darwin", Architecture: "arm64"}
	cases := map[string]struct {
		reason string
		// key is the setting whose value is replaced, or added.
		key, value string
		want       string
	}{
		"Released":   {reason: "The settings of a release pass, beside settings that all programs have.", key: "-compiler", value: "gc"},
		"System":     {reason: "A program for another system is refused.", key: "GOOS", value: "linux", want: "setting GOOS"},
		"Processor":  {reason: "A program for another architecture is refused.", key: "GOARCH", value: "amd64", want: "setting GOARCH"},
		"Level":      {reason: "A program that needs a newer processor is refused.", key: "GOARM64", value: "v9.0", want: "setting GOARM64"},
		"Experiment": {reason: "A program with an experiment of Go is refused.", key: "GOEXPERIMENT", value: "arenas", want: "GOEXPERIMENT"},
		"Paths":      {reason: "A program with the paths of a machine is refused.", key: "-trimpath", want: "setting -trimpath"},
		"Libraries":  {reason: "A program that needs C libraries is refused.", key: "CGO_ENABLED", value: "1", want: "setting CGO_ENABLED"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			settings := []debug.BuildSetting{
				{Key: "-trimpath", Value: "true"},
				{Key: "CGO_ENABLED", Value: "0"},
				{Key: "GOARCH", Value: "arm64"},
				{Key: "GOOS", Value: "darwin"},
				{Key: "GOARM64", Value: "v8.0"},
				{Key: tc.key, Value: tc.value},
			}
			message := ""
			if err := checkSettings(arm64, settings); err != nil {
				message = err.Error()
			}
			if (message == "") != (tc.want == "") || !strings.Contains(message, tc.want) {
				t.Errorf("\n%s\ncheckSettings(...): want %q, got %q", tc.reason, tc.want, message)
			}
		})
	}
}
