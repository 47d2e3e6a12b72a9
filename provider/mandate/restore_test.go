package mandate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TestFollow rolls revision 2 back, and has attempt 0 in the spec.
func TestFollow(t *testing.T) {
	keep, restore := v1alpha1.ActionKeep, v1alpha1.ActionRestore
	type tree struct {
		Action v1alpha1.TreeAction
		Tree   string
	}
	const edge1, edge2 = "clusters/edge1/team-a/web", "clusters/edge2/team-a/web"
	cases := map[string]struct {
		reason string
		change func(c *scene, s *ledger.State)
		want   map[string]tree
	}{
		"Both": {
			reason: "Each directory that the target served gets the tree of the target.",
			want:   map[string]tree{edge1: {restore, "one1"}, edge2: {restore, "one2"}},
		},
		"Unserved": {
			reason: "A directory that the target did not serve stays.",
			change: func(_ *scene, s *ledger.State) { s.History[0].Trees = s.History[0].Trees[:1] },
			want:   map[string]tree{edge1: {restore, "one1"}, edge2: {keep, ""}},
		},
		"Left": {
			reason: "The directory of a Site that the deployment is not for any more stays.",
			change: func(c *scene, _ *ledger.State) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1"} },
			want:   map[string]tree{edge1: {keep, ""}, edge2: {restore, "one2"}},
		},
		"LeftUnknown": {
			reason: "A Site that the revision does not have holds no directory back.",
			change: func(c *scene, _ *ledger.State) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge9"} },
			want:   map[string]tree{edge1: {restore, "one1"}, edge2: {restore, "one2"}},
		},
		"LeftAll": {
			reason: "All directories stay of a deployment that is for no Site any more.",
			change: func(c *scene, _ *ledger.State) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1", "edge2"} },
			want:   map[string]tree{edge1: {keep, ""}, edge2: {keep, ""}},
		},
		"Forgotten": {
			reason: "Without the trees of the target all directories stay.",
			change: func(_ *scene, s *ledger.State) { s.History[0].Trees, s.History[0].TreesDropped = nil, true },
			want:   map[string]tree{edge1: {keep, ""}, edge2: {keep, ""}},
		},
		"Before": {reason: "A directory whose step had not come has the tree of the target already, and stays.", change: func(c *scene, _ *ledger.State) {
			c.Home.Spec.ForProvider.Trees[1] = directories.Retain(c.Home.Spec.ForProvider.Trees[1])
			c.Delivered[edge2] = v1alpha1.DeliveredTree{Site: "edge2", Path: edge2, Tree: "one2", Revision: 1}
		}, want: map[string]tree{edge1: {restore, "one1"}, edge2: {keep, ""}}},
		"Touched": {reason: "A directory that stays, and that the revision wrote before, gets the tree of the target.", change: func(c *scene, _ *ledger.State) {
			c.Home.Spec.ForProvider.Trees[1] = directories.Retain(c.Home.Spec.ForProvider.Trees[1])
		}, want: map[string]tree{edge1: {restore, "one1"}, edge2: {restore, "one2"}}},
		"Moved": {reason: "A directory to which nothing was delivered, and whose step had not come, stays away.", change: func(c *scene, _ *ledger.State) {
			c.Home.Spec.ForProvider.Trees[1] = directories.Retain(c.Home.Spec.ForProvider.Trees[1])
			delete(c.Delivered, edge2)
		}, want: map[string]tree{edge1: {restore, "one1"}, edge2: {keep, ""}}},
		"Unknown": {
			reason: "A directory that the revision was to write gets the tree of the target where the record was lost.",
			change: func(c *scene, _ *ledger.State) { c.Delivered = nil }, want: map[string]tree{edge1: {restore, "one1"}, edge2: {restore, "one2"}},
		},
		"Rejected": {
			reason: "No directory changes of a rejected revision before an attempt begins.",
			change: func(_ *scene, s *ledger.State) { s.Cursor.Attempt, s.Target = 0, 0 },
			want:   map[string]tree{edge1: {keep, ""}, edge2: {keep, ""}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			s := record(t, c.recorded, rejected("GateFailed"), rolledBack(1))
			s = *s.DeepCopy()
			if tc.change != nil {
				tc.change(c, &s)
			}
			original := *c.Home.Spec.ForProvider.DeepCopy()
			p := c.Follow(c.Home.Spec.ForProvider, c.recorded, s)
			got := map[string]tree{}
			for _, t := range p.Trees {
				got[t.Path] = tree{t.Action, t.Tree}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
			if *p.Position != s.Position() || p.Settled {
				t.Errorf("\n%s\nFollow(...): want position %v, and nothing removed, got %v, settled %t", tc.reason, s.Position(), *p.Position, p.Settled)
			}
			if diff := cmp.Diff(original, c.Home.Spec.ForProvider); diff != "" {
				t.Errorf("\n%s\nFollow(...) leaves the spec as it is: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFollowPolicies rolls a revision back that has a policy for drift and a timeout of its own.
func TestFollowPolicies(t *testing.T) {
	type policies struct {
		Drift   v1alpha1.DriftPolicy
		Timeout string
	}
	cases := map[string]struct {
		reason string
		events []ledger.Event
		want   policies
	}{
		"Rejected": {reason: "A verdict changes no policy.", events: []ledger.Event{rejected("GateFailed")}, want: policies{v1alpha1.DriftReport, "10m"}},
		"RolledBack": {
			reason: "A change by an attempt is not drift, and has the timeout of the attempt.",
			events: []ledger.Event{rejected("GateFailed"), rolledBack(1)}, want: policies{v1alpha1.DriftRestore, "2m0s"},
		},
		"Restored": {
			reason: "Drift after a rollback is left to its policy.",
			events: []ledger.Event{rejected("GateFailed"), rolledBack(1), {Restored: &ledger.Restored{}}},
			want:   policies{v1alpha1.DriftReport, "2m0s"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			p := c.Follow(c.Home.Spec.ForProvider, c.recorded, record(t, c.recorded, tc.events...))
			if diff := cmp.Diff(tc.want, policies{p.DriftPolicy, p.DeliveryTimeout}); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsAhead compares a spec of revision 2 with the ledger.
func TestIsAhead(t *testing.T) {
	back := []ledger.Event{rejected("GateFailed"), rolledBack(1)}
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(p *v1alpha1.GitDeliveryParameters)
		want   bool
	}{
		"Same":     {reason: "The trees of the spec follow from the state that it was written for."},
		"Rejected": {reason: "A spec without the verdict would continue to deliver.", events: back[:1], want: true},
		"Attempt":  {reason: "A spec without the rollback has the trees of the revision.", events: back, want: true},
		"Verified": {reason: "A verified revision has its trees.", events: []ledger.Event{verified("two")}},
		"Asked": {
			reason: "A spec that names the attempt has its trees.",
			events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Attempt = 1 },
		},
		"Next": {
			reason: "The second attempt is ahead of a spec that names the first one.",
			events: append(back, rolledBack(1)), change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Attempt = 1 }, want: true,
		},
		"Restored": {
			reason: "The end of an attempt that the spec names changes no tree.",
			events: append(back, ledger.Event{Restored: &ledger.Restored{}}),
			change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Attempt = 1 },
		},
		"Further": {
			reason: "A spec that names a later attempt than the ledger has its trees.",
			events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Attempt = 2 },
		},
		"Revision": {
			reason: "Trees of another revision are not replaced.",
			events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Revision = 3 },
		},
		"Earlier": {
			reason: "Trees of an earlier revision, of an old spec, are not replaced.",
			events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Revision = 1 },
		},
		"Epoch": {reason: "Trees of another epoch are not replaced.", events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Position.Epoch = 2 }},
		"Void": {
			reason: "Without a mandate for the revision the trees of the spec count.",
			events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Revision = 1 },
		},
		"None": {reason: "Without a mandate the trees of the spec count.", events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate = nil }},
		"Nowhere": {
			reason: "A spec without a position has no trees to replace.",
			events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Position = nil },
		},
		"Follower": {reason: "A repository without the ledger follows its copy.", events: back, change: func(p *v1alpha1.GitDeliveryParameters) { p.Ledger = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			p := c.Home.Spec.ForProvider
			if tc.change != nil {
				tc.change(&p)
			}
			s := record(t, c.recorded, tc.events...)
			if got := IsAhead(p, s); got != tc.want {
				t.Errorf("\n%s\nIsAhead(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
	canary := newCanaryScene(t, 1, 20)
	next := record(t, canary.recorded, advanced(2, ledger.StageSteps))
	if IsAhead(canary.Home.Spec.ForProvider, next) {
		t.Error("\nA mandate without steps replaces no tree for a later step.\nIsAhead(...): want false, got true")
	}
	canary.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindAdvance}
	if !IsAhead(canary.Home.Spec.ForProvider, next) {
		t.Error("\nA spec of the step before has the weights of that step.\nIsAhead(...): want true, got false")
	}
	if IsAhead(canary.Home.Spec.ForProvider, canary.recorded) {
		t.Error("\nA spec of the recorded step has its weights.\nIsAhead(...): want false, got true")
	}
	c := newScene(t)
	withdrawn := ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1, RequestRef: ledger.RequestReference{Name: "back", UID: "back-uid"}}}
	if s := record(t, c.recorded, withdrawn, rolledBack(1)); !IsAhead(c.Home.Spec.ForProvider, s) || *c.Follow(c.Home.Spec.ForProvider, s, s).Position != s.Position() {
		t.Error("\nA spec without the rollback of a user's request has the trees of the withdrawn revision.\nIsAhead(...): want true, got false")
	}
	c.Home.Spec.ForProvider.Ledger.Events = back[:1]
	if IsAhead(c.Home.Spec.ForProvider, record(t, c.recorded, back[0])) {
		t.Error("\nA spec that has the verdict itself has the trees for it.\nIsAhead(...): want false, got true")
	}
}
