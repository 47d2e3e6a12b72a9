package mandate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// inTracksOfTwo orders a revision in a track, which the home delivers to edge1, and another repository to edge2.
func inTracksOfTwo(number int64, name string, stable int64) ledger.Event {
	e := inTrack(number, name, stable)
	r := &e.Ordered.Revision
	r.Plan[0].Sites = []string{"edge1", "edge2"}
	r.Parts = []ledger.Part{
		{Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}}, {Delivery: "other", ConfigRef: "other", Sites: []string{"edge2"}},
	}
	return e
}

// addRepository gives the current revision of a state another repository than the home.
func addRepository(s *ledger.State) {
	s.Current.Parts = append(s.Current.Parts, ledger.Part{Delivery: "web-2", ConfigRef: "other", Sites: []string{"edge3"}})
}

// newCanarySceneOfTwo returns the canary at a step in two repositories, which have the same files and weights.
func newCanarySceneOfTwo(t *testing.T, index, weight int32) *canaryScene {
	t.Helper()
	c := newCanarySceneOf(t, index, weight, inTracksOfTwo)
	requested, delivered := c.Home.Spec.ForProvider.Trees[0], c.Delivered[shopPath]
	requested.Site, requested.Path, delivered.Site, delivered.Path = "edge2", other2, "edge2", other2
	d := newFollower(c.recorded, requested)
	d.Status.AtProvider.Trees = []v1alpha1.DeliveredTree{delivered}
	c.Followers = []v1alpha1.GitDelivery{d}
	c.publish()
	return c
}

// followerFacts returns the facts of the provider about the other repository.
func (c *canaryScene) followerFacts() Facts {
	d := &c.Followers[0]
	return Facts{
		Home: c.Home, Self: d, Followers: c.Followers, Syncs: c.Syncs, Delivered: deliveredTrees(d), Copy: d.Status.AtProvider.Record.Copy,
	}
}

