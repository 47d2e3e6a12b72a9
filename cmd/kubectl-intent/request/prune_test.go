package request

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

func TestConfigReference(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   rolloutv1alpha1.ConfigReference
	}{
		"Name": {
			reason: "A name alone is that of a ClusterProviderConfig.",
			text:   "fleet", want: rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "fleet"},
		},
		"Own": {
			reason: "A ProviderConfig is named with its kind.",
			text:   "providerconfig/repo", want: rolloutv1alpha1.ConfigReference{Kind: "ProviderConfig", Name: "repo"},
		},
		"Shared": {
			reason: "A ClusterProviderConfig may be named with its kind, too.",
			text:   "ClusterProviderConfig/fleet", want: rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "fleet"},
		},
		"Unknown": {reason: "The server decides on an unknown kind.", text: "secret/x", want: rolloutv1alpha1.ConfigReference{Kind: "secret", Name: "x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, configReference(tc.text)); diff != "" {
				t.Errorf("\n%s\nconfigReference(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestPruneFlags(t *testing.T) {
	cases := map[string]struct {
		reason        string
		command       Prune
		isInteractive bool
		says          string
	}{
		"Asked":    {reason: "On a terminal the user is asked.", isInteractive: true},
		"Silent":   {reason: "Where no person can answer, nothing is removed without a flag.", says: "no one can be asked"},
		"DryRun":   {reason: "A plan alone asks nothing.", command: Prune{DryRun: true}},
		"Confirm":  {reason: "A flag confirms any plan.", command: Prune{Confirm: true}},
		"Plan":     {reason: "A flag confirms one plan.", command: Prune{Plan: "sha256:1"}},
		"Both":     {reason: "A plan and any plan exclude each other.", command: Prune{Confirm: true, Plan: "sha256:1"}, says: "choose one of them"},
		"NoConfig": {reason: "Directories belong to a repository.", command: Prune{Directories: true, DryRun: true}, says: "go together"},
		"NoScope":  {reason: "Packages are in no repository.", command: Prune{Config: "fleet", DryRun: true}, says: "go together"},
		"BundleToo": {
			reason:  "A request has a single scope.",
			command: Prune{Directories: true, Config: "fleet", Bundle: "platform", DryRun: true}, says: "leave out the bundle",
		},
		"DryPrune": {
			reason:  "A dry run removes nothing, so it confirms nothing.",
			command: Prune{DryRun: true, Confirm: true}, isInteractive: true, says: "--dry-run removes nothing",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.command.checkPruneFlags(&terminal.Streams{IsInteractive: tc.isInteractive})
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("\n%s\ncheckFlags(...): want %q, got %v", tc.reason, tc.says, err)
			}
		})
	}
}

func TestBundleReference(t *testing.T) {
	for name, want := range map[string]*statev1alpha1.BundleReference{
		"":            nil,
		"platform":    {Group: "claims.intentplane.dev", Name: "platform"},
		"platform.ns": {Group: "intentplane.dev", Name: "platform"},
	} {
		if diff := cmp.Diff(want, bundleReference(name)); diff != "" {
			t.Errorf("bundleReference(%q): -want, +got:\n%s", name, diff)
		}
	}
}

// TestPrintPackages prints a plan of packages.
func TestPrintPackages(t *testing.T) {
	r := &statev1alpha1.PruneRequest{Spec: statev1alpha1.PruneRequestSpec{Scope: statev1alpha1.ScopeBundle}}
	r.Status.Plan = &statev1alpha1.PrunePlan{Digest: "sha256:1", Pruned: 1, Kept: 1, Items: []statev1alpha1.PruneItem{
		{Kind: "Package", Verdict: "Prune", Namespace: "team-a", Name: "debug", Objects: 3},
		{Kind: "Package", Verdict: "Keep", Namespace: "team-a", Name: "redis", Reason: "UsedByBundle", Message: "bundle shop uses it"},
	}}
	out := &strings.Builder{}
	if err := printPrunePlan(out, r); err != nil {
		t.Fatal(err)
	}
	want := "PRUNE   team-a/debug   3 objects\nKEEP    team-a/redis   UsedByBundle: bundle shop uses it\n1 package to prune, 1 to keep. Plan sha256:1\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printPlan(...): -want, +got:\n%s", diff)
	}
}

// TestPrintPlan prints a plan whose paths and messages come from a repository: none of them changes the terminal, or reads as a command of a CI.
func TestPrintPlan(t *testing.T) {
	r := &statev1alpha1.PruneRequest{}
	r.Status.Plan = &statev1alpha1.PrunePlan{Digest: "sha256:1", Pruned: 1, Kept: 4, More: 3, Items: []statev1alpha1.PruneItem{
		{Verdict: "Prune", Namespace: "team-a", Name: "cart", Site: "edge1", Path: "clusters/edge1/team-a/cart", Objects: 3, Stateful: []string{"StatefulSet/db"}},
		{Verdict: "Keep", Path: "clusters/\x1b[2J/shop", Reason: "InUse", Message: "IntentDeployment team-a/shop uses it"},
	}}
	out := &strings.Builder{}
	if err := printPrunePlan(out, r); err != nil {
		t.Fatal(err)
	}
	want := "PRUNE   clusters/edge1/team-a/cart   3 objects of team-a/cart at edge1, with StatefulSet/db\n" +
		"KEEP    clusters/\\x1b[2J/shop        InUse: IntentDeployment team-a/shop uses it\n" +
		"1 directory to prune, 4 to keep (3 not listed). Plan sha256:1\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printPlan(...): -want, +got:\n%s", diff)
	}
}
