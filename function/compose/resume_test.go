package compose

import (
	"fmt"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

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

// TestIsLost compares parts with the observed deliveries.
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

// TestObserversOfLaterWave resumes a revision whose SiteSync was composed for another one, before the wave of edge2.
func TestObserversOfLaterWave(t *testing.T) {
	sync := &deliveryv1alpha1.SiteSync{}
	sync.Spec.ForProvider.Sites = []deliveryv1alpha1.SiteTree{{Name: "b", Path: "b/x", Tree: "old"}, {Name: "a", Path: "a/x", Tree: "old"}}
	s, d := inWaves(0), asking(inWaves(0).Position(), "b")
	later := asking(inWaves(0).Position(), "a").Spec.ForProvider.Trees[0]
	d.Spec.ForProvider.Later = []deliveryv1alpha1.LaterTree{directories.NewLater(later, s)}
	got := map[string]string{}
	for _, site := range Observers(sync, deploymentv1alpha1.DeliveryConfig{}, s, map[string]*deliveryv1alpha1.GitDelivery{"d": d}).Spec.ForProvider.Sites {
		got[site.Name] = fmt.Sprint(site.Tree, " ", site.Wave)
	}
	if diff := cmp.Diff(map[string]string{"b": "tree-b 0", "a": "tree-a 1"}, got); diff != "" {
		t.Errorf("\nThe Sites of later waves are observed for the trees that they will get.\nObservers(...): -want, +got:\n%s", diff)
	}
}

// TestSites names the Sites of two deliveries.
func TestSites(t *testing.T) {
	position := ledger.Position{}
	got := Sites(map[string]*deliveryv1alpha1.GitDelivery{"one": asking(position, "a", "waits"), "two": asking(position, "b")})
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "waits": true}, got); diff != "" {
		t.Errorf("\nA Site counts whether its directory is brought or kept.\nSites(...): -want, +got:\n%s", diff)
	}
}

// TestCanResumeWave has a delivery of revision 1 whose repository the home leads to the second wave of revision 2. Its edge3 comes in the third
// wave, is new, and has no cluster yet.
func TestCanResumeWave(t *testing.T) {
	plan := []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}, {Sites: []string{"edge3"}}}
	s := ledger.State{Cursor: ledger.Cursor{Step: 1}, Current: &ledger.Revision{
		Number: 2, Request: ledger.Request{Intent: "two"}, Plan: plan, Parts: []ledger.Part{{Delivery: "d", Sites: []string{"edge2", "edge3"}}},
	}}
	later := directories.NewLater(deliveryv1alpha1.Tree{Site: "edge2", Path: "edge2/x", Action: deliveryv1alpha1.ActionDesired}, s)
	cases := map[string]struct {
		reason string
		change func(d *deliveryv1alpha1.LaterTree)
		want   bool
	}{
		"Carried": {reason: "The object has the files of each Site that the revision has come to.", change: func(*deliveryv1alpha1.LaterTree) {}, want: true},
		"OtherRequest": {
			reason: "The files of a revision that had the same number before a loss of the ledger do not count.",
			change: func(l *deliveryv1alpha1.LaterTree) { l.Request = "another" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			p := &d.Spec.ForProvider
			p.Position, p.Trees = &ledger.Position{Revision: 1}, []deliveryv1alpha1.Tree{{Site: "edge2", Path: "edge2/x", Action: deliveryv1alpha1.ActionDesired}}
			p.Later = []deliveryv1alpha1.LaterTree{later}
			tc.change(&p.Later[0])
			if got := CanResume(map[string]*deliveryv1alpha1.GitDelivery{"d": d}, s); got != tc.want {
				t.Errorf("\n%s\nCanResume(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
