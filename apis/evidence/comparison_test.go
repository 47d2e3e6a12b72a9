package evidence

import (
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// newTree returns the tree that a delivery brings to a Site, in the directory of its name.
func newTree(site string) deliveryv1alpha1.Tree {
	return deliveryv1alpha1.Tree{Site: site, Path: site, Action: deliveryv1alpha1.ActionDesired, Tree: "tree-" + site}
}

// newComparison returns one of a gated revision, of which all is proven: the home brings trees to the Sites b and a, and the Gate passed. The ledger holds that
// it was verified.
func newComparison() *Comparison {
	s := gatedState()
	s.Current.Plan = []ledger.Step{{Sites: []string{"a", "b"}, Gate: true}}
	s.Head = ledger.Head{Ledger: "l", Epoch: 1, Seq: 3, ID: "three"}
	s.Verdict = &ledger.Verdict{Result: ledger.VerdictVerified}
	c := &Comparison{State: s, Recorded: s, Unobserved: map[string]bool{}}
	d := newDelivery(s.Position(), new(s.Position()))
	d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{After: s.Head}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{newTree("b"), newTree("a")}
	d.Status.AtProvider.Ledger = &s
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "a", Path: "a", Tree: "tree-a"}, {Site: "b", Path: "b", Tree: "tree-b"}}
	setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 0)
	setCondition(d, xpv2.TypeSynced, corev1.ConditionTrue, 0)
	c.Desired = map[string]*deliveryv1alpha1.GitDelivery{"home": {Spec: *d.Spec.DeepCopy()}}
	c.Observed = map[string]*deliveryv1alpha1.GitDelivery{"home": d}
	sync := &deliveryv1alpha1.SiteSync{}
	sync.Spec.ForProvider.Position = new(s.Position())
	sync.Spec.ForProvider.Sites = []deliveryv1alpha1.SiteTree{{Name: "a", Tree: "tree-a"}, {Name: "b", Tree: "tree-b"}}
	sync.Status.AtProvider.Position = new(s.Position())
	sync.SetConditions(xpv2.Available(), xpv2.ReconcileSuccess())
	c.Sync, c.ObservedSync = sync.DeepCopy(), sync
	c.Gates = map[string]*rolloutv1alpha1.Gate{"gate": newGate(s, rolloutv1alpha1.GatePassed)}
	c.Gates["gate"].Status.AtProvider.StartedAt = &metav1.Time{}
	return c
}

// facts names the predicates that are true of a comparison.
func (c *Comparison) facts() []string {
	blocked, _ := c.Blocked()
	all := map[string]bool{
		"live": c.IsLive(), "applied": c.IsApplied(), "everywhere": c.RunsEverywhere(), "unhindered": c.IsUnhindered(), "recorded": c.IsRecorded(),
		"judged": c.IsVerdictRecorded(), "succeeds": c.SucceedsNow(), "watched": c.WatchesEveryEngine(), "awaits": c.AwaitsCluster(),
		"conflict": c.HasConflict(), "blocked": blocked != nil, "measured": c.IsMeasured(), "waits": c.AwaitingGate() != nil, "unproven": len(c.UnprovenSites()) > 0,
	}
	var out []string
	for name, isTrue := range all {
		if isTrue {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// home is the delivery that is observed.
func (c *Comparison) home() *deliveryv1alpha1.GitDelivery { return c.Observed["home"] }

// without returns the names of all proven facts without some, and with more.
func without(out []string, added ...string) []string {
	all := []string{"applied", "everywhere", "judged", "live", "measured", "recorded", "succeeds", "unhindered", "watched"}
	all = append(slices.DeleteFunc(all, func(name string) bool { return slices.Contains(out, name) }), added...)
	slices.Sort(all)
	return all
}

// failFor makes a delivery not Ready for a reason.
func failFor(reason xpv2.ConditionReason) func(*Comparison) {
	return func(c *Comparison) {
		c.home().SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: reason})
	}
}

// keep lets a Site keep its tree.
func keep(site string) func(*Comparison) {
	return func(c *Comparison) {
		for _, d := range []*deliveryv1alpha1.GitDelivery{c.Desired["home"], c.home()} {
			for i, t := range d.Spec.ForProvider.Trees {
				if t.Site == site {
					d.Spec.ForProvider.Trees[i].Action, d.Spec.ForProvider.Trees[i].Tree = deliveryv1alpha1.ActionKeep, ""
				}
			}
		}
	}
}

// gateSays lets the Gate be not Ready for a reason, without a verdict on the revision.
func gateSays(reason xpv2.ConditionReason) func(*Comparison) {
	return func(c *Comparison) {
		c.State.Verdict = nil
		c.Gates["gate"].SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: reason, ObservedGeneration: 4})
	}
}

