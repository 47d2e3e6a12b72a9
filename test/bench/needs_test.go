package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNeedsOf compares the packages to build for figures.
func TestNeedsOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		only   string
		want   string
	}{
		"Render":   {reason: "A benchmark of Go needs no program of others.", only: "render_cold_over_kustomize"},
		"Prune":    {reason: "A plan is measured with a double of an API server.", only: "prune_*"},
		"State":    {reason: "The record of a bundle needs an API server, and none of our packages.", only: "state_modify_ms", want: serverPrograms},
		"Tokens":   {reason: "A claim to Sites without an engine needs a control plane alone.", only: "breaker_tokens_1_site", want: "packages " + serverPrograms},
		"Writes":   {reason: "The audit log is that of a control plane.", only: "writes_alone_*", want: "packages " + serverPrograms},
		"Together": {reason: "Several figures need the packages of each.", only: "render_* writes_*", want: "packages " + serverPrograms},
		"Story":    {reason: "A story with ten Sites needs engines and measurements.", only: "breaker_tokens_10_sites", want: "packages all"},
		"Steps":    {reason: "Decisions of the function are a benchmark of Go.", only: "step_us"},
		"All":      {reason: "The figures together need all packages.", want: "packages all"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			n, isKnown := needOfPatterns(tc.only)
			if diff := cmp.Diff(tc.want, printedNeeds()[n]); diff != "" || !isKnown {
				t.Errorf("\n%s\nneedsOf(%q): known: %t, -want, +got:\n%s", tc.reason, tc.only, isKnown, diff)
			}
		})
	}
	if _, isKnown := needOfPatterns("no_such_figure"); isKnown {
		t.Error("A name without a figure is taken for a figure.")
	}
}
