package compose

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// rollingBack is revision 2, which is rolled back to revision 1.
func rollingBack() ledger.State {
	return ledger.State{Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1, Attempt: 1}, Target: 1}
}

// TestRestoreDirectories changes one thing at a time about a Site whose directory a rejected revision wrote.
func TestRestoreDirectories(t *testing.T) {
	state := rollingBack()
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.GitDelivery, *Return)
		want   string
	}{
		"Written": {reason: "A tree that the revision changed is restored.", change: func(*deliveryv1alpha1.GitDelivery, *Return) {}, want: "d a Restore good0"},
		"Held":    {reason: "A tree that the revision did not change is retained.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 1); keep(d) }, want: "d a Keep 0"},
		"OnItsWay": {
			reason: "A tree that may be changed at any moment is restored.",
			change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 1) }, want: "d a Restore good0",
		},
		"Unknown": {reason: "A directory that is not known may hold anything, and is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { d.Status.AtProvider.Trees = nil; keep(d) }, want: "d a Restore good0"},
		"Spared": {reason: "A directory that the revision was not to write yet is retained.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) {
			d.Status.AtProvider.Trees = nil
			keep(d)
			d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: *d.Spec.ForProvider.Position}
		}, want: "d a Keep 0"},
		"SparedNever": {reason: "A directory that a delivery without a position reports nothing of is retained.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) {
			d.Status.AtProvider.Trees = nil
			keep(d)
			d.Spec.ForProvider.Position = nil
			d.SetConditions(xpv2.Unavailable())
		}, want: "d a Keep 0"},
		"UnseenYet": {reason: "A directory that a delivery without a position has not reported may hold anything, and is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) {
			d.Status.AtProvider.Trees = nil
			keep(d)
			d.Spec.ForProvider.Position = nil
		}, want: "d a Restore good0"},
		"SparedThen": {reason: "A directory that an attempt was asked to keep is retained before that is reported.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) {
			d.Status.AtProvider.Trees = nil
			keep(d)
			d.Spec.ForProvider.Position.Attempt = 1
		}, want: "d a Keep 0"},
		"Earlier": {reason: "A tree that an unjudged revision in between changed is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "other", 1); keep(d) }, want: "d a Restore good0"},
		"Back":    {reason: "A tree that an attempt restored stays so.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 2); keep(d) }, want: "d a Restore good0"},
		"New": {
			reason: "A Site that the target did not serve keeps its tree.",
			change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Trees = map[string]string{} }, want: "d a Keep 0",
		},
		"Unchosen": {
			reason: "A Site that the deployment left keeps its tree.",
			change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Chosen = func(string) bool { return false } }, want: "d a Keep 0",
		},
		"Forgotten": {
			reason: "A target that is not remembered restores nothing.",
			change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Trees = nil }, want: "d a Keep 0",
		},
		"NextKeeps":  {reason: "The next attempt goes on with the trees of the previous one.", change: func(d *deliveryv1alpha1.GitDelivery, r *Return) { restores(d); r.Trees = nil }, want: "d a Restore good0"},
		"NextSticks": {reason: "A directory that an attempt touched is proven to be back.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { restores(d); holds(d, "good", 1) }, want: "d a Restore good0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := asking(inWaves(1).Position(), "a")
			holds(d, "bad", 2)
			r := Return{Trees: map[string]string{"a": "good"}, Chosen: func(string) bool { return true }, Timeout: "3m"}
			tc.change(d, &r)
			parts := map[string]*deliveryv1alpha1.GitDelivery{"d": d}
			got := RestoreDirectories(parts, deploymentv1alpha1.DeliveryConfig{DriftPolicy: "Report"}, state, r)
			if diff := cmp.Diff([]string{tc.want}, actions(got)); diff != "" {
				t.Errorf("\n%s\nRestoreDirectories(...): -want, +got:\n%s", tc.reason, diff)
			}
			want := []string{"", "Report"}
			if strings.Contains(tc.want, "Restore") {
				want = []string{"3m", "Restore"}
			}
			p := got["d"].Spec.ForProvider
			if diff := cmp.Diff(want, []string{p.DeliveryTimeout, string(p.DriftPolicy)}); diff != "" {
				t.Errorf("\n%s\nRestoreDirectories(...): timeout, drift policy: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func holds(d *deliveryv1alpha1.GitDelivery, tree string, revision int64) {
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "a", Path: d.Spec.ForProvider.Trees[0].Path, Tree: tree, Revision: revision}}
}

