package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func object(kind string, content map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: content}
	u.SetKind(kind)
	u.SetName("x")
	return u
}

func TestDeliverTo(t *testing.T) {
	elsewhere := func() map[string]any {
		return map[string]any{"spec": map[string]any{"git": map[string]any{"url": "http://git.example.org/fleet.git"}}}
	}
	cases := map[string]struct {
		reason string
		kind   string
		want   string
	}{
		"Namespaced": {reason: "A ProviderConfig should name our repository.", kind: "ProviderConfig", want: "http://here"},
		"Cluster":    {reason: "A ClusterProviderConfig should name our repository.", kind: "ClusterProviderConfig", want: "http://here"},
		"Other":      {reason: "Anything else should be applied as it is.", kind: "Site", want: "http://git.example.org/fleet.git"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := object(tc.kind, elsewhere())
			if err := deliverToRepository(u, "http://here"); err != nil {
				t.Fatal(err)
			}
			got, _, _ := unstructured.NestedString(u.Object, "spec", "git", "url")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndeliverTo(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	valid := map[string]any{"type": "Valid", "status": "True", "message": "all is well"}
	invalid := map[string]any{"type": "Valid", "status": "False", "reason": "BadIntent", "message": "replicas is no number"}
	status := func(phase string, conditions ...any) map[string]any {
		return map[string]any{"status": map[string]any{"phase": phase, "conditions": conditions}}
	}
	cases := map[string]struct {
		reason string
		claim  map[string]any
		want   string
	}{
		"Succeeded": {reason: "A success should return no error.", claim: status("Succeeded", valid)},
		"Failed": {
			reason: "A failure should say why.",
			claim:  status("Failed", valid, invalid),
			want:   "claim x is Failed: Valid is False (BadIntent): replicas is no number",
		},
		"Silent": {
			reason: "A failure without a reason should say so.",
			claim:  status("Failed", valid),
			want:   "claim x is Failed: its conditions do not say why",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := failureOfClaim(object("IntentDeployment", tc.claim)); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\noutcome(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFirstDirectory(t *testing.T) {
	cases := map[string]struct {
		reason string
		names  string
		want   string
	}{
		"Several": {
			reason: "Of a commit for two Sites, the directory of the claim at the first Site is shown.",
			names:  "clusters/edge1/team-a/shop/.intentplane\nclusters/edge1/team-a/shop/a.yaml\nclusters/edge2/team-a/shop/a.yaml\n",
			want:   "clusters/edge1/team-a/shop",
		},
		"None": {reason: "Of a commit without files, the whole repository is shown.", names: "\n", want: "."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, firstDirectory(tc.names)); diff != "" {
				t.Errorf("\n%s\nfirstDirectory(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWaysToLook types the printed commands of the demo like a reader who has neither kubectl nor the plugin.
func TestWaysToLook(t *testing.T) {
	programs, tools := t.TempDir(), t.TempDir()
	write := func(path, script string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(programs, "kubectl-intent"), `echo "plugin $* in $KUBECONFIG"`)
	write(filepath.Join(tools, "kubectl"), `shift; exec kubectl-intent "$@"`)
	lines := suggestedCommands(programs, filepath.Join(tools, "kubectl"), "/demo/kubeconfig", "http://git/fleet.git", "/demo/provider.log")
	help := slices.Index(lines, "kubectl intent --help")
	if help < 2 {
		t.Fatalf("waysToLook(...): the plugin is wanted among %q", lines)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(append(lines[:2:2], lines[help]), "\n")).CombinedOutput()
	if diff := cmp.Diff("plugin --help in /demo/kubeconfig\n", string(out)); diff != "" || err != nil {
		t.Errorf("\nThe lines let kubectl find its plugin and the cluster.\nwaysToLook(...): %v: -want, +got:\n%s", err, diff)
	}
}
