package compose

import (
	"slices"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// rollingBack is revision 2, which is rolled back to revision 1.
func rollingBack() ledger.State {
	return ledger.State{Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1, Attempt: 1}, Target: 1}
}

// TestBack changes one thing at a time about a Site whose directory a rejected revision wrote.
func TestBack(t *testing.T) {
	state := rollingBack()
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.GitDelivery, *Return)
		want   string
	}{
		"Written":  {reason: "A tree that the revision changed is restored.", change: func(*deliveryv1alpha1.GitDelivery, *Return) {}, want: "d a Restore good0"},
		"Held":     {reason: "A tree that the revision did not change is retained.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 1); keep(d) }, want: "d a Keep 0"},
		"OnItsWay": {reason: "A tree that may be changed at any moment is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 1) }, want: "d a Restore good0"},
		"Unknown":  {reason: "A directory that is not known may hold anything, and is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { d.Status.AtProvider.Trees = nil; keep(d) }, want: "d a Restore good0"},
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
		"Earlier":    {reason: "A tree that an unjudged revision in between changed is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "other", 1); keep(d) }, want: "d a Restore good0"},
		"Back":       {reason: "A tree that an attempt restored stays so.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 2); keep(d) }, want: "d a Restore good0"},
		"New":        {reason: "A Site that the target did not serve keeps its tree.", change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Trees = map[string]string{} }, want: "d a Keep 0"},
		"Unchosen":   {reason: "A Site that the deployment left keeps its tree.", change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Chosen = func(string) bool { return false } }, want: "d a Keep 0"},
		"Forgotten":  {reason: "A target that is not remembered restores nothing.", change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Trees = nil }, want: "d a Keep 0"},
		"NextKeeps":  {reason: "The next attempt goes on with what the one before asked for.", change: func(d *deliveryv1alpha1.GitDelivery, r *Return) { restores(d); r.Trees = nil }, want: "d a Restore good0"},
		"NextSticks": {reason: "What an attempt touched is proven to be back.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { restores(d); holds(d, "good", 1) }, want: "d a Restore good0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := asking(inWaves(1).Position(), "a")
			holds(d, "bad", 2)
			r := Return{Trees: map[string]string{"a": "good"}, Chosen: func(string) bool { return true }, Timeout: "3m"}
			tc.change(d, &r)
			parts := map[string]*deliveryv1alpha1.GitDelivery{"d": d}
			got := Back(parts, deploymentv1alpha1.DeliveryConfig{DriftPolicy: "Report"}, state, r)
			if diff := cmp.Diff([]string{tc.want}, actions(got)); diff != "" {
				t.Errorf("\n%s\nBack(...): -want, +got:\n%s", tc.reason, diff)
			}
			want := []string{"", "Report"}
			if strings.Contains(tc.want, "Restore") {
				want = []string{"3m", "Restore"}
			}
			p := got["d"].Spec.ForProvider
			if diff := cmp.Diff(want, []string{p.DeliveryTimeout, string(p.DriftPolicy)}); diff != "" {
				t.Errorf("\n%s\nBack(...): timeout, drift policy: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func holds(d *deliveryv1alpha1.GitDelivery, tree string, revision int64) {
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "a", Path: d.Spec.ForProvider.Trees[0].Path, Tree: tree, Revision: revision}}
}

func keep(d *deliveryv1alpha1.GitDelivery) {
	d.Spec.ForProvider.Trees[0] = retainTree(d.Spec.ForProvider.Trees[0])
}

func restores(d *deliveryv1alpha1.GitDelivery) {
	d.Spec.ForProvider.Position.Attempt = 1
	t := &d.Spec.ForProvider.Trees[0]
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionRestore, "good", nil
}

// TestBackOnceRestored keeps asking for what came true, though the directory is a new one that no delivery has told of yet.
func TestBackOnceRestored(t *testing.T) {
	state := rollingBack()
	state.Restored = true
	d := asking(inWaves(1).Position(), "a")
	d.Spec.ForProvider.Position.Attempt = 1
	keep(d)
	d.Status.AtProvider.Trees = nil
	r := Return{Trees: map[string]string{"a": "good"}, Chosen: func(string) bool { return true }}
	got := Back(map[string]*deliveryv1alpha1.GitDelivery{"d": d}, deploymentv1alpha1.DeliveryConfig{}, state, r)
	if diff := cmp.Diff([]string{"d a Keep 0"}, actions(got)); diff != "" {
		t.Errorf("Back(...): -want, +got:\n%s", diff)
	}
}

// TestParts finds a delivery that was lost among the wanted ones.
func TestParts(t *testing.T) {
	now := inWaves(1).Position()
	r := ledger.Revision{Number: 2, Parts: []ledger.Part{{Delivery: "one", Sites: []string{"a"}}, {Delivery: "two", Sites: []string{"b"}}}}
	observed := map[string]*deliveryv1alpha1.GitDelivery{"one": asking(now, "a"), "old": asking(now, "z")}
	wanted := map[string]*deliveryv1alpha1.GitDelivery{"one": asking(now, "a"), "two": asking(now, "b", "new")}
	want := []string{"one a Desired tree-a1", "two b Keep 0"}
	if diff := cmp.Diff(want, actions(Parts(observed, wanted, r))); diff != "" {
		t.Errorf("Parts(...): a lost part is taken from the wanted deliveries, with the Sites that it had: -want, +got:\n%s", diff)
	}
	want = []string{"one a Desired tree-a1"}
	if diff := cmp.Diff(want, actions(Parts(observed, nil, r))); diff != "" {
		t.Errorf("Parts(...): a lost part that is not wanted is left out: -want, +got:\n%s", diff)
	}
	observed["two"] = asking(now)
	want = []string{"one a Desired tree-a1", "two b Keep 0"}
	if diff := cmp.Diff(want, actions(Parts(observed, wanted, r))); diff != "" {
		t.Errorf("Parts(...): a part that was lost, and composed since for the ledger alone, gets its Sites back: -want, +got:\n%s", diff)
	}
}

// TestIsLost compares parts with what is observed of their deliveries.
func TestIsLost(t *testing.T) {
	now := inWaves(1).Position()
	part := ledger.Part{Delivery: "one", Sites: []string{"a"}}
	cases := map[string]struct {
		reason string
		part   ledger.Part
		is     map[string]*deliveryv1alpha1.GitDelivery
		want   bool
	}{
		"There":   {reason: "A part with a delivery is not lost.", part: part, is: byName("one", asking(now, "a"))},
		"None":    {reason: "A part without a delivery is lost.", part: part, want: true},
		"Empty":   {reason: "A part whose delivery names no directory is lost.", part: part, is: byName("one", asking(now)), want: true},
		"NoSites": {reason: "A home without Sites names no directory, and is not lost.", part: ledger.Part{Delivery: "one"}, is: byName("one", asking(now))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsLost(tc.part, tc.is); got != tc.want {
				t.Errorf("\n%s\nIsLost(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestStay(t *testing.T) {
	observed := map[string]*deliveryv1alpha1.GitDelivery{"one": asking(inWaves(1).Position(), "a", "b")}
	got := Stay(observed, deploymentv1alpha1.DeliveryConfig{DeletionPolicy: deploymentv1alpha1.DeletionOrphan})
	want := []string{"one a Keep 0", "one b Keep 0"}
	if diff := cmp.Diff(want, actions(got)); diff != "" {
		t.Errorf("Stay(...): -want, +got:\n%s", diff)
	}
	if slices.Contains(got["one"].Spec.ManagementPolicies, xpv2.ManagementActionAll) || got["one"].GetLabels()[LabelClaim] != "shop" {
		t.Errorf("Stay(...): what happens to a deleted deployment follows the spec: %+v", got["one"])
	}
	if observed["one"].Spec.ForProvider.Trees[0].Action != deliveryv1alpha1.ActionDesired {
		t.Error("Stay(...): changed what was observed")
	}
}

// TestObservers resumes a revision whose SiteSync was composed for another one.
func TestObservers(t *testing.T) {
	sync := &deliveryv1alpha1.SiteSync{}
	sync.Spec.ForProvider.Sites = []deliveryv1alpha1.SiteTree{{Name: "edge1", Path: "elsewhere", Tree: "other"}, {Name: "edge2", Path: "two", Tree: "kept"}}
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{
		{Site: "edge1", Path: "one", Action: deliveryv1alpha1.ActionDesired, Tree: "a"}, {Site: "edge2", Path: "two", Action: deliveryv1alpha1.ActionKeep},
	}
	s := ledger.State{Current: &ledger.Revision{Number: 2, Plan: []ledger.Step{{Sites: []string{"edge1", "edge2"}}}}}
	got := Observers(sync, deploymentv1alpha1.DeliveryConfig{}, s, map[string]*deliveryv1alpha1.GitDelivery{"d": d})
	want := []deliveryv1alpha1.SiteTree{
		{Name: "edge1", Path: "one", Tree: "a", RepositoryRef: deliveryv1alpha1.RepositoryReference{Kind: "ClusterProviderConfig", Name: "default"}},
		{Name: "edge2", Path: "two", Tree: "kept"},
	}
	if diff := cmp.Diff(want, got.Spec.ForProvider.Sites); diff != "" {
		t.Errorf("\nThe Sites are observed for the trees that the deliveries ask for.\nObservers(...): -want, +got:\n%s", diff)
	}
	if Observers(nil, deploymentv1alpha1.DeliveryConfig{}, s, nil) != nil {
		t.Error("\nA deployment without a SiteSync goes on without one.\nObservers(...): got one")
	}
}

// TestSites names the Sites of two deliveries.
func TestSites(t *testing.T) {
	at := ledger.Position{}
	got := Sites(map[string]*deliveryv1alpha1.GitDelivery{"one": asking(at, "a", "waits"), "two": asking(at, "b")})
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "waits": true}, got); diff != "" {
		t.Errorf("\nA Site counts whether its directory is brought or kept.\nSites(...): -want, +got:\n%s", diff)
	}
}