func keep(d *deliveryv1alpha1.GitDelivery) {
	d.Spec.ForProvider.Trees[0] = directories.Retain(d.Spec.ForProvider.Trees[0])
}

func restores(d *deliveryv1alpha1.GitDelivery) {
	d.Spec.ForProvider.Position.Attempt = 1
	t := &d.Spec.ForProvider.Trees[0]
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionRestore, "good", nil
}

// TestRestoreDirectoriesOnceRestored keeps asking for the restored tree, though the directory is new and no delivery has reported it yet.
func TestRestoreDirectoriesOnceRestored(t *testing.T) {
	state := rollingBack()
	state.Restored = true
	d := asking(inWaves(1).Position(), "a")
	d.Spec.ForProvider.Position.Attempt = 1
	keep(d)
	d.Status.AtProvider.Trees = nil
	r := Return{Trees: map[string]string{"a": "good"}, Chosen: func(string) bool { return true }}
	got := RestoreDirectories(map[string]*deliveryv1alpha1.GitDelivery{"d": d}, deploymentv1alpha1.DeliveryConfig{}, state, r)
	if diff := cmp.Diff([]string{"d a Keep 0"}, actions(got)); diff != "" {
		t.Errorf("RestoreDirectories(...): -want, +got:\n%s", diff)
	}
}

// TestRestoreLaterDirectories has a delivery of revision 1 whose repository followed the home to the second wave of revision 2, at another path.
func TestRestoreLaterDirectories(t *testing.T) {
	d := asking(ledger.Position{Revision: 1}, "a")
	former, later := d.Spec.ForProvider.Trees[0].Path, d.Spec.ForProvider.Trees[0]
	later.Path, later.Tree = "moved/a", "bad"
	d.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{{Tree: later, Revision: 2, Request: inWaves(1).Current.Request.Digest(), Step: 1}}
	d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: inWaves(1).Position(), Copy: new(inWaves(1))}
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{
		{Site: "a", Path: later.Path, Tree: "bad", Revision: 2}, {Site: "a", Path: former, Tree: "good", Revision: 1},
	}
	parts := map[string]*deliveryv1alpha1.GitDelivery{"d": d}
	r := Return{Trees: map[string]string{"a": "good"}, Chosen: func(string) bool { return true }}
	cases := map[string]struct {
		reason string
		got    map[string]*deliveryv1alpha1.GitDelivery
		want   string
	}{
		"Rejected": {
			reason: "A rejected revision keeps the directory that the wave wrote.",
			got:    RestoreDirectories(parts, deploymentv1alpha1.DeliveryConfig{}, inWaves(1), Return{}), want: "moved/a Keep ",
		},
		"RolledBack": {
			reason: "The directory that the wave wrote gets the tree of the target.",
			got:    RestoreDirectories(parts, deploymentv1alpha1.DeliveryConfig{}, rollingBack(), r), want: "moved/a Restore good",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, tree := range tc.got["d"].Spec.ForProvider.Trees {
				got = append(got, fmt.Sprintf("%s %s %s", tree.Path, tree.Action, tree.Tree))
			}
			if diff := cmp.Diff([]string{tc.want}, got); diff != "" {
				t.Errorf("\n%s\n%s: -want, +got:\n%s", tc.reason, name, diff)
			}
		})
	}
}

// TestRestoreDirectoriesLater rejects a revision before an attempt to roll it back begins.
func TestRestoreDirectoriesLater(t *testing.T) {
	observed := map[string]*deliveryv1alpha1.GitDelivery{"one": asking(inWaves(1).Position(), "a", "b")}
	got := RestoreDirectories(observed, deploymentv1alpha1.DeliveryConfig{DeletionPolicy: deploymentv1alpha1.DeletionOrphan}, inWaves(1), Return{})
	want := []string{"one a Keep 0", "one b Keep 0"}
	if diff := cmp.Diff(want, actions(got)); diff != "" {
		t.Errorf("RestoreDirectories(...): -want, +got:\n%s", diff)
	}
	if slices.Contains(got["one"].Spec.ManagementPolicies, xpv2.ManagementActionAll) || got["one"].GetLabels()[LabelClaim] != "shop" {
		t.Errorf("RestoreDirectories(...): the deletion policy follows the spec: %+v", got["one"])
	}
	if observed["one"].Spec.ForProvider.Trees[0].Action != deliveryv1alpha1.ActionDesired {
		t.Error("RestoreDirectories(...): changed the observed deliveries")
	}
}
