package mandate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// publish shows the recorded ledger, the applied position and the directories in the status of the home, which acts by its mandate.
func (c *scene) publish() {
	s := *c.recorded.DeepCopy()
	o := &c.Home.Status.AtProvider
	o.Ledger, o.Mandate, o.Record.Position, o.Trees = &s, Status(c.Home.Spec.ForProvider.Mandate, s), s.Position(), nil
	for _, t := range c.Delivered {
		o.Trees = append(o.Trees, t)
	}
}

// deliveries returns the home and the other deliveries.
func (c *scene) deliveries() []v1alpha1.GitDelivery {
	return append([]v1alpha1.GitDelivery{*c.Home.DeepCopy()}, c.Followers...)
}

// describeSites describes a position, the timeout, and the tree and the traffic of each Site.
func describeSites(p v1alpha1.SiteSyncParameters) []string {
	position := p.AskedPosition()
	out := []string{
		fmt.Sprintf("revision %d attempt %d step %d stage %d", position.Revision, position.Attempt, position.Step, position.Stage),
		strings.TrimSpace("within " + p.SyncWaitTimeout),
	}
	for _, s := range p.Sites {
		parts := []string{fmt.Sprintf("%s from %d: %s", s.Name, s.Wave, s.Tree)}
		if s.Traffic != nil {
			for _, t := range s.Traffic.Tracks {
				parts = append(parts, fmt.Sprintf("%s %d", t.Name, t.Weight))
				if t.Awaited {
					parts[len(parts)-1] += " awaited"
				}
			}
		}
		out = append(out, strings.Join(parts, ", "))
	}
	return out
}

// newWaves returns a scene of revision 2 in two waves, and a SiteSync of the first wave.
func newWaves(t *testing.T) (*scene, *v1alpha1.SiteSync) {
	t.Helper()
	first, second := ledger.Step{Sites: []string{"edge1"}, Gate: true}, ledger.Step{Sites: []string{"edge2"}, Gate: true}
	c := newSceneOf(t, ordered(1, ledger.Step{Sites: []string{"edge1", "edge2"}}), verified("one"), ordered(2, first, second))
	sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
	sync.Spec.ForProvider.Sites[1].Wave = 1
	return c, &sync
}

