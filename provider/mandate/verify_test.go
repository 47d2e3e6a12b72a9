package mandate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestConcludeVerified has a revision at its last step, which each Site runs.
func TestConcludeVerified(t *testing.T) {
	plain := func(t *testing.T) *scene { t.Helper(); return newScene(t) }
	canary := func(t *testing.T) *scene {
		t.Helper()
		c := newCanaryScene(t, 2, 100)
		c.stable = nil
		return c.scene
	}
	two := func(t *testing.T) *scene { t.Helper(); return newSceneOfTwo(t) }
	verified := []string{"Verified "}
	alone := shopFiles(t, "two", track.Green)
	treesOfScene := []ledger.SiteTree{{Site: "edge1", ID: "two1"}, {Site: "edge2", ID: "two2"}}
	follower := func(c *scene) *v1alpha1.GitDelivery { return &c.Followers[0] }
	observeOther := func(c *scene) {
		s := &c.Syncs[0]
		s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, v1alpha1.SiteTree{Name: "edge2", Path: other2, Tree: "two2"})
		o := v1alpha1.SiteObservation{Name: "edge2", State: v1alpha1.SiteLive, Tree: "two2"}
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, o)
	}
	cases := map[string]struct {
		reason string
		scene  func(t *testing.T) *scene
		change func(c *scene)
		want   []string
		trees  []ledger.SiteTree
	}{
		"Plain": {
			reason: "A revision that each Site runs is verified, with the tree of each Site.",
			scene:  plain, want: verified, trees: treesOfScene,
		},
		"Canary": {
			reason: "A canary with all requests is verified, with the tree in which its track is alone.",
			scene:  canary, want: verified, trees: []ledger.SiteTree{{Site: "edge1", ID: tree.ID(alone), Part: track.FolderID(alone, track.Green)}},
		},
		"Two": {
			reason: "A revision in two repositories is verified once the Sites of both run it.",
			scene:  two, change: observeOther, want: verified, trees: treesOfScene,
		},

		"Suspended": {
			reason: "A suspension holds back no verdict.",
			scene:  plain, change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.Suspended = true }, want: verified, trees: treesOfScene,
		},
		"NotListed": {
			reason: "A mandate without verdicts verifies nothing.",
			scene:  plain, change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject, step.KindAdvance} },
		},
		"NoGate": {reason: "A missing Gate has not passed.", scene: plain, change: func(c *scene) { c.Gates = nil }},
		"OneSite": {
			reason: "A revision is not verified before each Site runs its tree.",
			scene:  plain, change: func(c *scene) { c.Syncs[0].Status.AtProvider.Sites[1].Tree = "one2" },
		},
		"TreeLost": {
			reason: "A revision is not verified without the tree of each Site.",
			scene:  plain, change: func(c *scene) {
				c.Unobserved = map[string]bool{"edge2": true}
				delete(c.Delivered, "clusters/edge2/team-a/web")
			},
		},
		"Unobserved": {
			reason: "A delivered tree counts as live at a Site without an engine that says so.",
			scene:  plain, change: func(c *scene) {
				c.Syncs, c.Unobserved = nil, map[string]bool{"edge1": true, "edge2": true}
			}, want: verified, trees: treesOfScene,
		},
		"Unproven": {
			reason: "A delivered tree does not count as live at another Site without an engine.",
			scene:  plain, change: func(c *scene) { c.Syncs, c.Unobserved = nil, map[string]bool{"edge1": true, "edge2": false} },
		},
		"Cluster": {
			reason: "A Site that waits for its cluster holds the verdict back.",
			scene:  plain, change: func(c *scene) { c.Home.Spec.ForProvider.Trees[1].Action = v1alpha1.ActionKeep },
		},
		"Changed": {
			reason: "A claim that changed holds the verdict back.",
			scene:  plain, change: func(c *scene) { c.Guard = v1alpha1.HoldClaimChanged },
		},
		"NoFiles": {
			reason: "A canary is not verified where its tree without the other track is unknown.",
			scene:  canary, change: func(c *scene) { c.Home.Spec.ForProvider.Trees[0].Files = nil },
		},

		"FollowerUnseen": {reason: "A Site of another repository without an observation holds the verdict back.", scene: two},
		"FollowerPushing": {
			reason: "Another repository that does not have the revision holds the verdict back.",
			scene:  two, change: func(c *scene) {
				observeOther(c)
				follower(c).Status.Conditions = readyCondition(corev1.ConditionFalse, v1alpha1.ReasonPushing, 3)
			},
		},
		"FollowerLost": {
			reason: "A repository without a delivery holds the verdict back.",
			scene:  two, change: func(c *scene) { observeOther(c); c.Followers = nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := tc.scene(t)
			c.goForward()
			if tc.change != nil {
				tc.change(c)
			}
			s, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describeForward(events)); diff != "" {
				t.Fatalf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
			if tc.trees == nil {
				return
			}
			if diff := cmp.Diff(tc.trees, s.PastRevision(2).Trees); diff != "" {
				t.Errorf("\n%s\nproven trees: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConcludeAlone has a verified canary, whose other track serves nothing any more.
func TestConcludeAlone(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   []string
		hold   v1alpha1.MandateHold
	}{
		"Idle": {reason: "The pods of the other track go once its requests have ended.", want: []string{"Advanced 2.4"}},
		"Draining": {
			reason: "The pods of the other track stay while requests may be under way.",
			change: func(c *canaryScene) { c.Syncs[0].Status.AtProvider.Sites[0].Traffic.Tracks[0].Idle = false },
		},
		"Proposed": {reason: "The pods of the other track stay until the verdict is recorded.", change: func(c *canaryScene) {
			verdict := ledger.Event{Judged: &ledger.Judged{Verdict: *c.recorded.Verdict, Trees: c.recorded.PastRevision(2).Trees}}
			unjudged := newCanaryScene(t, 2, 100).recorded
			c.recorded, c.next = unjudged, record(t, unjudged, verdict)
		}},
		"Suspended": {
			reason: "A suspended canary keeps the pods of the other track.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Suspended = true },
		},
		"NotListed": {
			reason: "A mandate without steps leaves the pods of the other track.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindVerify} },
		},
		"Changed": {
			reason: "A claim that changed keeps the pods of the other track.", hold: v1alpha1.HoldClaimChanged,
			change: func(c *canaryScene) { c.Guard = v1alpha1.HoldClaimChanged },
		},
		"NoFiles": {
			reason: "Without the files of the revision the pods of the other track stay.", hold: v1alpha1.HoldFilesMissing,
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Trees[0].Files = nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 2, 100)
			alone := ledger.SiteTree{Site: "edge1", ID: tree.ID(c.canary), Part: track.FolderID(c.canary, track.Green)}
			verdict := ledger.Verdict{Result: ledger.VerdictVerified}
			c.goForward()
			c.goOn(ledger.Event{Judged: &ledger.Judged{Verdict: verdict, Trees: []ledger.SiteTree{alone}}})
			c.Syncs[0].Status.AtProvider.Sites[0].Traffic = &v1alpha1.SiteTrafficObservation{
				Tracks: []v1alpha1.TrackObservation{{Name: track.Blue, Idle: true, ProvenAt: new(c.recorded.Position())}},
			}
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
