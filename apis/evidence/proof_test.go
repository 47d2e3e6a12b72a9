package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// failSync lets the SiteSync say that a Site failed.
func failSync(c *Comparison) {
	c.ObservedSync.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: deliveryv1alpha1.ReasonFailed})
}

// addPart gives the revision a Site at a step, to which a delivery delivers that is not there.
func addPart(index int) func(*Comparison) {
	return func(c *Comparison) {
		c.Sync, c.ObservedSync, c.Unobserved = nil, nil, map[string]bool{"a": true, "b": true}
		c.State.Current.Plan = append(c.State.Current.Plan, ledger.Step{})
		c.State.Current.Plan[index].Sites = append(c.State.Current.Plan[index].Sites, "c")
		c.State.Current.Parts = append(c.State.Current.Parts, ledger.Part{Delivery: "other", Sites: []string{"c"}})
	}
}

// TestProof compares the proofs about a revision without a verdict.
func TestProof(t *testing.T) {
	trees := []ledger.SiteTree{{Site: "a", ID: "tree-a"}, {Site: "b", ID: "tree-b"}}
	type proof struct {
		IsLive, HasPassed, IsWatching, AwaitsCluster bool
		Failure                                      string
		Trees                                        []ledger.SiteTree
	}
	cases := map[string]struct {
		reason string
		change func(*Comparison)
		want   proof
	}{
		"Proven": {
			reason: "A running revision is proven with its trees, in the order of Sites.",
			change: func(*Comparison) {}, want: proof{IsLive: true, HasPassed: true, Trees: trees},
		},
		"Retained": {reason: "A Site that keeps its tree is proven with the tree in the repository.", change: func(c *Comparison) { c.RendererDeferred = true; keep("b")(c) }, want: proof{IsLive: true, HasPassed: true, Trees: trees}},
		"NoGate":   {reason: "Without the Gate of the step nothing passed.", change: func(c *Comparison) { clear(c.Gates) }, want: proof{IsLive: true, Trees: trees}},
		"Watching": {reason: "A Gate that measures on until its step is released decides nothing yet.", change: func(c *Comparison) {
			g := newGate(c.State, "")
			g.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: rolloutv1alpha1.ReasonWatching, ObservedGeneration: 4})
			c.Gates["gate"] = g
		}, want: proof{IsLive: true, IsWatching: true, Trees: trees}},
		"Rejected": {
			reason: "A Gate that failed is a failure.",
			change: func(c *Comparison) { c.Gates["gate"] = newGate(c.State, rolloutv1alpha1.GateFailed) },
			want:   proof{IsLive: true, Failure: rolloutv1alpha1.RejectedGateFailed, Trees: trees},
		},
		"Sync": {
			reason: "A Site that failed is a failure, even if the Gate passes.",
			change: failSync, want: proof{HasPassed: true, Failure: rolloutv1alpha1.RejectedSyncFailed},
		},
		"SyncFirst": {reason: "A Site that failed is named before the Gate.", change: func(c *Comparison) {
			failSync(c)
			c.Gates["gate"] = newGate(c.State, rolloutv1alpha1.GateFailed)
		}, want: proof{Failure: rolloutv1alpha1.RejectedSyncFailed}},
		"SyncElse": {reason: "A SiteSync that looks for other trees is not a failure.", change: func(c *Comparison) { failSync(c); c.ObservedSync.Spec.ForProvider.Sites[0].Tree = "old" }, want: proof{HasPassed: true}},
		"SyncLost": {
			reason: "A Site with an engine is not live while no SiteSync observes it.",
			change: func(c *Comparison) { c.Sync, c.ObservedSync = nil, nil }, want: proof{HasPassed: true},
		},
		"SiteLeft": {reason: "A Site with an engine is not live while the SiteSync leaves it out.", change: func(c *Comparison) {
			for _, s := range []*deliveryv1alpha1.SiteSync{c.Sync, c.ObservedSync} {
				s.Spec.ForProvider.Sites = s.Spec.ForProvider.Sites[:1]
			}
		}, want: proof{HasPassed: true}},
		"PartLost": {reason: "A revision is not live while a delivery that it has come to is out of sight.", change: addPart(0), want: proof{HasPassed: true}},
		"PartLater": {
			reason: "A delivery that the revision has not come to keeps nothing from being live.",
			change: addPart(1), want: proof{IsLive: true, HasPassed: true, Trees: trees},
		},
		"NoEngine": {reason: "A Site without an engine needs no SiteSync where a delivered tree counts as live.", change: func(c *Comparison) {
			c.Sync, c.ObservedSync, c.Unobserved = nil, nil, map[string]bool{"a": true, "b": true}
		}, want: proof{IsLive: true, HasPassed: true, Trees: trees}},
		"Denied": {
			reason: "A delivery that was refused is a failure.",
			change: failFor(deliveryv1alpha1.ReasonPolicyDenied), want: proof{HasPassed: true, Failure: rolloutv1alpha1.RejectedDeliveryRefused},
		},
		"DeniedOld": {reason: "A delivery that was refused with other trees is not a failure.", change: func(c *Comparison) {
			failFor(deliveryv1alpha1.ReasonPolicyDenied)(c)
			c.home().Spec.ForProvider.Trees[0].Tree = "old"
		}, want: proof{HasPassed: true}},
		"Cluster": {
			reason: "A Site whose cluster is not ready keeps the revision from being live.",
			change: keep("b"), want: proof{HasPassed: true, AwaitsCluster: true},
		},
		"Judged": {reason: "A revision with a verdict waits for no cluster.", change: func(c *Comparison) {
			c.State.Verdict = c.Recorded.Verdict
			keep("b")(c)
		}, want: proof{HasPassed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newComparison()
			c.State.Verdict = nil
			tc.change(c)
			p := c.Proof()
			got := proof{IsLive: p.IsLive, HasPassed: p.HasPassed, IsWatching: p.IsWatching, AwaitsCluster: p.AwaitsCluster, Trees: p.Trees}
			if p.Failure != nil {
				got.Failure = p.Failure.Reason
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nProof(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsSyncReleased reads the condition of a SiteSync about a position.
func TestIsSyncReleased(t *testing.T) {
	position := ledger.Position{Revision: 2, Step: 1, Stage: ledger.StageSteps}
	newSync := func() *deliveryv1alpha1.SiteSync {
		s := &deliveryv1alpha1.SiteSync{}
		s.Generation = 3
		s.Spec.ForProvider.Position, s.Status.AtProvider.Position = &position, &position
		s.SetConditions(xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, Status: corev1.ConditionTrue, ObservedGeneration: 3})
		return s
	}
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
		want   bool
	}{
		"Over":    {reason: "A pause that is over releases the step.", change: func(*deliveryv1alpha1.SiteSync) {}, want: true},
		"Earlier": {reason: "A pause of another generation releases nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Generation = 4 }},
		"Elsewhen": {
			reason: "A pause of another position releases nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position = &ledger.Position{Revision: 2} },
		},
		"Pausing": {reason: "A pause that runs releases nothing.", change: func(s *deliveryv1alpha1.SiteSync) {
			s.SetConditions(xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, Status: corev1.ConditionFalse, ObservedGeneration: 3})
		}},
	}
	if IsSyncReleased(nil, position) {
		t.Error("IsSyncReleased(nil): a SiteSync that is not there releases nothing")
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSync()
			tc.change(s)
			if got := IsSyncReleased(s, position); got != tc.want {
				t.Errorf("\n%s\nIsSyncReleased(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
