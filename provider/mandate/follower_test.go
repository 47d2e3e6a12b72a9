package mandate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

const other1, other2 = "clusters/edge1/team-a/web", "clusters/edge2/team-a/web"

// inTwo returns a revision that the home delivers to edge1, and another repository to edge2.
func inTwo(number int64, plan ...ledger.Step) ledger.Event {
	e := ordered(number, plan...)
	e.Ordered.Revision.Parts = []ledger.Part{
		{Delivery: "web", ConfigRef: "default", Sites: []string{"edge1"}}, {Delivery: "other", ConfigRef: "other", Sites: []string{"edge2"}},
	}
	return e
}

// newSceneOfTwo returns a scene in which revision 2 was delivered to both repositories.
func newSceneOfTwo(tb testing.TB) *scene {
	tb.Helper()
	whole := ledger.Step{Sites: []string{"edge1", "edge2"}, Gate: true}
	c := newSceneOf(tb, inTwo(1, whole), verified("one"), inTwo(2, whole))
	trees := c.Home.Spec.ForProvider.Trees
	c.Home.Spec.ForProvider.Trees = trees[:1]
	c.Home.Status.AtProvider.Mandate = Status(c.Home.Spec.ForProvider.Mandate, c.recorded)
	c.Followers = []v1alpha1.GitDelivery{newFollower(c.recorded, trees[1])}
	delete(c.Delivered, other2)
	return c
}

// newFollower returns a delivery to another repository with its desired trees delivered, at the position of a state.
func newFollower(s ledger.State, trees ...v1alpha1.Tree) v1alpha1.GitDelivery {
	d := v1alpha1.GitDelivery{ObjectMeta: controlledBy("web-uid")}
	position, essentials := s.Position(), s.Essentials()
	d.Name, d.Annotations = "web-other", map[string]string{composedAs: "other"}
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{ClaimRef: claim, Position: &position, Copy: &essentials, Trees: trees, DriftPolicy: v1alpha1.DriftReport, DeliveryTimeout: "10m"}
	d.Status.AtProvider = v1alpha1.GitDeliveryObservation{Ledger: &ledger.State{}, Record: &v1alpha1.LedgerRecord{Head: s.Head, Position: position, Copy: &essentials}}
	for _, t := range trees {
		d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, v1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: t.Tree, Revision: s.Current.Number})
	}
	d.Status.Conditions = readyCondition(corev1.ConditionTrue, v1alpha1.ReasonDelivered, d.Generation)
	return d
}

// follow gives the repository of the follower the recorded position, in the status of its delivery, whose spec may request it.
func (c *scene) follow(isAsked bool) {
	d := &c.Followers[0]
	position := c.recorded.Position()
	d.Status.AtProvider.Follows = &v1alpha1.FollowStatus{Position: position, AttemptTimeout: "2m0s"}
	d.Status.AtProvider.Record.Position = position
	d.Status.AtProvider.Trees = []v1alpha1.DeliveredTree{{Site: "edge2", Path: other2, Tree: "one2", Revision: c.recorded.Current.Number}}
	if t := &d.Spec.ForProvider.Trees[0]; isAsked {
		d.Spec.ForProvider.Position, d.Status.AtProvider.Follows = new(position), nil
		t.Action, t.Tree, t.Files = v1alpha1.ActionRestore, "one2", nil
	}
}

// restoreTwo lets the function ask the home for attempt 1, whose trees both repositories have, and observe both Sites.
func (c *scene) restoreTwo(isAsked bool) {
	c.Helper()
	c.restore()
	c.follow(isAsked)
	sync := c.observe(corev1.ConditionTrue, "Live")
	sync.Spec.ForProvider.Sites = append(sync.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "one2"})
}