// TestConcludeTracksOfTwo has a canary in two repositories at 20 percent whose Gate failed.
func TestConcludeTracksOfTwo(t *testing.T) {
	gateFailed, back, restore := "Rejected GateFailed", "RolledBack", "Advanced 3"
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   []string
	}{
		"Failed": {
			reason: "A canary in two repositories loses its requests at once.",
			change: func(*canaryScene) {}, want: []string{gateFailed, back, "Advanced 2"},
		},
		"Behind": {
			reason: "The tracks of a repository that is not at the recorded position are unknown.",
			change: func(c *canaryScene) { c.Followers[0].Status.AtProvider.Record.Position.Step = 0 }, want: []string{gateFailed, back},
		},
		"Lost": {
			reason: "The tracks of a repository whose delivery was lost are unknown.",
			change: func(c *canaryScene) { c.Followers = nil }, want: []string{gateFailed, back},
		},
		"Unshifted": {reason: "The pods of the canary stay while another repository has not moved its requests.", change: func(c *canaryScene) {
			c.shift()
			c.drainBoth()
		}},
		"Drained": {reason: "The pods of the canary go once its requests have ended in both repositories.", change: func(c *canaryScene) {
			c.shift()
			c.shiftFollower()
			c.drainBoth()
		}, want: []string{restore}},
		"DrainsYet": {reason: "The pods of the canary stay while the Site of another repository has requests under way.", change: func(c *canaryScene) {
			c.shift()
			c.shiftFollower()
			c.drainBoth().Status.AtProvider.Sites[1].Traffic.Tracks[0].Idle = false
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanarySceneOfTwo(t, 1, 20)
			tc.change(c)
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describe(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsDueInTracksOfTwo has a rejected canary in two repositories, of which the status of the home shows the home alone.
func TestIsDueInTracksOfTwo(t *testing.T) {
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(d *v1alpha1.GitDelivery)
		want   bool
	}{
		"HoldsTarget": {
			reason: "A first attempt is not due while the home holds the target: the other repository may have nothing to restore either.",
			events: []ledger.Event{rejected("GateFailed")},
			change: func(*v1alpha1.GitDelivery) {},
		},
		"Failed": {
			reason: "The attempt after a refused attempt is due.", events: []ledger.Event{rejected("GateFailed"), rolledBack(1)},
			change: func(d *v1alpha1.GitDelivery) { refuse(d, d.Status.AtProvider.Ledger.Position()) }, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanarySceneOfTwo(t, 1, 20)
			c.Delivered[shopPath] = v1alpha1.DeliveredTree{Site: "edge1", Path: shopPath, Tree: tree.ID(c.stable), Revision: 1}
			c.goOn(tc.events...)
			c.publish()
			tc.change(c.Home)
			if got := IsDue(c.Home, noon); got != tc.want {
				t.Errorf("\n%s\nIsDue(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// shiftFollower lets the other repository be at the position of the home, with no requests for green.
func (c *canaryScene) shiftFollower() {
	c.Helper()
	d, position, delivered := &c.Followers[0].Status.AtProvider, c.recorded.Position(), c.Delivered[shopPath]
	delivered.Site, delivered.Path = "edge2", other2
	d.Follows, d.Record.Position, d.Trees = &v1alpha1.FollowStatus{Position: position}, position, []v1alpha1.DeliveredTree{delivered}
}

// drainBoth lets the SiteSync observe that green is without requests at both Sites.
func (c *canaryScene) drainBoth() *v1alpha1.SiteSync {
	s := c.drain(c.recorded.Position())
	o := *s.Status.AtProvider.Sites[0].DeepCopy()
	o.Name = "edge2"
	s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, o)
	return s
}

// TestFollowHomeInTracks has the other repository of a canary at 20 percent, whose home went on by the mandate.
func TestFollowHomeInTracks(t *testing.T) {
	begun := []ledger.Event{rejected("GateFailed"), rolledBack(1)}
	shifted := slices.Concat(begun, []ledger.Event{advanced(1, ledger.StageShift)})
	restored := slices.Concat(shifted, []ledger.Event{advanced(1, ledger.StageSteps)})
	stepped := []ledger.Event{advanced(2, ledger.StageSteps)}
	const moved, atStep = "Desired blue 1: 100 green 2: 0 part blue part green", "Desired blue 1: 80 green 2: 20 part blue"
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(c *canaryScene, f *Facts)
		want   string
		ahead  bool
	}{
		"Step":     {reason: "A step gives the canary its share in each repository.", events: stepped, want: "Desired blue 1: 0 green 2: 100 part blue", ahead: true},
		"Rejected": {reason: "Nothing of a rejected revision is delivered before its rollback begins.", events: begun[:1], want: "Keep"},
		"Begun":    {reason: "The stable pods get all requests as soon as a rollback begins.", events: begun, want: moved, ahead: true},
		"Shift":    {reason: "The canary loses its requests in each repository, and no folder changes.", events: shifted, want: moved, ahead: true},
		"Restore":  {reason: "Once the requests have ended the track of the target is alone.", events: restored, want: "Desired blue 1: 100 part blue", ahead: true},
		"Asked": {
			reason: "A spec that requests the rollback with the trees of the step does not keep the requests.", events: shifted,
			change: func(c *canaryScene, _ *Facts) { c.Followers[0].Spec.ForProvider.Position = new(c.recorded.Position()) }, want: moved, ahead: true,
		},
		"AskedStep": {
			reason: "A spec that names the step has its trees.", events: stepped,
			change: func(c *canaryScene, _ *Facts) { c.Followers[0].Spec.ForProvider.Position = new(c.recorded.Position()) }, want: atStep,
		},
		"Earlier": {
			reason: "A spec of an earlier revision has no files of the canary.", events: shifted,
			change: func(c *canaryScene, _ *Facts) { c.Followers[0].Spec.ForProvider.Position.Revision = 1 }, want: atStep,
		},
		"Recorded": {
			reason: "An event at the position of the record changes neither record nor trees.", events: append(shifted[:3:3], advanced(1, ledger.StageSteps)),
			change: func(c *canaryScene, f *Facts) {
				f.Copy = new(c.recorded.Essentials())
				c.goOn(ledger.Event{Restored: &ledger.Restored{}})
				c.publish()
				c.recorded.Head = f.Copy.Head
			}, want: "Desired blue 1: 100 part blue", ahead: true,
		},
		"Newer": {reason: "A record that is newer than the status of the home stays.", events: stepped, change: func(c *canaryScene, f *Facts) {
			f.Copy = new(record(c, c.recorded, rejected("GateFailed")))
		}, want: atStep},
		"Unrecorded": {
			reason: "A repository without a record gets no tree of a rejected revision.", events: shifted,
			change: func(_ *canaryScene, f *Facts) { f.Copy = nil }, want: "Keep",
		},
		"UnrecordedAsked": {
			reason: "A repository without a record gets no tree of a step by a spec that requests the rollback.", events: shifted,
			change: func(c *canaryScene, f *Facts) {
				f.Copy = nil
				c.Followers[0].Spec.ForProvider.Position = new(c.recorded.Position())
			}, want: "Keep",
		},
		"UnrecordedStep": {
			reason: "A repository without a record gets the trees of its spec while the revision goes through its steps.", events: stepped,
			change: func(_ *canaryScene, f *Facts) { f.Copy = nil }, want: atStep,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanarySceneOfTwo(t, 1, 20)
			c.goOn(tc.events...)
			c.publish()
			f := c.followerFacts()
			if tc.change != nil {
				tc.change(c, &f)
			}
			got, ahead := f.FollowHome(c.Followers[0].Spec.ForProvider)
			if diff := cmp.Diff(tc.want, describeTree(got.Trees[0])); diff != "" || ahead != tc.ahead {
				t.Errorf("\n%s\nFollowHome(...): want later trees %t, got %t, -want, +got:\n%s", tc.reason, tc.ahead, ahead, diff)
			}
			if ahead && (*got.Position != c.recorded.Position() || got.Copy.Head != c.recorded.Head) {
				t.Errorf("\n%s\nFollowHome(...): want the position and the head of the home, got %+v and %+v", tc.reason, *got.Position, got.Copy.Head)
			}
		})
	}
}

// TestHoldTracksOfTwo has a canary in two repositories whose step is proven to have come to its end.
func TestHoldTracksOfTwo(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(d *v1alpha1.GitDelivery)
		want   v1alpha1.MandateHold
	}{
		"Files": {reason: "A step begins once each repository can follow.", change: func(*v1alpha1.GitDelivery) {}},
		"NoFiles": {
			reason: "A step waits for the function where a repository lacks the files.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Files = nil }, want: v1alpha1.HoldFilesMissing,
		},
		"Earlier": {
			reason: "A step waits for the function where a spec is of another revision.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Revision = 1 }, want: v1alpha1.HoldFilesMissing,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanarySceneOfTwo(t, 1, 20)
			c.IsGuardRead = true
			tc.change(&c.Followers[0])
			if got := c.holdForward(c.recorded, record(t, c.recorded, advanced(2, ledger.StageSteps))); got != tc.want {
				t.Errorf("\n%s\nholdForward(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFollowDirectoriesOfTwo has a SiteSync of the step before, and a canary in two repositories.
func TestFollowDirectoriesOfTwo(t *testing.T) {
	c := newCanarySceneOfTwo(t, 1, 20)
	sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
	sync.Spec.ForProvider.Position.Step = 0
	sync.Spec.ForProvider.Sites = append(sync.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "earlier"})
	c.Followers[0].Status.AtProvider.Record.Position.Step = 0
	c.Followers[0].Status.AtProvider.Trees[0].Tracks = []v1alpha1.DeliveredTrack{{Name: track.Blue, Revision: 1, Weight: 100}, {Name: track.Green, Revision: 2}}
	delivered := c.Delivered[shopPath].Tree
	want := []string{
		"revision 2 attempt 0 step 1 stage 3", "within", "edge1 from 0: " + delivered + ", blue 80, green 20 awaited", "edge2 from 0: , blue 100, green 0 awaited",
	}
	got, isAhead := FollowLedger(&sync, c.deliveries())
	if diff := cmp.Diff(want, describeSites(got)); diff != "" || !isAhead {
		const reason = "A Site is observed by the directory of its repository, which proves nothing before it has come to the step."
		t.Errorf("\n%s\nFollowLedger(...): later position %t, -want, +got:\n%s", reason, isAhead, diff)
	}
}
