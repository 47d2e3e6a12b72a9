package mandate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
)

// inTwoWaves returns the plan of a revision that comes to edge1 first.
func inTwoWaves() []ledger.Step {
	return []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
}

// laterTree returns the tree of a directory in the second wave of revision 2.
func laterTree(t v1alpha1.Tree) v1alpha1.LaterTree {
	return v1alpha1.LaterTree{Tree: t, Revision: 2, Request: requestOfAll.Digest(), Step: 1}
}

// scheduleLater moves the tree of a directory to the later trees of a delivery for the second wave of revision 2.
func scheduleLater(d *v1alpha1.GitDelivery, index int) {
	p := &d.Spec.ForProvider
	p.Later = []v1alpha1.LaterTree{laterTree(p.Trees[index])}
	p.Trees[index] = directories.Retain(p.Trees[index])
}

// newSceneInWaves returns a scene in which revision 2 was delivered to edge1, and in which the home carries the files for edge2.
func newSceneInWaves(tb testing.TB) *scene {
	tb.Helper()
	c := newSceneOf(tb, ordered(1, inTwoWaves()...), ledger.Event{Advanced: &ledger.Advanced{Step: 1}}, verified("one"), ordered(2, inTwoWaves()...))
	c.Delivered[other2] = v1alpha1.DeliveredTree{Site: "edge2", Path: other2, Tree: "one2", Revision: 1}
	scheduleLater(c.Home, 1)
	c.goForward()
	return c
}