// TestFollowLedger has a home that took the second step of a revision, and a SiteSync of the first step.
func TestFollowLedger(t *testing.T) {
	published := func(c *scene) *v1alpha1.GitDeliveryObservation { return &c.Home.Status.AtProvider }
	twin := func(c *scene, change func(d *v1alpha1.GitDelivery)) {
		d := *c.Home.DeepCopy()
		d.Name, d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy = "twin", nil, &ledger.State{}
		change(&d)
		c.Followers = append(c.Followers, d)
	}
	cases := map[string]struct {
		reason  string
		change  func(c *scene, sync *v1alpha1.SiteSync)
		follows bool
	}{
		"Step": {
			reason:  "A SiteSync goes to the step that the home has recorded.",
			change:  func(*scene, *v1alpha1.SiteSync) {},
			follows: true,
		},
		"Asked": {
			reason:  "A spec of the home that names the step changes nothing.",
			change:  func(c *scene, _ *v1alpha1.SiteSync) { c.Home.Spec.ForProvider.Position.Step = 1 },
			follows: true,
		},
		"SameStep": {
			reason: "A SiteSync at the position of the home stays.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Spec.ForProvider.Position.Step = 1 },
		},
		"Behind": {
			reason: "A SiteSync goes to no earlier position.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Spec.ForProvider.Position.Step = 2 },
		},
		"Revision": {
			reason: "A SiteSync follows no earlier revision.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Spec.ForProvider.Position.Revision = 3 },
		},
		"Next": {
			reason: "A SiteSync follows no later revision.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Spec.ForProvider.Position.Revision = 1 },
		},
		"Epoch": {
			reason: "A SiteSync follows no other epoch.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Spec.ForProvider.Position.Epoch = 0 },
		},
		"Silent": {
			reason: "A SiteSync follows no home that does not act by its mandate.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { published(c).Mandate = nil },
		},
		"Followed": {
			reason: "A SiteSync that followed the ledger does not go back while the mandate rests.",
			change: func(c *scene, sync *v1alpha1.SiteSync) {
				published(c).Mandate, sync.Status.AtProvider.Position.Step = nil, 1
			},
			follows: true,
		},
		"OtherEcho": {
			reason: "A SiteSync follows no home that acts by a mandate for another revision.",
			change: func(c *scene, _ *v1alpha1.SiteSync) {
				published(c).Mandate.Revision = 1
			},
		},
		"Void": {
			reason: "A SiteSync follows no home whose mandate is void.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.Home.Spec.ForProvider.Mandate.Revision = 3 },
		},
		"NoMandate": {
			reason: "A SiteSync follows no home without a mandate.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.Home.Spec.ForProvider.Mandate = nil },
		},
		"NoLedger": {
			reason: "A SiteSync follows no home whose ledger is unknown.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { published(c).Ledger = nil },
		},
		"NoTrees": {
			reason: "A SiteSync follows no home that shows no trees.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { published(c).Trees = nil },
		},
		"Closed": {
			reason: "A SiteSync follows no closed ledger.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { published(c).Ledger.IsClosed = true },
		},
		"Rejected": {
			reason: "A SiteSync stays where a revision was rejected.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.goOn(rejected("GateFailed")); c.publish() },
		},
		"Deleted": {reason: "A SiteSync follows no home that is being deleted.", change: func(c *scene, _ *v1alpha1.SiteSync) {
			c.Home.DeletionTimestamp = &metav1.Time{Time: noon}
		}},
		"Claim": {
			reason: "A SiteSync follows no home of another claim.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.Home.Spec.ForProvider.ClaimRef.Name = "other" },
		},
		"Controller": {
			reason: "A SiteSync follows no home of another controller.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.Home.OwnerReferences[0].UID = "other" },
		},
		"Namespace": {
			reason: "A SiteSync follows no home of another namespace.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.Home.Namespace = "team-b" },
		},
		"Alone": {
			reason: "A SiteSync without a controller follows nothing.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.OwnerReferences = nil },
		},
		"NoHome": {
			reason: "A SiteSync follows no repository other than the home.",
			change: func(c *scene, _ *v1alpha1.SiteSync) { c.Home.Spec.ForProvider.Ledger = nil },
		},
		"TwoHomes": {reason: "A SiteSync follows none of two homes.", change: func(c *scene, _ *v1alpha1.SiteSync) {
			twin(c, func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Ledger = &v1alpha1.LedgerUpdate{} })
		}},
		"Forged": {reason: "A second home of another controller does not count.", change: func(c *scene, _ *v1alpha1.SiteSync) {
			twin(c, func(d *v1alpha1.GitDelivery) {
				d.Spec.ForProvider.Ledger, d.OwnerReferences[0].UID = &v1alpha1.LedgerUpdate{}, "other"
			})
		}, follows: true},
		"Later": {reason: "A SiteSync follows no home while another delivery shows a later epoch.", change: func(c *scene, _ *v1alpha1.SiteSync) {
			twin(c, func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Ledger.Epoch = 2 })
		}},
		"Rival": {
			reason: "A SiteSync follows no home while another delivery shows another ledger.",
			change: func(c *scene, _ *v1alpha1.SiteSync) {
				twin(c, func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Ledger.Ledger = "rival" })
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, sync := newWaves(t)
			c.goOn(advanced(1, 0))
			c.publish()
			tc.change(c, sync)
			want := *sync.Spec.ForProvider.DeepCopy()
			if tc.follows {
				want.Position.Step = 1
			}
			got, isAhead := FollowLedger(sync, c.deliveries())
			if diff := cmp.Diff(want, got); diff != "" || isAhead != tc.follows {
				t.Errorf("\n%s\nFollowLedger(...): want a later position %t, got %t, -want, +got:\n%s", tc.reason, tc.follows, isAhead, diff)
			}
		})
	}
}

// TestFollowRollback has a home that rolled revision 2 back, and a SiteSync of revision 2.
func TestFollowRollback(t *testing.T) {
	back := []string{"revision 2 attempt 1 step 0 stage 0", "within 2m0s", "edge1 from 0: one1", "edge2 from 0: one2"}
	cases := map[string]struct {
		reason string
		change func(c *scene)
		want   []string
	}{
		"Restored": {reason: "Each Site of a rollback has to run the tree of its target.", change: func(*scene) {}, want: back},
		"Pushing": {
			reason: "Which tree a Site has to run does not depend on the push.",
			change: func(c *scene) { c.Followers[0].Status.AtProvider.Trees[0].Tree = "two2" },
			want:   back,
		},
		"Left": {reason: "Nothing is restored at a Site that the deployment has left.", change: func(c *scene) {
			c.Home.Spec.ForProvider.Mandate.Without = []string{"edge2"}
		}, want: back[:3]},
		"Untouched": {reason: "A Site that the revision never reached is not observed.", change: func(c *scene) {
			c.keepFollower()
			c.Followers[0].Status.AtProvider.Trees[0].Revision = 1
		}, want: back[:3]},
		"Apart": {
			reason: "A repository that takes no part in the revision is not observed.",
			change: func(c *scene) { c.Followers[0].Annotations = nil },
			want:   back[:3],
		},
		"Forged": {reason: "A repository of another controller is not observed.", change: func(c *scene) {
			c.Followers[0].OwnerReferences[0].UID = "other"
		}, want: back[:3]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newSceneOfTwo(t)
			sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
			sync.Spec.ForProvider.Sites = append(sync.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "two2"})
			c.goOn(rejected("GateFailed"), rolledBack(1))
			c.follow(false)
			c.publish()
			tc.change(c)
			got, isAhead := FollowLedger(&sync, c.deliveries())
			if diff := cmp.Diff(tc.want, describeSites(got)); diff != "" || !isAhead {
				t.Errorf("\n%s\nFollowLedger(...): later position %t, -want, +got:\n%s", tc.reason, isAhead, diff)
			}
		})
	}
}

