package compose

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// waves is an order in two steps: Site b, and then a and c.
func waves(step int32) rolloutv1alpha1.Order {
	return rolloutv1alpha1.Order{
		Revision: 2, Request: "r", Steps: 2, Step: step,
		Plan: []rolloutv1alpha1.Step{{Sites: []string{"b"}}, {Sites: []string{"a", "c"}}},
	}
}

// asking is a delivery that asks for a tree at each of some Sites, but for those of "waits", whose cluster is not ready.
func asking(o rolloutv1alpha1.Order, sites ...string) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "mine"}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Order = o
	for _, name := range sites {
		t := deliveryv1alpha1.Tree{Site: name, Branch: "main", Path: name + "/x", Action: deliveryv1alpha1.ActionDesired, Tree: "tree-" + name, Files: []byte("f")}
		if name == "waits" {
			t = retainTree(t)
		}
		d.Spec.ForProvider.Trees = append(d.Spec.ForProvider.Trees, t)
	}
	return d
}

func TestSync(t *testing.T) {
	spec := deploymentv1alpha1.DeliveryConfig{SyncWaitTimeout: "5m", ClusterWaitTimeout: "30m"}
	verdict := &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
	cases := map[string]struct {
		reason     string
		sites      []string
		unobserved map[string]bool
		want       []string
	}{
		"All":     {reason: "Sites are sorted, and each has its wave.", sites: []string{"c", "b", "a"}, want: []string{"a 1 a/x tree-a mine", "b 0 b/x tree-b mine", "c 1 c/x tree-c mine"}},
		"Some":    {reason: "Who has no engine is not looked at.", sites: []string{"a", "b"}, unobserved: map[string]bool{"a": true}, want: []string{"b 0 b/x tree-b mine"}},
		"None":    {reason: "Nobody is looked at.", sites: []string{"a", "b"}, unobserved: map[string]bool{"a": true, "b": false}},
		"Cluster": {reason: "Who receives nothing is not looked at.", sites: []string{"a", "waits"}, want: []string{"a 1 a/x tree-a mine"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := waves(1)
			o.Verdict = verdict
			s := Sync(rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "shop"}, spec, o, map[string]*deliveryv1alpha1.GitDelivery{"d": asking(o, tc.sites...)}, tc.unobserved)
			var got []string
			if s != nil {
				for _, site := range s.Spec.ForProvider.Sites {
					got = append(got, fmt.Sprint(site.Name, " ", site.Wave, " ", site.Path, " ", site.Tree, " ", site.RepositoryRef.Name))
				}
				if s.Spec.ForProvider.Order.Verdict != nil || s.Spec.ForProvider.SyncWaitTimeout != "5m" || s.GetNamespace() != "team-a" {
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
			out = append(out, fmt.Sprintf("%s %d.%d %s %s %s%d", name, d.Spec.ForProvider.Order.Revision, d.Spec.ForProvider.Order.Step, t.Site, t.Action, t.Tree, len(t.Files)))
		}
	}
	slices.Sort(out)
	return out
}

func TestStep(t *testing.T) {
	all := map[string]*deliveryv1alpha1.GitDelivery{"d": asking(rolloutv1alpha1.Order{}, "a", "b", "new")}
	want := []string{"d 2.0 a Keep 0", "d 2.0 b Desired tree-b1", "d 2.0 new Keep 0"}
	if diff := cmp.Diff(want, actions(Step(all, waves(0)))); diff != "" {
		t.Errorf("Step(...): the first step brings nothing to the Sites of the second: -want, +got:\n%s", diff)
	}
	want = []string{"d 2.1 a Desired tree-a1", "d 2.1 b Desired tree-b1", "d 2.1 new Desired tree-new1"}
	if diff := cmp.Diff(want, actions(Step(all, waves(1)))); diff != "" {
		t.Errorf("Step(...): the last one has all: -want, +got:\n%s", diff)
	}
}

func TestStay(t *testing.T) {
	now := waves(1)
	before := now
	before.Revision, before.Request = 1, "q"
	lost := asking(before, "c")
	lost.Status.AtProvider.Order = &now
	observed := map[string]*deliveryv1alpha1.GitDelivery{"old": asking(before, "z"), "one": asking(now, "a", "b"), "lost": lost}
	got := Stay(Parts(observed, nil, now), deploymentv1alpha1.DeliveryConfig{DeletionPolicy: deploymentv1alpha1.DeletionOrphan}, now)
	want := []string{"lost 2.1 c Keep 0", "one 2.1 a Keep 0", "one 2.1 b Keep 0"}
	if diff := cmp.Diff(want, actions(got)); diff != "" {
		t.Errorf("Stay(...): -want, +got:\n%s", diff)
	}
	if slices.Contains(got["one"].Spec.ManagementPolicies, xpv2.ManagementActionAll) || got["one"].GetLabels()[LabelClaim] != "shop" {
		t.Errorf("Stay(...): what happens to a deleted deployment follows the spec: %+v", got["one"])
	}
	if observed["one"].Spec.ForProvider.Trees[0].Action != deliveryv1alpha1.ActionDesired {
		t.Error("Stay(...): changed what was observed")
	}
	// Two requests had the number before, one of which was rejected: nobody was asked for the next number yet.
	carried := now
	carried.Revision, carried.Verdict = 3, &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected}
	parts := Parts(map[string]*deliveryv1alpha1.GitDelivery{"older": asking(before, "z"), "one": asking(now, "a", "b")}, nil, carried)
	if diff := cmp.Diff([]string{"one"}, slices.Sorted(maps.Keys(parts))); diff != "" {
		t.Errorf("Parts(...), carried over: -want, +got:\n%s", diff)
	}
}