// TestConcludeWaves has a revision whose first wave was proven, and no function.
func TestConcludeWaves(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *scene)
		want   []string
		hold   v1alpha1.MandateHold
	}{
		"Carried":    {reason: "The next wave follows once each Site of the first one runs the tree.", want: []string{"Advanced 1.0"}},
		"NotCarried": {reason: "A wave whose files are in no object is left to the function.", change: func(c *scene) { c.Home.Spec.ForProvider.Later = nil }},
		"OtherRevision": {
			reason: "The files of another revision are not delivered.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Later[0].Revision = 1 },
		},
		"OtherRequest": {
			reason: "The files of a revision that had the same number before a loss of the ledger are not delivered.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Later[0].Request = "another" },
		},
		"Closed": {
			reason: "A wave whose Site has another directory by now is left to the function.",
			change: func(c *scene) { c.Closed = map[string]bool{"edge2": true} },
		},
		"Recovered": {
			reason: "A wave of another repository whose spec was composed before a recovery of the ledger is left to the function: the repository does not follow.",
			change: func(c *scene) {
				d := newFollower(c.recorded)
				d.Spec.ForProvider.Copy.Epoch, d.Spec.ForProvider.Later = 0, c.Home.Spec.ForProvider.Later
				c.Followers, c.Home.Spec.ForProvider.Later = []v1alpha1.GitDelivery{d}, nil
				c.recorded.Current.Parts = append(c.recorded.Current.Parts, ledger.Part{Delivery: "other", ConfigRef: "other"})
				c.next = c.recorded
			},
		},
		"Syncing": {
			reason: "A Site of the first wave that does not run the tree holds the next wave back.",
			change: func(c *scene) { c.Syncs[0].Status.AtProvider.Sites[0].State = v1alpha1.SiteSyncing },
		},
		"Changed": {
			reason: "A claim that changed holds the next wave back.",
			change: func(c *scene) { c.Guard = v1alpha1.HoldClaimChanged }, hold: v1alpha1.HoldClaimChanged,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newSceneInWaves(t)
			if tc.change != nil {
				tc.change(c)
			}
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describeForward(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.hold, c.Held(c.recorded, c.next)); diff != "" {
				t.Errorf("\n%s\nHeld(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// actionsOf returns the actions of trees with their ids, by Site.
func actionsOf(trees []v1alpha1.Tree) map[string]string {
	out := map[string]string{}
	for _, t := range trees {
		out[t.Site] = string(t.Action) + " " + t.Tree
	}
	return out
}

// TestFollowWave has a home whose ledger reached the second wave by its mandate.
func TestFollowWave(t *testing.T) {
	c := newSceneInWaves(t)
	p := c.Home.Spec.ForProvider
	next := record(t, c.recorded, ledger.Event{Advanced: &ledger.Advanced{Step: 1}})
	if !IsAhead(p, next) {
		t.Error("IsAhead(...): the spec does not have the second wave: want true, got false")
	}
	want := map[string]string{"edge1": "Desired two1", "edge2": "Desired two2"}
	got := c.Follow(p, c.recorded, next)
	if diff := cmp.Diff(want, actionsOf(got.Trees)); diff != "" || *got.Position != next.Position() {
		t.Errorf("Follow(...): the directory of the second wave gets its tree: -want, +got:\n%s\nposition %+v", diff, got.Position)
	}
	rejectedLater := record(t, next, rejected("SyncFailed"), rolledBack(1))
	c.Delivered[other2] = v1alpha1.DeliveredTree{Site: "edge2", Path: other2, Tree: "two2", Revision: 2}
	want = map[string]string{"edge1": "Restore one1", "edge2": "Restore one2"}
	if diff := cmp.Diff(want, actionsOf(c.Follow(p, next, rejectedLater).Trees)); diff != "" {
		t.Errorf("Follow(...): a rollback restores both waves, although the spec has the first one only: -want, +got:\n%s", diff)
	}
}

// newFollowerInWaves returns a scene in which another repository serves revision 1 and carries the files of the second wave of revision 2, to which the home has
// come by its mandate.
func newFollowerInWaves(tb testing.TB) *scene {
	tb.Helper()
	first := inTwo(1, inTwoWaves()...)
	c := newSceneOf(tb, first, ledger.Event{Advanced: &ledger.Advanced{Step: 1}}, verified("one"))
	previous := c.recorded
	tree := c.Home.Spec.ForProvider.Trees[1]
	tree.Tree = "one2"
	c.Followers = []v1alpha1.GitDelivery{newFollower(previous, tree)}
	second := c.Home.Spec.ForProvider.Trees[1]
	c.Followers[0].Spec.ForProvider.Later = []v1alpha1.LaterTree{laterTree(second)}
	c.goOn(inTwo(2, inTwoWaves()...), ledger.Event{Advanced: &ledger.Advanced{Step: 1}})
	c.Home = newHome(c.recorded)
	c.Home.Spec.ForProvider.Mandate.May = allKinds
	c.Home.Status.AtProvider.Mandate = Status(c.Home.Spec.ForProvider.Mandate, c.recorded)
	c.Copy = previous.DeepCopy()
	return c
}

// TestFollowWaveOfHome asks another repository for revision 1, while the home has brought revision 2 to its second wave.
func TestFollowWaveOfHome(t *testing.T) {
	type result struct {
		IsAhead  bool
		Position ledger.Position
		Trees    map[string]string
	}
	previous, current := ledger.Position{Epoch: 1, Revision: 1, Step: 1}, ledger.Position{Epoch: 1, Revision: 2, Step: 1}
	stays := result{Position: previous, Trees: map[string]string{"edge2": "Desired one2"}}
	follows := result{IsAhead: true, Position: current, Trees: map[string]string{"edge2": "Desired two2"}}
	cases := map[string]struct {
		reason string
		change func(c *scene, p *v1alpha1.GitDeliveryParameters)
		want   result
	}{
		"Due": {reason: "The repository gets the tree of its wave.", want: follows},
		"NotDue": {
			reason: "A tree of a later step is not delivered.",
			change: func(_ *scene, p *v1alpha1.GitDeliveryParameters) { p.Later[0].Step = 2 }, want: stays,
		},
		"NotCarried": {
			reason: "A spec without the files of the wave stays as it is.",
			change: func(_ *scene, p *v1alpha1.GitDeliveryParameters) { p.Later = nil }, want: stays,
		},
		"NoRecord": {
			reason: "A repository without a record gets the tree of its wave.",
			change: func(c *scene, _ *v1alpha1.GitDeliveryParameters) { c.Copy = nil }, want: follows,
		},
		"Delivered": {reason: "A step that brings nothing new moves no record.", change: func(c *scene, _ *v1alpha1.GitDeliveryParameters) {
			c.Copy = c.recorded.DeepCopy()
			verdict := record(c, c.recorded, verified("two"))
			c.Home.Status.AtProvider.Ledger = &verdict
		}, want: follows},
		"Rejected": {reason: "A verdict leaves the directories of a repository that followed.", change: func(c *scene, _ *v1alpha1.GitDeliveryParameters) {
			c.Copy = c.recorded.DeepCopy()
			verdict := record(c, c.recorded, rejected("SyncFailed"))
			c.Home.Status.AtProvider.Ledger = &verdict
		}, want: result{IsAhead: true, Position: current, Trees: map[string]string{"edge2": "Keep "}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFollowerInWaves(t)
			p := *c.Followers[0].Spec.ForProvider.DeepCopy()
			if tc.change != nil {
				tc.change(c, &p)
			}
			out, isAhead := c.FollowHome(p)
			if diff := cmp.Diff(tc.want, result{isAhead, *out.Position, actionsOf(out.Trees)}); diff != "" {
				t.Errorf("\n%s\nFollowHome(...): -want, +got:\n%s", tc.reason, diff)
			}
			if isVerdict := c.Home.Status.AtProvider.Ledger.Verdict != nil; isVerdict && tc.want.Trees["edge2"] != "Keep " && out.Copy.Verdict != nil {
				t.Errorf("\n%s\nFollowHome(...): want the recorded copy, got %+v", tc.reason, out.Copy.Head)
			}
		})
	}
}

// deliveryOfPart returns a delivery with parameters.
func deliveryOfPart(p v1alpha1.GitDeliveryParameters) *v1alpha1.GitDelivery {
	return &v1alpha1.GitDelivery{Spec: v1alpha1.GitDeliverySpec{ForProvider: p}}
}

// TestRollBackFirstWave rolls back a wave that brought another repository its first revision. The Site was served by the home before.
func TestRollBackFirstWave(t *testing.T) {
	cases := map[string]struct {
		reason string
		copied func(c *scene) ledger.State
	}{
		"Earlier": {reason: "The spec has a copy of the ledger before the revision.", copied: func(c *scene) ledger.State { return *c.Copy }},
		"Revision": {
			reason: "The spec has a copy of the ledger in the first wave.",
			copied: func(c *scene) ledger.State { return record(c, *c.Copy, inTwo(2, inTwoWaves()...)) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFollowerInWaves(t)
			d := &c.Followers[0]
			p := &d.Spec.ForProvider
			p.Position, p.Copy, p.Trees[0] = nil, new(tc.copied(c)), directories.Retain(p.Trees[0])
			back := record(t, c.recorded, rejected("SyncFailed"), rolledBack(1))
			c.Home.Status.AtProvider.Ledger, c.Home.Status.AtProvider.Mandate = &back, Status(c.Home.Spec.ForProvider.Mandate, back)
			if HomeOf(d, []v1alpha1.GitDelivery{*d, *c.Home}) != nil {
				t.Errorf("\n%s\nHomeOf(...): a repository that the revision has not come to is left to the function: want none, got a home", tc.reason)
			}
			d.Status.AtProvider.Record.Position, c.Copy = c.recorded.Position(), c.recorded.DeepCopy()
			if HomeOf(d, []v1alpha1.GitDelivery{*d, *c.Home}) == nil {
				t.Errorf("\n%s\nHomeOf(...): the home leads a repository back that it led to its first wave: want a home, got none", tc.reason)
			}
			c.Delivered = map[string]v1alpha1.DeliveredTree{other2: {Site: "edge2", Path: other2, Tree: "two2", Revision: 2}}
			out, isAhead := c.FollowHome(*p)
			if diff := cmp.Diff(map[string]string{"edge2": "Restore one2"}, actionsOf(out.Trees)); diff != "" || !isAhead || *out.Position != back.Position() {
				t.Errorf("\n%s\nFollowHome(...): want the tree of the target: -want, +got:\n%s\nahead %t, position %+v", tc.reason, diff, isAhead, out.Position)
			}
			c.Home.Spec.ForProvider.Mandate.Without = []string{"edge2"}
			if out, isAhead = c.FollowHome(*p); !evidence.AsksForNothing(deliveryOfPart(out)) || !isAhead || *out.Position != back.Position() {
				t.Errorf("\n%s\nFollowHome(...): want the position of the rollback without a tree: got %+v, ahead %t", tc.reason, out.Position, isAhead)
			}
		})
	}
}

// TestConcludeUnreadyWave has a repository that followed the home to its wave, in which the cluster of a second Site is not ready. A third wave follows.
func TestConcludeUnreadyWave(t *testing.T) {
	const other3, other4 = "clusters/edge3/team-a/web", "clusters/edge4/team-a/web"
	plan := []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2", "edge3"}}, {Sites: []string{"edge4"}}}
	inParts := func(number int64) ledger.Event {
		e := inTwo(number, plan...)
		parts := e.Ordered.Revision.Parts
		parts[0].Sites, parts[1].Sites = []string{"edge1", "edge4"}, []string{"edge2", "edge3"}
		return e
	}
	cases := map[string]struct {
		reason string
		sites  []string
		want   []string
	}{
		"Ready": {
			reason: "The third wave follows once each Site of the second one has the revision.",
			sites:  []string{"edge2", "edge3"}, want: []string{"Advanced 2.0"},
		},
		"Unready": {reason: "A Site of the second wave whose cluster is not ready holds the third wave back.", sites: []string{"edge2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			proven := verified("one")
			proven.Judged.Trees = append(proven.Judged.Trees, ledger.SiteTree{Site: "edge3", ID: "one3"}, ledger.SiteTree{Site: "edge4", ID: "one4"})
			c := newSceneOf(t, inParts(1), ledger.Event{Advanced: &ledger.Advanced{Step: 1}}, ledger.Event{Advanced: &ledger.Advanced{Step: 2}}, proven)
			desired := c.Home.Spec.ForProvider.Trees[1]
			at := func(site, path, tree string) v1alpha1.Tree {
				out := desired
				out.Site, out.Path, out.Tree = site, path, tree
				return out
			}
			d := newFollower(c.recorded, at("edge2", other2, "one2"), at("edge3", other3, "one3"))
			c.goOn(inParts(2), ledger.Event{Advanced: &ledger.Advanced{Step: 1}})
			d.Status.AtProvider.Trees = nil
			for _, site := range tc.sites {
				d.Spec.ForProvider.Later = append(d.Spec.ForProvider.Later, laterTree(at(site, "clusters/"+site+"/team-a/web", "two"+site)))
			}
			for _, l := range d.Spec.ForProvider.Later {
				d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, v1alpha1.DeliveredTree{Site: l.Site, Path: l.Path, Tree: l.Tree.Tree, Revision: 2})
			}
			position := c.recorded.Position()
			d.Status.AtProvider.Follows = &v1alpha1.FollowStatus{Position: position}
			d.Status.AtProvider.Record.Position, d.Status.AtProvider.Record.Copy = position, &c.recorded
			home := newHome(c.recorded)
			home.Spec.ForProvider.Trees = []v1alpha1.Tree{at("edge1", other1, "two1"), directories.Retain(at("edge4", other4, ""))}
			last := laterTree(at("edge4", other4, "two4"))
			last.Step = 2
			home.Spec.ForProvider.Later = []v1alpha1.LaterTree{last}
			home.Spec.ForProvider.Mandate.May = allKinds
			c.Home, c.Followers, c.Gates, c.IsGuardRead, c.Applied = home, []v1alpha1.GitDelivery{d}, nil, true, position
			c.Unobserved = map[string]bool{"edge1": true, "edge2": true, "edge3": true, "edge4": true}
			_, events := c.Conclude(c.recorded, c.recorded)
			if diff := cmp.Diff(tc.want, describeForward(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLeadsForward looks for the home of a repository that the revision has come to in its second wave.
func TestLeadsForward(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *scene)
		want   bool
	}{
		"Leads": {reason: "A home that goes through its steps by the mandate leads the repository of a later wave.", want: true},
		"NoPosition": {
			reason: "A repository that was only read so far follows too.",
			change: func(c *scene) { c.Followers[0].Spec.ForProvider.Position = nil }, want: true,
		},
		"NotListed": {
			reason: "A mandate without steps leads no repository.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.May = c.Home.Spec.ForProvider.Mandate.May[:2] },
		},
		"NoEcho": {reason: "A home that does not act by its mandate leads no repository.", change: func(c *scene) { c.Home.Status.AtProvider.Mandate = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newFollowerInWaves(t)
			if tc.change != nil {
				tc.change(c)
			}
			d := &c.Followers[0]
			if got := HomeOf(d, []v1alpha1.GitDelivery{*d, *c.Home}) != nil; got != tc.want {
				t.Errorf("\n%s\nHomeOf(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