// TestComparison changes one thing at a time about a revision of which all is proven.
func TestComparison(t *testing.T) {
	undelivered := []string{"live", "succeeds"}
	cases := map[string]struct {
		reason string
		change func(*Comparison)
		want   []string
	}{
		"All": {reason: "A revision that each object proves succeeds.", change: func(*Comparison) {}, want: without(nil)},
		"Pushing": {
			reason: "A push in progress is not an obstacle, and the Sites run the applied trees.",
			change: failFor(deliveryv1alpha1.ReasonPushing), want: without(undelivered),
		},
		"Denied": {
			reason: "A delivery that a limit refuses is an obstacle.",
			change: failFor(deliveryv1alpha1.ReasonPolicyDenied), want: without([]string{"live", "succeeds", "everywhere", "unhindered"}, "blocked"),
		},
		"Conflict": {
			reason: "A delivery whose object another claim delivers is an obstacle of its own.",
			change: failFor(deliveryv1alpha1.ReasonObjectConflict),
			want:   without([]string{"live", "succeeds", "everywhere", "unhindered"}, "blocked", "conflict"),
		},
		"DeniedOnce": {reason: "A refusal of an earlier generation does not hinder.", change: func(c *Comparison) { failFor(deliveryv1alpha1.ReasonPolicyDenied)(c); c.home().SetGeneration(2) }, want: without(undelivered)},
		"DeniedElse": {reason: "A refusal of another position does not hinder.", change: func(c *Comparison) {
			failFor(deliveryv1alpha1.ReasonPolicyDenied)(c)
			c.home().Spec.ForProvider.Position.Step = 1
		}, want: without([]string{"live", "succeeds", "applied", "everywhere"})},
		"Lost": {
			reason: "A delivery that was lost proves nothing, and hinders nothing.",
			change: func(c *Comparison) { delete(c.Observed, "home") }, want: without([]string{"live", "succeeds", "applied", "everywhere"}),
		},
		"PartLost": {
			reason: "While a repository of the revision is not known nothing is proven.",
			change: func(c *Comparison) { c.IsPartLost = true }, want: without([]string{"live", "succeeds", "applied", "everywhere"}),
		},
		"NoParts": {
			reason: "A revision without deliveries is not applied.",
			change: func(c *Comparison) { clear(c.Desired) }, want: without([]string{"live", "succeeds", "applied", "everywhere"}),
		},
		"OtherTree": {
			reason: "A delivery that asks for another tree does not prove the revision.",
			change: func(c *Comparison) { c.home().Spec.ForProvider.Trees[1].Tree = "old" },
			want:   without([]string{"live", "succeeds", "applied", "everywhere"}),
		},
		"Cluster": {reason: "A Site that keeps its tree in its own step waits for its cluster.", change: func(c *Comparison) { c.State.Verdict = nil; keep("b")(c) }, want: without([]string{"live", "succeeds", "applied", "everywhere", "unhindered", "judged"}, "awaits")},
		"NotYet": {reason: "A Site whose step has not come waits for no cluster.", change: func(c *Comparison) {
			c.State.Current.Plan = []ledger.Step{{Sites: []string{"a"}, Gate: true}, {Sites: []string{"b"}}}
			keep("b")(c)
		}, want: without([]string{"succeeds"})},
		"Deferred": {reason: "A tree that no version can render any more waits for no cluster where the repository holds one.", change: func(c *Comparison) { c.RendererDeferred = true; keep("b")(c) }, want: without(nil)},
		"DeferredNone": {reason: "A tree that no version can render any more waits where the repository holds none.", change: func(c *Comparison) {
			c.RendererDeferred = true
			keep("b")(c)
			c.home().Status.AtProvider.Trees = c.home().Status.AtProvider.Trees[:1]
		}, want: without([]string{"live", "succeeds", "applied", "everywhere", "unhindered"}, "awaits")},
		"Retained": {reason: "A Site of a rejected revision keeps its tree, and waits for no cluster.", change: func(c *Comparison) { c.State.Verdict.Result = ledger.VerdictRejected; keep("b")(c) }, want: without([]string{"succeeds"})},
		"NoEngine": {
			reason: "A Site without an engine is proven where a delivered tree counts.",
			change: func(c *Comparison) { c.Unobserved["b"] = true }, want: without(nil),
		},
		"NeverProven": {
			reason: "A Site without an engine is never proven where a delivered tree does not count.",
			change: func(c *Comparison) { c.Unobserved["b"] = false },
			want:   without([]string{"live", "succeeds", "everywhere", "unhindered"}, "unproven"),
		},
		"NotRestored": {reason: "A rollback that leaves a Site alone need not prove it.", change: func(c *Comparison) {
			c.Unobserved["b"], c.State.Cursor.Attempt, c.State.Verdict.Result = false, 1, ledger.VerdictRejected
			keep("b")(c)
		}, want: []string{"judged", "recorded", "unhindered", "watched"}},
		"LaterSite": {reason: "A Site without an engine need not be proven before its step.", change: func(c *Comparison) {
			c.Unobserved["b"] = false
			c.State.Current.Plan = []ledger.Step{{Sites: []string{"a"}, Gate: true}, {Sites: []string{"b"}}}
		}, want: without([]string{"succeeds"})},
		"Unwatched": {reason: "A Site with an engine that is not observed is not watched, and was proven when the revision was verified.", change: func(c *Comparison) {
			c.Unobserved = nil
			c.Sync.Spec.ForProvider.Sites, c.ObservedSync.Spec.ForProvider.Sites = c.Sync.Spec.ForProvider.Sites[:1], c.ObservedSync.Spec.ForProvider.Sites[:1]
		}, want: without([]string{"watched"})},
		"UnwatchedEarly": {reason: "While the catalog is not known, a Site that nothing observes is not proven before the verdict.", change: func(c *Comparison) {
			c.Unobserved, c.State.Verdict = nil, nil
			c.Sync.Spec.ForProvider.Sites, c.ObservedSync.Spec.ForProvider.Sites = c.Sync.Spec.ForProvider.Sites[:1], c.ObservedSync.Spec.ForProvider.Sites[:1]
		}, want: without([]string{"watched", "live", "everywhere", "unhindered", "succeeds", "judged"}, "unproven")},
		"NoSync": {reason: "Where no Site has an engine a delivery is proof enough.", change: func(c *Comparison) {
			c.Sync, c.ObservedSync, c.Unobserved = nil, nil, map[string]bool{"a": true, "b": true}
		}, want: without(nil)},
		"OtherSites": {
			reason: "A SiteSync that looks for other trees proves nothing.",
			change: func(c *Comparison) { c.ObservedSync.Spec.ForProvider.Sites[0].Tree = "old" },
			want:   without([]string{"live", "succeeds", "everywhere"}),
		},
		"Followed": {reason: "A SiteSync that followed the ledger to the desired trees proves them.", change: func(c *Comparison) {
			follow(c.ObservedSync, "")
		}, want: without(nil)},
		"FollowedOther": {reason: "A SiteSync that followed the ledger to other trees proves nothing.", change: func(c *Comparison) {
			follow(c.ObservedSync, "other")
		}, want: without([]string{"live", "succeeds", "everywhere"})},
		"FollowedElsewhere": {reason: "A SiteSync that followed the ledger in another directory proves nothing.", change: func(c *Comparison) {
			follow(c.ObservedSync, "")
			c.ObservedSync.Spec.ForProvider.Sites[0].Path = "elsewhere"
		}, want: without([]string{"live", "succeeds", "everywhere"})},
		"FollowedLater": {reason: "A SiteSync that followed the ledger proves its step, whatever tree a Site of a later step runs.", change: func(c *Comparison) {
			follow(c.ObservedSync, "")
			c.Sync.Spec.ForProvider.Sites[1].Wave, c.ObservedSync.Status.AtProvider.Sites[1].DesiredTree = 9, "earlier"
		}, want: without(nil)},
		"FollowedUnknown": {reason: "A SiteSync that followed the ledger without a tree of a Site of its step proves nothing.", change: func(c *Comparison) {
			follow(c.ObservedSync, "")
			c.ObservedSync.Status.AtProvider.Sites = c.ObservedSync.Status.AtProvider.Sites[:1]
		}, want: without([]string{"live", "succeeds", "everywhere"})},
		"Proposed": {
			reason: "A verdict that the ledger does not hold yet is not a success.",
			change: func(c *Comparison) { c.Recorded.Seq-- },
			want:   without([]string{"recorded", "judged", "succeeds"}),
		},
		"NoData": {
			reason: "A Gate without data may wait for ever.",
			change: gateSays(rolloutv1alpha1.ReasonNoData),
			want:   without([]string{"judged", "succeeds", "unhindered"}, "waits"),
		},
		"Measures": {
			reason: "A Gate that measures hinders nothing.",
			change: gateSays("Measuring"),
			want:   without([]string{"judged", "succeeds"}),
		},
		"Verdict": {reason: "A Gate without data does not matter once there is a verdict.", change: func(c *Comparison) {
			gateSays(rolloutv1alpha1.ReasonNoData)(c)
			c.State.Verdict = c.Recorded.Verdict
		}, want: without(nil)},
		"NoGate": {
			reason: "A step whose Gate is not there is not measured.",
			change: func(c *Comparison) { clear(c.Gates) }, want: without([]string{"measured"}),
		},
		"OtherGate": {
			reason: "The Gate of another step does not measure this one.",
			change: func(c *Comparison) { c.Gates["gate"].Spec.ForProvider.Position.Step = 1 }, want: without([]string{"measured"}),
		},
		"NotGated": {
			reason: "A step without a Gate is not measured.",
			change: func(c *Comparison) { c.State.Current.Plan[0].Gate = false }, want: without([]string{"measured"}),
		},
		"NotStarted": {
			reason: "A Gate that has not begun measures nothing yet.",
			change: func(c *Comparison) { c.Gates["gate"].Status.AtProvider.StartedAt = nil }, want: without([]string{"measured"}),
		},
		"Empty": {
			reason: "Of a ledger without a revision nothing is proven.",
			change: func(c *Comparison) { c.State.Current = nil }, want: []string{"unhindered", "watched"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newComparison()
			tc.change(c)
			if diff := cmp.Diff(tc.want, c.facts()); diff != "" {
				t.Errorf("\n%s\nfacts: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// follow lets the spec of a SiteSync name an earlier step with other trees, and its status say which tree its first Site has to run instead of its own.
func follow(s *deliveryv1alpha1.SiteSync, desired string) {
	earlier := *s.Spec.ForProvider.Position
	earlier.Step--
	s.Spec.ForProvider.Position, s.Status.AtProvider.Sites = &earlier, nil
	for i, t := range s.Spec.ForProvider.Sites {
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, deliveryv1alpha1.SiteObservation{Name: t.Name, Tree: t.Tree})
		s.Spec.ForProvider.Sites[i].Tree = "earlier"
	}
	s.Status.AtProvider.Sites[0].DesiredTree = desired
}

// TestIsSameSite compares requests to observe a Site that are made of the same values, and of others.
func TestIsSameSite(t *testing.T) {
	newSite := func(weight int32) deliveryv1alpha1.SiteTree {
		return deliveryv1alpha1.SiteTree{Name: "edge1", Tree: "t", Traffic: &deliveryv1alpha1.SiteTraffic{
			Tracks: []deliveryv1alpha1.TrackTraffic{{Name: "blue", Weight: weight, WeighedAt: &ledger.Position{Revision: 1}}},
		}}
	}
	plain := deliveryv1alpha1.SiteTree{Name: "edge1", Tree: "t"}
	cases := map[string]struct {
		reason string
		a, b   deliveryv1alpha1.SiteTree
		want   bool
	}{
		"Equal":     {reason: "Equal values are the same request, wherever they stand.", a: newSite(20), b: newSite(20), want: true},
		"Weight":    {reason: "Another weight is another request.", a: newSite(20), b: newSite(50)},
		"Trackless": {reason: "A Site that got tracks is asked for something else.", a: plain, b: newSite(20)},
		"Plain":     {reason: "Sites without tracks are compared as before.", a: plain, b: plain, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isSameSiteRequest(tc.a, tc.b); got != tc.want {
				t.Errorf("\n%s\nisSameSite(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