// TestFollowWithdrawal has a home in which a user rolled revision 2 back by revision 3.
func TestFollowWithdrawal(t *testing.T) {
	c, sync := newWaves(t)
	c.goOn(advanced(1, 0))
	c.withdraw()
	c.goOn(rolledBack(1))
	c.publish()
	got, isAhead := FollowLedger(sync, c.deliveries())
	want := []string{"revision 3 attempt 1 step 0 stage 0", "within 2m0s", "edge1 from 0: one1", "edge2 from 0: one2"}
	if diff := cmp.Diff(want, describeSites(got)); diff != "" || !isAhead {
		t.Errorf("\nA SiteSync follows the rollback of its revision that a user requested.\nFollowLedger(...): later position %t, -want, +got:\n%s", isAhead, diff)
	}
}

// TestFollowDirectories has a home whose canary got 20 percent of the requests, and a SiteSync of the step before.
func TestFollowDirectories(t *testing.T) {
	const split = "edge1 from 0: %s, blue 80, green 20 awaited"
	stepped := func(c *canaryScene, site string) []string {
		return []string{"revision 2 attempt 0 step 1 stage 3", "within", strings.ReplaceAll(site, "%s", c.Delivered[shopPath].Tree)}
	}
	rollBack := func(c *canaryScene, stage int32) {
		c.goOn(rejected("GateFailed"), rolledBack(1))
		if stage > 0 {
			c.goOn(advanced(1, stage))
		}
		c.publish()
	}
	const restoring, none = "revision 2 attempt 1 step 1 stage 3", "edge1 from 0: "
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   func(c *canaryScene) []string
	}{
		"Step": {
			reason: "A Site has to run the delivered tree, with the delivered weights.",
			change: func(*canaryScene) {},
			want:   func(c *canaryScene) []string { return stepped(c, split) },
		},
		"Unapplied": {reason: "A directory that has not come to the step proves nothing of it.", change: func(c *canaryScene) {
			c.Home.Status.AtProvider.Record.Position.Step = 0
		}, want: func(c *canaryScene) []string { return stepped(c, none+", blue 80, green 20 awaited") }},
		"Waits": {reason: "A directory that stays without the revision proves nothing of its step.", change: func(c *canaryScene) {
			c.Home.Status.AtProvider.Trees[0].Tracks = c.Home.Status.AtProvider.Trees[0].Tracks[:1]
		}, want: func(c *canaryScene) []string { return stepped(c, none+", blue 80") }},
		"Flat": {reason: "A directory that stays without tracks proves nothing of a step.", change: func(c *canaryScene) {
			c.Home.Status.AtProvider.Trees[0].Tracks, c.Home.Status.AtProvider.Trees[0].Revision = nil, 1
		}, want: func(c *canaryScene) []string { return stepped(c, none) }},
		"Missing": {reason: "A directory that was never delivered proves nothing.", change: func(c *canaryScene) {
			c.Home.Status.AtProvider.Trees[0].Path = "elsewhere"
		}, want: func(c *canaryScene) []string { return stepped(c, none) }},
		"Shift": {
			reason: "Before a rollback is restored the directory is observed as it is, and the pods of the target are awaited.",
			change: func(c *canaryScene) { rollBack(c, 0) }, want: func(c *canaryScene) []string {
				return []string{"revision 2 attempt 1 step 1 stage 0", "within 2m0s", "edge1 from 0: " + c.Delivered[shopPath].Tree + ", blue 80 awaited, green 20"}
			},
		},
		"Restoring": {
			reason: "A rollback is not proven before the directory has the tree of its target.",
			change: func(c *canaryScene) { rollBack(c, ledger.StageSteps) }, want: func(*canaryScene) []string {
				return []string{restoring, "within 2m0s", none + ", blue 80 awaited, green 20"}
			},
		},
		"Restored": {reason: "A rollback is proven by the tree of its target.", change: func(c *canaryScene) {
			rollBack(c, ledger.StageSteps)
			t := &c.Home.Status.AtProvider.Trees[0]
			t.Tree, t.Tracks = tree.ID(c.stable), []v1alpha1.DeliveredTrack{{Name: track.Blue, Revision: 1, Weight: 100}}
		}, want: func(c *canaryScene) []string {
			return []string{restoring, "within 2m0s", "edge1 from 0: " + tree.ID(c.stable) + ", blue 100 awaited"}
		}},
		"Left": {reason: "The directory of a Site that the deployment has left stays as it is.", change: func(c *canaryScene) {
			c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1"}
			rollBack(c, ledger.StageSteps)
		}, want: func(c *canaryScene) []string {
			return []string{restoring, "within 2m0s", "edge1 from 0: " + c.Delivered[shopPath].Tree + ", blue 80 awaited, green 20"}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
			sync.Spec.ForProvider.Position.Step, sync.Spec.ForProvider.Sites[0].Tree = 0, "earlier"
			c.publish()
			tc.change(c)
			got, isAhead := FollowLedger(&sync, c.deliveries())
			if diff := cmp.Diff(tc.want(c), describeSites(got)); diff != "" || !isAhead {
				t.Errorf("\n%s\nFollowLedger(...): later position %t, -want, +got:\n%s", tc.reason, isAhead, diff)
			}
		})
	}
}

