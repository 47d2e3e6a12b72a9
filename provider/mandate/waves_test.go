package mandate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// inTwoWaves returns the plan of a revision that comes to edge1 first.
func inTwoWaves() []ledger.Step {
	return []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
}

// scheduleLater moves the tree of a directory to the later trees of a delivery for the second wave of revision 2.
func scheduleLater(d *v1alpha1.GitDelivery, index int) {
	p := &d.Spec.ForProvider
	p.Later = []v1alpha1.LaterTree{{Tree: p.Trees[index], Revision: 2, Step: 1}}
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
	c.Followers[0].Spec.ForProvider.Later = []v1alpha1.LaterTree{{Tree: second, Revision: 2, Step: 1}}
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

// TestRollBackMovedWave rolls back a wave for which another repository got a directory at another path than before.
func TestRollBackMovedWave(t *testing.T) {
	const moved = "moved/edge2/team-a/web"
	c := newFollowerInWaves(t)
	p := *c.Followers[0].Spec.ForProvider.DeepCopy()
	p.Later[0].Path = moved
	c.Delivered = map[string]v1alpha1.DeliveredTree{
		other2: {Site: "edge2", Path: other2, Tree: "one2", Revision: 1}, moved: {Site: "edge2", Path: moved, Tree: "two2", Revision: 2},
	}
	c.Copy = c.recorded.DeepCopy()
	back := record(t, c.recorded, rejected("SyncFailed"), rolledBack(1))
	c.Home.Status.AtProvider.Ledger = &back
	out, isAhead := c.FollowHome(p)
	var got []string
	for _, tree := range out.Trees {
		got = append(got, fmt.Sprintf("%s %s %s", tree.Action, tree.Tree, tree.Path))
	}
	if diff := cmp.Diff([]string{"Restore one2 " + moved}, got); diff != "" || !isAhead {
		t.Errorf("FollowHome(...): the directory that the wave wrote gets the tree of the target: -want, +got:\n%s\nahead %t", diff, isAhead)
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