// TestConcludeInTwo has a revision that the home and another repository deliver.
func TestConcludeInTwo(t *testing.T) {
	gateFailed, refused, back := "Rejected GateFailed", "Rejected DeliveryRefused", "RolledBack"
	follower := func(c *scene) *v1alpha1.GitDelivery { return &c.Followers[0] }
	cases := map[string]struct {
		reason string
		change func(c *scene)
		want   []string
	}{
		"Failed": {
			reason: "A revision in two repositories whose Gate failed is rejected and rolled back at once.",
			change: func(*scene) {}, want: []string{gateFailed, back},
		},
		"Refused": {
			reason: "A revision that the other repository refuses is rejected.",
			change: func(c *scene) { refuse(follower(c.withoutGates()), c.recorded.Position()) }, want: []string{refused, back},
		},
		"RefusedBefore": {reason: "A refusal by the other repository at another position does not count.", change: func(c *scene) {
			refuse(follower(c.withoutGates()), ledger.Position{Revision: 1})
		}},
		"RefusedEarlier": {reason: "A refusal by the other repository at the position of an earlier revision does not count.", change: func(c *scene) {
			follower(c.withoutGates()).Spec.ForProvider.Position.Revision = 1
			refuse(follower(c), ledger.Position{Revision: 1})
		}},
		"RefusedOld":     {reason: "A refusal by the other repository for an earlier generation does not count.", change: func(c *scene) { refuse(follower(c.withoutGates()), c.recorded.Position()); follower(c).Generation++ }},
		"RefusedNothing": {reason: "A repository that is asked for nothing fails no revision.", change: func(c *scene) { refuse(follower(c.withoutGates()), c.recorded.Position()); c.keepFollower() }},
		"Holds": {
			reason: "Where the home holds the target, the other repository is rolled back.",
			change: func(c *scene) { c.holdTarget() }, want: []string{gateFailed, back},
		},
		"HoldsBoth": {reason: "Where both repositories hold the target, and reported that, nothing is rolled back.", change: func(c *scene) {
			c.holdTarget()
			follower(c).Status.AtProvider.Trees[0].Tree = "one2"
		}, want: []string{gateFailed}},
		"Lost": {
			reason: "A repository whose delivery was lost may lack the target, and the home is rolled back.",
			change: func(c *scene) { c.Followers = nil }, want: []string{gateFailed, back},
		},
		"LostRest": {reason: "While a delivery is lost it is not known whether anything is to be rolled back.", change: func(c *scene) { c.Followers = nil; c.holdTarget() }, want: []string{gateFailed}},
		"Attempt": {reason: "The next attempt begins after the other repository refused the attempt that it follows.", change: func(c *scene) {
			c.goOn(rejected("GateFailed"), rolledBack(1))
			c.follow(false)
			refuse(follower(c), c.recorded.Position())
		}, want: []string{back}},
		"AttemptStale": {reason: "A refusal of the revision does not fail the attempt that the other repository does not follow yet.", change: func(c *scene) {
			refuse(follower(c), c.recorded.Position())
			c.goOn(rejected("GateFailed"), rolledBack(1))
		}},
		"LaterWave": {reason: "A Site of the first wave that fails rejects a revision that a later repository has not reached.", change: func(c *scene) {
			d, first := follower(c.withoutGates()), ledger.Position{Epoch: 1, Revision: 1}
			d.Spec.ForProvider.Position, d.Spec.ForProvider.Trees[0].Tree, d.Status.AtProvider.Record.Position = &first, "one2", first
			d.Status.AtProvider.Trees = []v1alpha1.DeliveredTree{{Site: "edge2", Path: other2, Tree: "one2", Revision: 1}}
			sync := c.observe(corev1.ConditionFalse, "Failed")
			sync.Spec.ForProvider.Sites = append(sync.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "two2"})
		}, want: []string{"Rejected SyncFailed", back}},
		"Live": {
			reason: "Sites of both repositories that run the target end a rollback whose position the specs name.",
			change: func(c *scene) { c.restoreTwo(true) }, want: []string{"Restored"},
		},
		"LiveUnasked": {
			reason: "A rollback does not end before the spec of the other repository names its position.",
			change: func(c *scene) { c.restoreTwo(false) },
		},
		"LiveUnapplied": {reason: "A rollback that the other repository does not have does not end.", change: func(c *scene) {
			c.restoreTwo(true)
			follower(c).Status.AtProvider.Record.Position.Attempt = 0
		}},
		"LiveOther": {reason: "A Site of the other repository without an observation delays the end of a rollback.", change: func(c *scene) {
			c.restoreTwo(true)
			c.Syncs[0].Spec.ForProvider.Sites = c.Syncs[0].Spec.ForProvider.Sites[:1]
		}},
		"LiveLost": {reason: "A rollback does not end while a delivery is lost to whose Sites the revision came.", change: func(c *scene) {
			c.restoreTwo(true)
			c.Followers = nil
		}},
		"LiveKept": {reason: "A repository with nothing to restore, which reported that, does not hold the end of a rollback back.", change: func(c *scene) {
			c.restoreTwo(true)
			c.keepFollower()
			follower(c).Status.AtProvider.Trees[0].Revision = 1
			follower(c).Spec.ForProvider.Position.Attempt, follower(c).Status.AtProvider.Record.Position.Attempt = 0, 0
			c.Syncs[0].Spec.ForProvider.Sites = c.Syncs[0].Spec.ForProvider.Sites[:1]
		}, want: []string{"Restored"}},
		"LiveBetween": {reason: "A repository with a tree that is still to be restored holds the end of a rollback back although its spec asks for nothing.", change: func(c *scene) {
			c.restoreTwo(true)
			c.keepFollower()
			follower(c).Status.AtProvider.Trees[0].Tree = "between2"
			follower(c).Spec.ForProvider.Position.Attempt, follower(c).Status.AtProvider.Record.Position.Attempt = 0, 0
		}},
		"SyncFailed": {reason: "A revision that an engine of either repository could not apply is rejected.", change: func(c *scene) {
			s := c.withoutGates().observe(corev1.ConditionFalse, "Failed")
			s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "two2"})
		}, want: []string{"Rejected SyncFailed", back}},
		"SyncTree": {reason: "A SiteSync that looks for another tree than the spec of the other repository proves nothing.", change: func(c *scene) {
			s := c.withoutGates().observe(corev1.ConditionFalse, "Failed")
			s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "other"})
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newSceneOfTwo(t)
			tc.change(c)
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describe(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// keepFollower lets the spec of the follower leave its directory as it is.
func (c *scene) keepFollower() {
	trees := c.Followers[0].Spec.ForProvider.Trees
	trees[0] = directories.Retain(trees[0])
}

// rollBackTwo shows in the status of the home that revision 2 was rolled back.
func (c *scene) rollBackTwo() {
	c.Helper()
	c.goOn(rejected("GateFailed"), rolledBack(1))
	s := *c.recorded.DeepCopy()
	c.Home.Status.AtProvider.Ledger, c.Home.Status.AtProvider.Mandate = &s, Status(c.Home.Spec.ForProvider.Mandate, s)
}

// TestHomeOf has a home that rolled revision 2 back, and another repository without this rollback in its spec.
func TestHomeOf(t *testing.T) {
	published := func(c *scene) *v1alpha1.GitDeliveryObservation { return &c.Home.Status.AtProvider }
	twin := func(c *scene) *v1alpha1.GitDelivery { d := c.Home.DeepCopy(); d.Name = "twin"; return d }
	cases := map[string]struct {
		reason string
		change func(c *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery
		want   string
	}{
		"Rolled": {reason: "A repository goes by the home that rolled back by its mandate.", want: "web"},
		"Silent": {reason: "A home that does not act by its mandate leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			published(c).Mandate = nil
			return nil
		}},
		"OtherEcho": {reason: "A home that acts by a mandate for another revision leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			published(c).Mandate.Revision = 1
			return nil
		}},
		"OnlyRejects": {reason: "A home that rolls nothing back leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			published(c).Mandate.May = []step.Kind{step.KindReject}
			return nil
		}},
		"Void": {reason: "A home whose mandate is void leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			c.Home.Spec.ForProvider.Mandate.Revision = 3
			return nil
		}},
		"Unjudged": {reason: "Nothing follows elsewhere from a revision without a verdict.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			published(c).Ledger.Verdict = nil
			return nil
		}},
		"Asked": {reason: "A spec that has the newest state is not led.", change: func(c *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			d.Spec.ForProvider.Copy = published(c).Ledger
			return nil
		}},
		"Unreached": {reason: "A repository that the revision has not come to is read only.", change: func(_ *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			d.Spec.ForProvider.Position, d.Status.AtProvider.Record.Position.Revision = nil, 1
			return nil
		}},
		"Followed": {
			reason: "A repository that is asked for no position, and followed the home to the revision, follows it back.",
			change: func(_ *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
				d.Spec.ForProvider.Position = nil
				return nil
			}, want: "web",
		},
		"Apart": {reason: "A repository that takes no part in the revision is left to the function.", change: func(_ *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			d.Annotations[composedAs] = "third"
			return nil
		}},
		"Unnamed": {reason: "A delivery that was not composed takes no part in the revision.", change: func(_ *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			d.Annotations = nil
			return nil
		}},
		"Deleted": {reason: "A home that is being deleted leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			c.Home.DeletionTimestamp = &metav1.Time{Time: noon}
			return nil
		}},
		"Controller": {reason: "A home of another controller leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			c.Home.OwnerReferences[0].UID = "other"
			return nil
		}},
		"Namespace": {reason: "A home of another namespace leads no other repository.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			c.Home.Namespace = "team-b"
			return nil
		}},
		"Ledger": {reason: "A copy of another ledger is not replaced.", change: func(_ *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			d.Spec.ForProvider.Copy.Ledger = "other"
			return nil
		}},
		"Epoch": {reason: "A copy of an earlier epoch is not replaced.", change: func(_ *scene, d *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			d.Spec.ForProvider.Copy.Epoch = 0
			return nil
		}},
		"Later": {reason: "A home is not followed while another delivery shows a later epoch of its ledger.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			later := twin(c)
			later.Status.AtProvider.Ledger.Epoch = 2
			return []*v1alpha1.GitDelivery{later}
		}},
		"LaterDeleted": {reason: "A later epoch counts although the delivery that shows it is being deleted.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			later := twin(c)
			later.Status.AtProvider.Ledger.Epoch, later.DeletionTimestamp = 2, &metav1.Time{Time: noon}
			return []*v1alpha1.GitDelivery{later}
		}},
		"Rival": {reason: "A home is not followed while another delivery shows another ledger of the same epoch.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			rival := twin(c)
			rival.Status.AtProvider.Ledger.Ledger = "rival"
			return []*v1alpha1.GitDelivery{rival}
		}},
		"Closed": {reason: "A ledger of a later epoch that was closed is that of a deployment which had the name.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			closed := twin(c)
			closed.Status.AtProvider.Ledger.Epoch, closed.Status.AtProvider.Ledger.IsClosed = 2, true
			return []*v1alpha1.GitDelivery{closed}
		}, want: "web"},
		"UnownedDelivery": {reason: "The later epoch of another controller's delivery does not count.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			stranger := twin(c)
			stranger.Status.AtProvider.Ledger.Epoch, stranger.OwnerReferences[0].UID = 2, "other"
			return []*v1alpha1.GitDelivery{stranger}
		}, want: "web"},
		"Twins": {reason: "Of two deliveries to the home, the delivery with the newer state in its status leads.", change: func(c *scene, _ *v1alpha1.GitDelivery) []*v1alpha1.GitDelivery {
			newer := twin(c)
			s := record(c, *newer.Status.AtProvider.Ledger, ledger.Event{Restored: &ledger.Restored{}})
			newer.Status.AtProvider.Ledger = &s
			return []*v1alpha1.GitDelivery{newer}
		}, want: "twin"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newSceneOfTwo(t)
			c.rollBackTwo()
			d, added := &c.Followers[0], []*v1alpha1.GitDelivery(nil)
			if tc.change != nil {
				added = tc.change(c, d)
			}
			all := []v1alpha1.GitDelivery{*d, *c.Home}
			for _, o := range added {
				all = append(all, *o)
			}
			got := ""
			if home := HomeOf(d, all); home != nil {
				got = home.GetName()
			}
			if got != tc.want {
				t.Errorf("\n%s\nHomeOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFollowHome asks another repository for revision 2, which the home rolled back.
func TestFollowHome(t *testing.T) {
	type result struct {
		IsAhead  bool
		Position ledger.Position
		Seq      int64
		Action   v1alpha1.TreeAction
		Tree     string
		Timeout  string
	}
	first, attempt := ledger.Position{Epoch: 1, Revision: 2}, ledger.Position{Epoch: 1, Revision: 2, Attempt: 1}
	retained := result{Position: first, Seq: 4, Action: v1alpha1.ActionKeep, Timeout: "10m"}
	restored := result{IsAhead: true, Position: attempt, Seq: 6, Action: v1alpha1.ActionRestore, Tree: "one2", Timeout: "2m0s"}
	earlier := func(r result) result { r.Position.Revision = 1; return r }
	cases := map[string]struct {
		reason string
		change func(c *scene, p *v1alpha1.GitDeliveryParameters)
		want   result
	}{
		"Restored": {reason: "The repository gets the tree of the target, and the state of the home.", want: restored},
		"Rejected": {reason: "A verdict without a rollback holds back the trees of the revision, and moves no record.", change: func(c *scene, _ *v1alpha1.GitDeliveryParameters) {
			c.Home.Status.AtProvider.Ledger.Cursor.Attempt, c.Home.Status.AtProvider.Ledger.Target = 0, 0
		}, want: retained},
		"Left": {reason: "The directory of a Site that the deployment is not for any more stays.", change: func(c *scene, _ *v1alpha1.GitDeliveryParameters) {
			c.Home.Spec.ForProvider.Mandate.Without = []string{"edge2"}
		}, want: retained},
		"Asked": {
			reason: "A spec that names the attempt has its trees.",
			change: func(_ *scene, p *v1alpha1.GitDeliveryParameters) { p.Position.Attempt = 1 },
			want:   result{Position: attempt, Seq: 4, Action: v1alpha1.ActionDesired, Tree: "two2", Timeout: "10m"},
		},
		"Epoch": {
			reason: "A spec of another epoch has its trees.",
			change: func(_ *scene, p *v1alpha1.GitDeliveryParameters) { p.Position.Epoch = 0 },
			want:   result{Position: ledger.Position{Revision: 2}, Seq: 4, Action: v1alpha1.ActionDesired, Tree: "two2", Timeout: "10m"},
		},
		"Earlier": {reason: "A repository that the revision has not come to, and that has the tree of the target, stays as it is.", change: func(c *scene, p *v1alpha1.GitDeliveryParameters) {
			p.Position.Revision, p.Trees[0].Tree = 1, "one2"
			c.Delivered[other2] = v1alpha1.DeliveredTree{Site: "edge2", Path: other2, Tree: "one2", Revision: 1}
		}, want: earlier(result{Position: first, Seq: 4, Action: v1alpha1.ActionDesired, Tree: "one2", Timeout: "10m"})},
		"Unrecorded": {
			reason: "The repository gets the recorded attempt of the home, although the status of the home proves that it failed.",
			change: func(c *scene, _ *v1alpha1.GitDeliveryParameters) {
				c.Home.Status.AtProvider.Record.Position = attempt
				c.Home.Status.Conditions = readyCondition(corev1.ConditionFalse, v1alpha1.ReasonTreeGone, c.Home.Generation)
			},
			want: restored,
		},
		"Between": {reason: "A repository that the revision has not come to, and that has another tree than the target, gets that of the target.", change: func(c *scene, p *v1alpha1.GitDeliveryParameters) {
			p.Position.Revision, p.Trees[0].Tree = 1, "between2"
			c.Delivered[other2] = v1alpha1.DeliveredTree{Site: "edge2", Path: other2, Tree: "between2", Revision: 1}
		}, want: restored},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newSceneOfTwo(t)
			c.rollBackTwo()
			p := *c.Followers[0].Spec.ForProvider.DeepCopy()
			c.Delivered = map[string]v1alpha1.DeliveredTree{other2: c.Followers[0].Status.AtProvider.Trees[0]}
			if tc.change != nil {
				tc.change(c, &p)
			}
			out, isAhead := c.FollowHome(p)
			got := result{isAhead, *out.Position, out.Copy.Seq, out.Trees[0].Action, out.Trees[0].Tree, out.DeliveryTimeout}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFollowHome(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPositionOfFollower has a follower with attempt 1 in its status, and an earlier position in its spec.
func TestPositionOfFollower(t *testing.T) {
	cases := map[string]struct {
		reason      string
		change      func(d *v1alpha1.GitDelivery)
		wantAttempt int32
		wantTimeout time.Duration
	}{
		"Ahead": {
			reason: "The desired position of the repository is the attempt of the home, with its timeout.",
			change: func(*v1alpha1.GitDelivery) {}, wantAttempt: 1, wantTimeout: 2 * time.Minute,
		},
		"Asked": {
			reason: "A spec that names the attempt has its own timeout.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Attempt = 1 }, wantAttempt: 1,
		},
		"Alone": {
			reason: "A repository that follows nothing has the position of its spec.",
			change: func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Follows = nil },
		},
		"Home": {reason: "A home follows nothing.", change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{} }},
		"Invalid": {
			reason: "An invalid timeout is the default.",
			change: func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Follows.AttemptTimeout = "" }, wantAttempt: 1, wantTimeout: 5 * time.Minute,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newSceneOfTwo(t)
			c.rollBackTwo()
			c.follow(false)
			d := &c.Followers[0]
			tc.change(d)
			if got := Position(d).Attempt; got != tc.wantAttempt {
				t.Errorf("\n%s\nPosition(...): want attempt %d, got %d", tc.reason, tc.wantAttempt, got)
			}
			if got := EffectiveDelivery(d).Spec.ForProvider.Position.Attempt; got != tc.wantAttempt {
				t.Errorf("\n%s\nEffectiveDelivery(...): want attempt %d, got %d", tc.reason, tc.wantAttempt, got)
			}
			if got := AttemptTimeout(d); got != tc.wantTimeout {
				t.Errorf("\n%s\nAttemptTimeout(...): want %s, got %s", tc.reason, tc.wantTimeout, got)
			}
		})
	}
}
