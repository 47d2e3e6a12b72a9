package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// TestBack changes one thing at a time about a Site whose directory a rejected revision wrote.
func TestBack(t *testing.T) {
	o := waves(1)
	o.Attempt, o.Target = 1, new(int64(1))
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.GitDelivery, *Return)
		want   string
	}{
		"Written":  {reason: "A tree that the revision changed is restored.", change: func(*deliveryv1alpha1.GitDelivery, *Return) {}, want: "d 2.1 a Restore good0"},
		"Held":     {reason: "A tree that the revision did not change is retained.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 1); keep(d) }, want: "d 2.1 a Keep 0"},
		"OnItsWay": {reason: "A tree that may be changed at any moment is restored.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 1) }, want: "d 2.1 a Restore good0"},
		"Unknown":  {reason: "Nobody knows what it holds.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { d.Status.AtProvider.Trees = nil; keep(d) }, want: "d 2.1 a Restore good0"},
		"Spared": {reason: "A directory that the revision was not to write yet is retained.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) {
			d.Status.AtProvider.Trees = nil
			keep(d)
			d.Status.AtProvider.Order = d.Spec.ForProvider.Order.DeepCopy()
		}, want: "d 2.1 a Keep 0"},
		"Earlier":    {reason: "A revision in between, which nobody judged, changed it.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "other", 1); keep(d) }, want: "d 2.1 a Restore good0"},
		"Back":       {reason: "What was brought back stays so.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { holds(d, "good", 2); keep(d) }, want: "d 2.1 a Restore good0"},
		"New":        {reason: "The target had no such Site.", change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Target.Trees = map[string]string{} }, want: "d 2.1 a Keep 0"},
		"Unchosen":   {reason: "The deployment is not for that Site any more.", change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Chosen = func(string) bool { return false } }, want: "d 2.1 a Keep 0"},
		"Forgotten":  {reason: "Nobody remembers the target.", change: func(_ *deliveryv1alpha1.GitDelivery, r *Return) { r.Target = nil }, want: "d 2.1 a Keep 0"},
		"NextKeeps":  {reason: "The next attempt goes on with what the one before asked for.", change: func(d *deliveryv1alpha1.GitDelivery, r *Return) { restores(d); r.Target = nil }, want: "d 2.1 a Restore good0"},
		"NextSticks": {reason: "What an attempt touched is proven to be back.", change: func(d *deliveryv1alpha1.GitDelivery, _ *Return) { restores(d); holds(d, "good", 1) }, want: "d 2.1 a Restore good0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := asking(waves(1), "a")
			holds(d, "bad", 2)
			r := Return{Target: &rollout.Target{Revision: 1, Trees: map[string]string{"a": "good"}}, Chosen: func(string) bool { return true }, Timeout: "3m"}
			tc.change(d, &r)
			parts := map[string]*deliveryv1alpha1.GitDelivery{"d": d}
			got := Back(parts, deploymentv1alpha1.DeliveryConfig{DriftPolicy: "Report"}, o, r)
			if diff := cmp.Diff([]string{tc.want}, actions(got)); diff != "" {
				t.Errorf("\n%s\nBack(...): -want, +got:\n%s", tc.reason, diff)
			}
			p := got["d"].Spec.ForProvider
			if p.DeliveryTimeout != "3m" || p.DriftPolicy != deliveryv1alpha1.DriftRestore || p.Order.Attempt != 1 {
				t.Errorf("\n%s\nBack(...): timeout %s, drift %s, order %+v", tc.reason, p.DeliveryTimeout, p.DriftPolicy, p.Order)
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
	d.Spec.ForProvider.Order.Attempt = 1
	t := &d.Spec.ForProvider.Trees[0]
	t.Action, t.Tree, t.Files = deliveryv1alpha1.ActionRestore, "good", nil
}

// TestBackOnceRestored keeps asking for what came true, though the directory is a new one that no delivery has told of yet.
func TestBackOnceRestored(t *testing.T) {
	o := waves(1)
	o.Attempt, o.Target, o.Restored = 1, new(int64(1)), new(true)
	d := asking(o, "a")
	keep(d)
	d.Status.AtProvider.Trees = nil
	r := Return{Target: &rollout.Target{Revision: 1, Trees: map[string]string{"a": "good"}}, Chosen: func(string) bool { return true }}
	got := Back(map[string]*deliveryv1alpha1.GitDelivery{"d": d}, deploymentv1alpha1.DeliveryConfig{}, o, r)
	if diff := cmp.Diff([]string{"d 2.1 a Keep 0"}, actions(got)); diff != "" {
		t.Errorf("Back(...): -want, +got:\n%s", diff)
	}
}

// TestParts finds a delivery that was lost among the wanted ones.
func TestParts(t *testing.T) {
	now := waves(1)
	now.Plan = []rolloutv1alpha1.Step{{Sites: []string{"a"}}, {Sites: []string{"b"}}}
	observed := map[string]*deliveryv1alpha1.GitDelivery{"one": asking(now, "a")}
	wanted := map[string]*deliveryv1alpha1.GitDelivery{"one": asking(now, "a"), "two": asking(now, "b", "new")}
	got := Parts(observed, wanted, now)
	want := []string{"one 2.1 a Desired tree-a1", "two 2.1 b Keep 0"}
	if diff := cmp.Diff(want, actions(got)); diff != "" {
		t.Errorf("Parts(...): what the plan names and nobody has is taken from the wanted, and nothing else: -want, +got:\n%s", diff)
	}
	if Covers(observed, now) || !Covers(got, now) {
		t.Error("Covers(...): one without the other covers the plan")
	}
	next := now
	next.Revision, next.Withdraws = 3, new(int64(2))
	if len(Parts(observed, nil, next)) != 1 {
		t.Error("Parts(...): what a revision withdraws takes part in it")
	}
}

// TestUntold looks at what is known of a delivery that an order needs.
func TestUntold(t *testing.T) {
	now := waves(1)
	now.Plan = []rolloutv1alpha1.Step{{Sites: []string{"a"}}}
	told := asking(now, "a")
	told.Status.AtProvider.Order = &now
	cases := map[string]struct {
		reason   string
		observed map[string]*deliveryv1alpha1.GitDelivery
		site     string
		want     bool
	}{
		"Told":   {reason: "A delivery that reported its records is not unknown.", observed: map[string]*deliveryv1alpha1.GitDelivery{"d": told}, site: "a"},
		"Untold": {reason: "A delivery that reported nothing is unknown.", observed: map[string]*deliveryv1alpha1.GitDelivery{"d": asking(now, "a")}, site: "a", want: true},
		"Lost":   {reason: "A delivery that was lost is unknown.", site: "a", want: true},
		"New":    {reason: "A delivery to a Site that the plan does not name is not unknown.", site: "b"},
		"Left":   {reason: "Nobody wants it any more.", observed: map[string]*deliveryv1alpha1.GitDelivery{"d": told, "old": asking(now, "a")}, site: "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wanted := map[string]*deliveryv1alpha1.GitDelivery{"d": asking(now, tc.site)}
			if diff := cmp.Diff(tc.want, Untold(wanted, tc.observed, now)); diff != "" {
				t.Errorf("\n%s\nUntold(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
