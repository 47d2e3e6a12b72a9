package compose

import (
	"fmt"
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// inWaves is a state of a revision in two steps: Site b, and then a and c.
func inWaves(step int32) ledger.State {
	return ledger.State{
		Current: &ledger.Revision{Number: 2, Plan: []ledger.Step{{Sites: []string{"b"}}, {Sites: []string{"a", "c"}}}}, Cursor: ledger.Cursor{Step: step},
	}
}

// asking is a delivery that asks for a tree at each of some Sites, but for the Sites of "waits", whose cluster is not ready.
func asking(position ledger.Position, sites ...string) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "mine"}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Position = &position
	for _, name := range sites {
		t := deliveryv1alpha1.Tree{Site: name, Branch: "main", Path: name + "/x", Action: deliveryv1alpha1.ActionDesired, Tree: "tree-" + name, Files: []byte("f")}
		if name == "waits" {
			t = directories.Retain(t)
		}
		d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, t)
	}
	return d
}

func TestSync(t *testing.T) {
	spec := deploymentv1alpha1.DeliveryConfig{SyncWaitTimeout: "5m", ClusterWaitTimeout: "30m"}
	cases := map[string]struct {
		reason     string
		sites      []string
		unobserved map[string]bool
		want       []string
	}{
		"All": {
			reason: "Sites are sorted, and each has its wave.",
			sites:  []string{"c", "b", "a"}, want: []string{"a 1 a/x tree-a mine", "b 0 b/x tree-b mine", "c 1 c/x tree-c mine"},
		},
		"Some": {
			reason: "Who has no engine is not looked at.",
			sites:  []string{"a", "b"}, unobserved: map[string]bool{"a": true}, want: []string{"b 0 b/x tree-b mine"},
		},
		"None":    {reason: "No Site is observed.", sites: []string{"a", "b"}, unobserved: map[string]bool{"a": true, "b": false}},
		"Cluster": {reason: "Who receives nothing is not looked at.", sites: []string{"a", "waits"}, want: []string{"a 1 a/x tree-a mine"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state := inWaves(1)
			state.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
			s := Sync(rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"}, spec, state, map[string]*deliveryv1alpha1.GitDelivery{"d": asking(state.Position(), tc.sites...)}, tc.unobserved)
			var got []string
			if s != nil {
				for _, site := range s.Spec.ForProvider.Sites {
					got = append(got, fmt.Sprint(site.Name, " ", site.Wave, " ", site.Path, " ", site.Tree, " ", site.RepositoryRef.Name))
				}
				if *s.Spec.ForProvider.Position != state.Position() || s.Spec.ForProvider.SyncWaitTimeout != "5m" || s.GetNamespace() != "team-a" {
					t.Errorf("\n%s\nSync(...): %+v", tc.reason, s)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSync(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func actions(ds map[string]*deliveryv1alpha1.GitDelivery) []string {
	var out []string
	for name, d := range ds {
		for _, t := range d.Spec.ForProvider.Trees {
			out = append(out, fmt.Sprintf("%s %s %s %s%d", name, t.Site, t.Action, t.Tree, len(t.Files)))
		}
	}
	slices.Sort(out)
	return out
}

// TestPause asks how a SiteSync pauses at the first step of a revision in tracks, whose pause waits for a user.
func TestPause(t *testing.T) {
	cases := map[string]struct {
		reason       string
		change       func(*ledger.State)
		pause        string
		wantPromoted bool
	}{
		"Paused": {reason: "The SiteSync has the pause of the step.", change: func(*ledger.State) {}, pause: "Manual"},
		"Promoted": {
			reason: "A step behind the promoted one is released.",
			change: func(s *ledger.State) { s.Cursor.Promoted = 1 }, pause: "Manual", wantPromoted: true,
		},
		"Full": {
			reason: "All steps are released once the revision was promoted in full.",
			change: func(s *ledger.State) { s.Cursor.Full = true }, pause: "Manual", wantPromoted: true,
		},
		"Rollback": {reason: "A rollback pauses nowhere.", change: func(s *ledger.State) { s.Cursor.Attempt, s.Cursor.Full = 1, true }},
		"Before":   {reason: "Nothing pauses before the steps.", change: func(s *ledger.State) { s.Cursor.Stage = ledger.StageShift }},
		"Plain": {
			reason: "A pause of a plan without tracks, which no spec has, is that of the rules for steps.",
			change: func(s *ledger.State) { s.Current.Track, s.Cursor.Stage = "", 0 }, pause: "Manual",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := inWaves(0)
			s.Current.Track, s.Current.Plan[0].Pause, s.Cursor.Stage = "blue", "Manual", ledger.StageSteps
			tc.change(&s)
			got := SyncOf(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, s, []deliveryv1alpha1.SiteTree{{Name: "b"}}).Spec.ForProvider
			if got.Pause != tc.pause || got.Promoted != tc.wantPromoted {
				t.Errorf("\n%s\nSyncOf(...): want pause %q, promoted %t, got %q, %t", tc.reason, tc.pause, tc.wantPromoted, got.Pause, got.Promoted)
			}
		})
	}
}

// TestNeedsNoSpec has a SiteSync of the first step of a revision at two Sites, and the desired SiteSync of the second step.
func TestNeedsNoSpec(t *testing.T) {
	type params = deliveryv1alpha1.SiteSyncParameters
	otherTree := func(_, desired *params) {
		desired.Sites[0].Tree, desired.Sites[0].Wave, desired.Sites[0].Traffic = "other", 3, &deliveryv1alpha1.SiteTraffic{}
	}
	cases := map[string]struct {
		reason    string
		isTracked bool
		change    func(observed, desired *params)
		want      bool
	}{
		"Step": {reason: "The spec of a revision without tracks has the trees of each step.", change: func(_, _ *params) {}, want: true},
		"Pause": {
			reason: "The ledger says how long a step pauses.",
			change: func(_, desired *params) { desired.Pause, desired.Promoted = "1m", true },
			want:   true,
		},
		"Tree": {reason: "Without tracks another tree needs another spec.", change: otherTree},
		"Tracked": {
			reason:    "In tracks the repositories say which trees the Sites have to run.",
			isTracked: true,
			change:    otherTree,
			want:      true,
		},
		"Same": {
			reason:    "At the position of the spec the spec counts.",
			isTracked: true,
			change:    func(observed, _ *params) { observed.Position.Step = 1 },
		},
		"Later": {
			reason: "A SiteSync goes to no earlier position by itself.",
			change: func(observed, _ *params) { observed.Position.Step = 2 },
		},
		"Revision": {
			reason: "A SiteSync goes to no other revision by itself.",
			change: func(observed, _ *params) { observed.Position.Revision = 1 },
		},
		"Rollback": {reason: "A rollback has its own Sites and timeouts.", change: func(_, desired *params) { desired.Position.Attempt = 1 }},
		"Attempts": {
			reason: "An attempt follows no other attempt.",
			change: func(observed, desired *params) { observed.Position.Attempt, desired.Position.Attempt = 1, 1 },
		},
		"Claim": {reason: "Another claim needs another spec.", change: func(_, desired *params) { desired.ClaimRef.Name = "other" }},
		"Timeout": {
			reason: "Another timeout of the Sites needs another spec.",
			change: func(_, desired *params) { desired.SyncWaitTimeout = "7m" },
		},
		"Cluster": {
			reason: "Another timeout of the clusters needs another spec.",
			change: func(_, desired *params) { desired.ClusterWaitTimeout = "7m" },
		},
		"Moved": {
			reason:    "A Site in another directory needs another spec.",
			isTracked: true,
			change:    func(_, desired *params) { desired.Sites[0].Path = "elsewhere" },
		},
		"Repository": {
			reason:    "A Site in another repository needs another spec.",
			isTracked: true,
			change:    func(_, desired *params) { desired.Sites[0].RepositoryRef.Name = "other" },
		},
		"New": {
			reason:    "A Site that joins needs another spec.",
			isTracked: true,
			change:    func(observed, _ *params) { observed.Sites = observed.Sites[:1] },
		},
		"Left": {
			reason: "Without tracks a Site that leaves needs another spec.",
			change: func(_, desired *params) { desired.Sites = desired.Sites[:1] },
		},
		"Awaits": {reason: "In tracks a Site whose directory stays for a while needs no other spec.", isTracked: true, change: func(_, desired *params) {
			desired.Sites = desired.Sites[:1]
		}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			first, second := inWaves(0), inWaves(1)
			ds := map[string]*deliveryv1alpha1.GitDelivery{"d": asking(first.Position(), "a", "b")}
			spec := deploymentv1alpha1.DeliveryConfig{SyncWaitTimeout: "5m", ClusterWaitTimeout: "30m"}
			claim := rolloutv1alpha1.ClaimReference{Name: "shop"}
			observed, desired := Sync(claim, spec, first, ds, nil), Sync(claim, spec, second, ds, nil)
			tc.change(&observed.Spec.ForProvider, &desired.Spec.ForProvider)
			if got := NeedsNoSpec(observed, desired, tc.isTracked); got != tc.want {
				t.Errorf("\n%s\nNeedsNoSpec(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
