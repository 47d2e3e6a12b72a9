package mandate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// refuse lets a home report that its repository refused the trees of a position.
func refuse(d *v1alpha1.GitDelivery, position ledger.Position) {
	d.Status.Conditions = readyCondition(corev1.ConditionFalse, v1alpha1.ReasonPolicyDenied, d.Generation)
	d.Status.AtProvider.Waiting = &rolloutv1alpha1.Attempt{Revision: position.Revision, Step: position.Step, Number: position.Attempt, StartedAt: metav1.NewTime(noon)}
}

// withoutGates takes the Gates away.
func (c *scene) withoutGates() *scene {
	c.Gates = nil
	return c
}

// observe adds a SiteSync that reports about the recorded position.
func (c *scene) observe(status corev1.ConditionStatus, reason string) *v1alpha1.SiteSync {
	c.Syncs = append(c.Syncs, newSync(c.Home, c.recorded, status, v1ReasonOf(reason)))
	return &c.Syncs[len(c.Syncs)-1]
}

// goOn records events that the spec of the home does not know.
func (c *scene) goOn(events ...ledger.Event) {
	c.Helper()
	c.recorded = record(c, c.recorded, events...)
	c.next = c.recorded
}

// TestConclude has a Gate of revision 2 that failed, and no function.
func TestConclude(t *testing.T) {
	gateFailed, back := "Rejected GateFailed", "RolledBack"
	policy := func(c *scene) *v1alpha1.MandatedRollback { return &c.Home.Spec.ForProvider.Mandate.Rollback }
	cases := map[string]struct {
		reason string
		change func(c *scene)
		want   []string
	}{
		"Failed": {reason: "A revision whose Gate failed is rejected and rolled back at once.", want: []string{gateFailed, back}},
		"OnlyReject": {
			reason: "A mandate without rollbacks ends with the verdict.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject} }, want: []string{gateFailed},
		},
		"OnlyRollBack": {
			reason: "A mandate without verdicts rejects nothing.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindRollBack} },
		},
		"Void": {reason: "A mandate for another revision rejects nothing.", change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.Revision = 1 }},
		"ConfigReplaced": {reason: "A revision in a home whose configuration was replaced by another configuration is rolled back.", change: func(c *scene) {
			c.recorded.Current.Parts[0].ConfigRef, c.next.Current.Parts[0].ConfigRef = "git", "git"
		}, want: []string{gateFailed, back}},
		"Request": {reason: "A request that is left to the function holds back no rejection.", change: func(c *scene) {
			c.Requests = []step.Request{{Ref: ledger.RequestReference{Name: "abort", UID: "abort-uid"}, Action: step.ActionAbort, Revision: 2, CreatedAt: noon}}
		}, want: []string{gateFailed, back}},
		"Manual": {
			reason: "A policy that rolls nothing back by itself ends with the verdict.",
			change: func(c *scene) { policy(c).AutoRollback = false }, want: []string{gateFailed},
		},
		"NoRetries": {reason: "A policy without attempts ends with the verdict.", change: func(c *scene) { policy(c).MaxRetries = 0 }, want: []string{gateFailed}},
		"Negative": {
			reason: "A policy with fewer attempts than none begins one alone, as the function does.",
			change: func(c *scene) { policy(c).MaxRetries = -1 }, want: []string{gateFailed, back},
		},
		"Suspended": {
			reason: "A suspended deployment is rolled back.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.Suspended = true }, want: []string{gateFailed, back},
		},
		"TooMany": {reason: "After as many rejections in the hour as the policy allows no rollback begins.", change: func(c *scene) { c.rejectBefore(2); policy(c).MaxPerHour = 2 }, want: []string{gateFailed}},
		"Few": {reason: "The hour is counted from when the verdict is recorded.", change: func(c *scene) {
			c.rejectBefore(2)
			policy(c).MaxPerHour = 2
			c.Now = noon.Add(2 * time.Hour)
		}, want: []string{gateFailed, back}},
		"FullHistory": {
			reason: "As many rejections in the hour as a history holds are above the highest limit of a policy.",
			change: func(c *scene) { c.rejectBefore(10); policy(c).MaxPerHour = 9 }, want: []string{gateFailed},
		},
		"Unlimited": {
			reason: "A policy without a limit counts no rejection.",
			change: func(c *scene) { c.rejectBefore(10); policy(c).MaxPerHour = 0 }, want: []string{gateFailed, back},
		},
		"ClockBack": {reason: "A clock that went back an hour counts no rejection that it has not seen yet.", change: func(c *scene) {
			c.rejectBefore(2)
			policy(c).MaxPerHour = 2
			c.Now = noon.Add(-time.Hour)
		}, want: []string{gateFailed, back}},
		"Irreversible": {
			reason: "A revision that changed irreversible objects is not rolled back.",
			change: func(c *scene) { c.next.Current.Irreversible = true }, want: []string{gateFailed},
		},
		"TreesDropped": {
			reason: "A revision whose trees were dropped cannot be a target.",
			change: func(c *scene) { c.next.History[0].Trees, c.next.History[0].TreesDropped = nil, true }, want: []string{gateFailed},
		},
		"Withdrawn": {
			reason: "A revision that a user withdrew cannot be a target.",
			change: func(c *scene) { c.next.History[0].Withdrawn = true }, want: []string{gateFailed},
		},
		"WithoutOne": {
			reason: "A Site that the deployment is not for any more does not hold the others back.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge2", "edge9"} }, want: []string{gateFailed, back},
		},
		"WithoutAll": {
			reason: "Nothing is rolled back where the deployment is for no Site any more.",
			change: func(c *scene) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1", "edge2"} }, want: []string{gateFailed},
		},
		"Unreported": {reason: "A repository that has not applied the position, and holds the target, is not rolled back.", change: func(c *scene) { c.Applied.Revision = 1; c.holdTarget() }, want: []string{gateFailed}},
		"Holds":      {reason: "A repository that holds the target is not rolled back.", change: func(c *scene) { c.holdTarget() }, want: []string{gateFailed}},

		"Proposed": {reason: "Nothing is proven of a position that is only proposed.", change: func(c *scene) { c.recorded.Current.Number = 1 }},
		"Passed":   {reason: "A Gate that passed rejects nothing.", change: func(c *scene) { c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GatePassed) }},
		"Held": {reason: "A Gate without a conclusion is left to a user.", change: func(c *scene) {
			c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateInconclusive)
		}},
		"Measures": {reason: "A Gate without a verdict rejects nothing.", change: func(c *scene) { c.Gates[0] = newGate("step", c.recorded, "") }},
		"Error": {
			reason: "A Gate that could not measure rejects.",
			change: func(c *scene) { c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateError) }, want: []string{gateFailed, back},
		},
		"TimedOut": {
			reason: "A Gate that did not end in time rejects.",
			change: func(c *scene) { c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateTimedOut) }, want: []string{gateFailed, back},
		},
		"Missing": {reason: "A missing Gate rejects nothing.", change: func(c *scene) { c.withoutGates() }},
		"Ungated": {reason: "A Gate of a step that has none by the plan rejects nothing.", change: func(c *scene) { c.next.Current.Plan[0].Gate = false; c.recorded = c.next }},

		"OldGeneration": {reason: "A verdict of a Gate about an earlier generation does not count.", change: func(c *scene) { c.Gates[0].Generation++ }},
		"NotReady":      {reason: "A verdict without a condition does not count.", change: func(c *scene) { c.Gates[0].Status.Conditions = nil }},
		"OtherPosition": {reason: "A verdict about another position than that of the Gate does not count.", change: func(c *scene) {
			c.Gates[0].Status.AtProvider.Position = &ledger.Position{Epoch: 1, Revision: 1}
		}},
		"OtherStep":     {reason: "A Gate of another step does not count.", change: func(c *scene) { c.Gates[0].Spec.ForProvider.Position.Step = 1 }},
		"OtherRevision": {reason: "A Gate of another revision does not count.", change: func(c *scene) { c.Gates[0].Spec.ForProvider.Position.Revision = 1 }},
		"OtherEpoch":    {reason: "A Gate of another epoch does not count.", change: func(c *scene) { c.Gates[0].Spec.ForProvider.Position.Epoch = 2 }},
		"Forged": {
			reason: "A Gate that identifies the revision of another ledger does not count.",
			change: func(c *scene) { c.Gates[0].Annotations["intentplane.dev/revision"] = "forged" },
		},
		"Namespace":  {reason: "A Gate of another namespace does not count.", change: func(c *scene) { c.Gates[0].Namespace = "team-b" }},
		"Controller": {reason: "A Gate of another controller does not count.", change: func(c *scene) { c.Gates[0].OwnerReferences[0].UID = "other" }},
		"Kind": {
			reason: "A Gate that an object of another kind controls does not count.",
			change: func(c *scene) { c.Gates[0].OwnerReferences[0].Kind = "Other" },
		},
		"NoController": {reason: "A Gate without a controller does not count.", change: func(c *scene) { c.Gates[0].OwnerReferences = nil }},
		"Alone": {
			reason: "For a home without a controller no Gate counts.",
			change: func(c *scene) { c.Home.OwnerReferences, c.Gates[0].OwnerReferences = nil, nil },
		},
		"Claim":   {reason: "A Gate of another claim does not count.", change: func(c *scene) { c.Gates[0].Spec.ForProvider.ClaimRef.Name = "api" }},
		"Deleted": {reason: "A Gate that is being deleted does not count.", change: func(c *scene) { c.Gates[0].DeletionTimestamp = &metav1.Time{Time: noon} }},
		"Two": {reason: "Of two Gates of one step the first one by its name in the composition counts.", change: func(c *scene) {
			c.addPassed("a-gate", "gate-9")
			c.Gates[0].Annotations[composedAs] = "gate-1"
		}, want: []string{gateFailed, back}},
		"TwoPassed": {reason: "A second Gate of the step does not overrule the first one.", change: func(c *scene) {
			c.addPassed("z-gate", "gate-1")
			c.Gates[0].Annotations[composedAs] = "gate-9"
		}},
		"UnownedGate": {reason: "A Gate of another controller does not replace the Gate of the delivery.", change: func(c *scene) { c.addPassed("a-gate", "a"); c.Gates[1].OwnerReferences[0].UID = "other" }, want: []string{gateFailed, back}},

		"SyncFailed": {
			reason: "A revision that an engine could not apply is rejected.",
			change: func(c *scene) { c.withoutGates().observe(corev1.ConditionFalse, "Failed") }, want: []string{"Rejected SyncFailed", back},
		},
		"SyncTimedOut": {
			reason: "A revision that no Site runs in time is rejected.",
			change: func(c *scene) { c.withoutGates().observe(corev1.ConditionFalse, "TimedOut") }, want: []string{"Rejected SyncTimedOut", back},
		},
		"ClusterLate": {
			reason: "A revision whose cluster is not ready in time is rejected.",
			change: func(c *scene) { c.withoutGates().observe(corev1.ConditionFalse, "ClusterTimedOut") },
			want:   []string{"Rejected ClusterTimedOut", back},
		},
		"SyncLive": {
			reason: "Sites that run the revision verify nothing by this mandate.",
			change: func(c *scene) { c.withoutGates().observe(corev1.ConditionTrue, "Live") },
		},
		"SyncEmpty": {reason: "A SiteSync without conditions proves nothing.", change: func(c *scene) {
			c.withoutGates().observe(corev1.ConditionFalse, "Failed").Status.Conditions = nil
		}},
		"SyncClaim": {reason: "A SiteSync of another claim proves nothing.", change: func(c *scene) {
			c.withoutGates().observe(corev1.ConditionFalse, "Failed").Spec.ForProvider.ClaimRef.Name = "api"
		}},
		"SyncElsewhere": {reason: "A SiteSync at another position proves nothing.", change: func(c *scene) {
			c.withoutGates().observe(corev1.ConditionFalse, "Failed").Spec.ForProvider.Position.Revision = 1
		}},
		"SyncTree": {reason: "A SiteSync that looks for other trees than the spec has proves nothing.", change: func(c *scene) {
			c.withoutGates().observe(corev1.ConditionFalse, "Failed").Spec.ForProvider.Sites[0].Tree = "other"
		}},
		"SyncOld": {
			reason: "A condition of a SiteSync about an earlier generation proves nothing.",
			change: func(c *scene) { c.withoutGates().observe(corev1.ConditionFalse, "Failed").Generation++ },
		},

		"Refused": {
			reason: "A revision that the repository refuses is rejected.",
			change: func(c *scene) { refuse(c.withoutGates().Home, c.recorded.Position()) }, want: []string{"Rejected DeliveryRefused", back},
		},
		"RefusedBefore": {
			reason: "A refusal by the repository at another position does not count.",
			change: func(c *scene) { refuse(c.withoutGates().Home, ledger.Position{Revision: 1}) },
		},
		"RefusedOld": {reason: "A refusal by the repository for an earlier generation does not count.", change: func(c *scene) {
			refuse(c.withoutGates().Home, c.recorded.Position())
			c.Home.Generation++
		}},
		"OtherAsked": {reason: "A spec for a later position proves nothing of the recorded one.", change: func(c *scene) {
			refuse(c.withoutGates().Home, c.recorded.Position())
			c.Home.Spec.ForProvider.Position.Step = 1
		}},
		"NoPosition": {reason: "A spec without a position proves nothing of the delivery.", change: func(c *scene) {
			refuse(c.withoutGates().Home, c.recorded.Position())
			c.Home.Spec.ForProvider.Position = nil
		}},

		"Attempt": {reason: "The next attempt begins after the repository refused an attempt by the mandate.", change: func(c *scene) {
			c.goOn(rejected("GateFailed"), rolledBack(1))
			refuse(c.Home, c.recorded.Position())
		}, want: []string{back}},
		"AttemptGoesOn": {reason: "An attempt that did not fail goes on.", change: func(c *scene) { c.goOn(rejected("GateFailed"), rolledBack(1)) }},
		"AttemptsSpent": {reason: "No attempt begins after the last one.", change: func(c *scene) {
			c.goOn(rejected("GateFailed"), rolledBack(1), rolledBack(1), rolledBack(1))
			refuse(c.Home, c.recorded.Position())
		}},
		"AttemptStale": {reason: "A refusal of the attempt before does not fail the present one.", change: func(c *scene) {
			c.goOn(rejected("GateFailed"), rolledBack(1))
			refuse(c.Home, c.recorded.Position())
			c.goOn(rolledBack(1))
		}},
		"Judged": {
			reason: "A revision that the function rejected is rolled back by the mandate.",
			change: func(c *scene) { c.goOn(rejected("GateFailed")) }, want: []string{back},
		},
		"Verified": {reason: "A revision that was verified is not rejected any more.", change: func(c *scene) { c.goOn(verified("two")) }},
		"Live":     {reason: "Sites that run the target end a rollback whose position the spec names.", change: func(c *scene) { c.restore(); c.observe(corev1.ConditionTrue, "Live") }, want: []string{"Restored"}},
		"LiveOther": {reason: "Sites that are proven to run other trees end no rollback.", change: func(c *scene) {
			c.restore()
			c.observe(corev1.ConditionTrue, "Live").Spec.ForProvider.Sites[0].Tree = "other"
		}},
		"LiveOne": {reason: "A Site without an observation delays the end of a rollback.", change: func(c *scene) {
			c.restore()
			s := c.observe(corev1.ConditionTrue, "Live")
			s.Spec.ForProvider.Sites = s.Spec.ForProvider.Sites[:1]
		}},
		"LiveBefore": {reason: "Sites that ran the position before end no rollback.", change: func(c *scene) {
			c.restore()
			c.observe(corev1.ConditionTrue, "Live").Status.AtProvider.Position.Attempt = 0
		}},
		"LiveUnasked": {reason: "A rollback whose position the spec does not name yet does not end.", change: func(c *scene) {
			c.restore()
			c.observe(corev1.ConditionTrue, "Live")
			c.Home.Spec.ForProvider.Position.Attempt = 0
		}},
		"LiveUnapplied": {reason: "A rollback that the repository does not have does not end.", change: func(c *scene) {
			c.restore()
			c.observe(corev1.ConditionTrue, "Live")
			c.Home.Status.AtProvider.Record.Position.Attempt = 0
		}},
		"Unobserved": {reason: "A Site without an engine, where a delivered tree counts as live, ends a rollback.", change: func(c *scene) {
			c.restore()
			c.Unobserved = map[string]bool{"edge1": true, "edge2": true}
		}, want: []string{"Restored"}},
		"Unproven": {reason: "A Site without an engine, where a delivered tree does not count as live, ends no rollback.", change: func(c *scene) {
			c.restore()
			c.Unobserved = map[string]bool{"edge1": true, "edge2": false}
		}},
		"RestoreFails": {reason: "The next attempt begins after a Site could not apply the target.", change: func(c *scene) { c.restore(); c.observe(corev1.ConditionFalse, "Failed") }, want: []string{back}},
		"RolledPast": {
			reason: "A rollback that a user asked for begins by the mandate for the revision that is rolled back.",
			change: func(c *scene) { c.withdraw() }, want: []string{back},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			if tc.change != nil {
				tc.change(c)
			}
			next, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describe(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
			if want := record(t, c.next, events...); next.Head != want.Head {
				t.Errorf("\n%s\nConclude(...): want the state after the events, %v, got %v", tc.reason, want.Head, next.Head)
			}
		})
	}
}

// BenchmarkConclude rejects a revision and rolls it back.
func BenchmarkConclude(b *testing.B) {
	c := newScene(b)
	for b.Loop() {
		if _, events := c.Conclude(c.recorded, c.next); len(events) != 2 {
			b.Fatalf("events: want 2, got %d", len(events))
		}
	}
}