// TestFollowNewSite has a canary with another Site in its second wave, which has no directory.
func TestFollowNewSite(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   string
	}{
		"Step": {reason: "A step of the first wave awaits nothing at the Site.", change: func(*canaryScene) {}, want: "edge2 from 2: "},
		"Before": {
			reason: "No stage before the steps awaits the first tree of the Site.",
			change: func(c *canaryScene) { c.recorded.Cursor = ledger.Cursor{Stage: ledger.StageBeside} }, want: "edge2 from 2: ",
		},
		"Rollback": {
			reason: "A rollback awaits nothing at a Site that the revision never came to: its cluster may never be ready.",
			change: func(c *canaryScene) { c.goOn(rejected("GateFailed"), rolledBack(1)) }, want: "",
		},
		"Served": {
			reason: "A rollback restores the directory that its target had at the Site.",
			change: func(c *canaryScene) {
				c.recorded.History[0].Trees = append(c.recorded.History[0].Trees, ledger.SiteTree{Site: "edge2", ID: "one2"})
				c.goOn(rejected("GateFailed"), rolledBack(1))
			}, want: "edge2 from 0: ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
			sync.Spec.ForProvider.Position = new(ledger.Position{Epoch: c.recorded.Epoch, Revision: 2})
			sync.Spec.ForProvider.Sites = append(sync.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "two2", Wave: 2})
			c.recorded.Current.Plan = slices.Clone(c.recorded.Current.Plan)
			c.recorded.Current.Plan[2].Sites = []string{"edge2"}
			tc.change(c)
			c.publish()
			got, isAhead := FollowLedger(&sync, c.deliveries())
			sites, site := describeSites(got)[2:], ""
			if len(sites) > 1 {
				site = sites[1]
			}
			if diff := cmp.Diff(tc.want, site); diff != "" || !isAhead {
				t.Errorf("\n%s\nFollowLedger(...): later position %t, -want, +got:\n%s", tc.reason, isAhead, diff)
			}
		})
	}
}

// TestFollowPause has a canary with a pause behind each step.
func TestFollowPause(t *testing.T) {
	cases := map[string]struct {
		reason   string
		step     int32
		promoted int32
		asked    string
		want     string
	}{
		"Step":     {reason: "A later step has its own pause.", asked: "1m", want: "10m false"},
		"Promoted": {reason: "A user released the pause of the later step.", promoted: 2, asked: "1m", want: "10m true"},
		"Earlier":  {reason: "The release of an earlier step releases no later step.", promoted: 1, asked: "1m", want: "10m false"},
		"Same":     {reason: "The pause of the spec counts at its position.", step: 1, asked: "5m", want: "5m false"},
		"Released": {
			reason:   "A user released the step of the spec, which the function has not read.",
			step:     1,
			promoted: 2,
			asked:    "Manual",
			want:     "Manual true",
		},
		"NoPause": {reason: "A step without a pause is not promoted.", step: 1, promoted: 2, want: " false"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			sync := newSync(c.Home, c.recorded, corev1.ConditionTrue, "Live")
			sync.Spec.ForProvider.Position.Step, sync.Spec.ForProvider.Pause = tc.step, tc.asked
			c.recorded.Current.Plan = slices.Clone(c.recorded.Current.Plan)
			c.recorded.Current.Plan[1].Pause, c.recorded.Cursor.Promoted = "10m", tc.promoted
			c.publish()
			p, isAhead := FollowLedger(&sync, c.deliveries())
			if got := fmt.Sprint(p.Pause, " ", p.Promoted); got != tc.want || isAhead != (tc.step == 0) {
				t.Errorf("\n%s\nFollowLedger(...): want %q, got %q, later position %t", tc.reason, tc.want, got, isAhead)
			}
		})
	}
}
