package mandate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

var allKinds = []step.Kind{step.KindReject, step.KindRollBack, step.KindRequest, step.KindAdvance, step.KindVerify}

// addCheck gives a Gate one check, which has passed.
func addCheck(g *rolloutv1alpha1.Gate) {
	g.Spec.ForProvider.Checks = []rolloutv1alpha1.GateCheck{{Check: deploymentv1alpha1.Check{Name: "errors", Site: "edge1"}}}
	g.Status.AtProvider.Checks = []rolloutv1alpha1.CheckResult{{Name: "errors", Site: "edge1", Phase: rolloutv1alpha1.CheckPassed}}
}

// goForward lets the step be proven: the mandate lists each kind, the claim permits it, the Gate passed, and each Site runs the delivered
// tree.
func (c *scene) goForward() *v1alpha1.SiteSync {
	c.Home.Spec.ForProvider.Mandate.May = slices.Clone(allKinds)
	c.IsGuardRead, c.Unobserved = true, map[string]bool{}
	c.Gates = []rolloutv1alpha1.Gate{newGate("step", c.recorded, rolloutv1alpha1.GatePassed)}
	addCheck(&c.Gates[0])
	c.Syncs = nil
	s := c.observe(corev1.ConditionTrue, "Live")
	for _, t := range c.Home.Spec.ForProvider.Trees {
		o := v1alpha1.SiteObservation{Name: t.Site, State: v1alpha1.SiteLive, Tree: t.Tree}
		s.Status.AtProvider.Sites = append(s.Status.AtProvider.Sites, o)
	}
	return s
}

// silence lets the specs of the home and of the SiteSync name the step before: the provider took the step by the mandate, and the SiteSync
// followed it.
func (c *scene) silence() {
	earlier := c.recorded.Position()
	earlier.Step--
	home, sync := &c.Home.Spec.ForProvider, &c.Syncs[0].Spec.ForProvider
	home.Position, sync.Position = &earlier, &earlier
	home.Trees, sync.Sites = slices.Clone(home.Trees), slices.Clone(sync.Sites)
	home.Trees[0].Tree, sync.Sites[0].Tree = "earlier", "earlier"
}

// editPlan changes the current step of the plan in the ledger.
func (c *scene) editPlan(edit func(p *ledger.Step)) {
	plan := slices.Clone(c.recorded.Current.Plan)
	edit(&plan[c.recorded.Cursor.Step])
	current := *c.recorded.Current
	current.Plan = plan
	c.recorded.Current, c.next.Current = &current, &current
}

// pause lets the step have a pause that began some time ago.
func (c *scene) pause(length string, since time.Duration) {
	c.editPlan(func(p *ledger.Step) { p.Pause = length })
	start := metav1.NewTime(noon.Add(-since))
	c.Syncs[0].Status.AtProvider.Pause = &v1alpha1.PauseObservation{Position: c.recorded.Position(), StartedAt: start}
}

// describeForward returns events as short texts, with the steps and stages that begin.
func describeForward(events []ledger.Event) []string {
	var out []string
	for _, e := range events {
		switch {
		case e.Advanced != nil:
			out = append(out, fmt.Sprintf("Advanced %d.%d", e.Advanced.Step, e.Advanced.Stage))
		case e.Promoted != nil:
			out = append(out, "Promoted")
		default:
			out = append(out, describe([]ledger.Event{e})...)
		}
	}
	return out
}

// ask returns a request about revision 2.
func ask(a step.Action) step.Request {
	return step.Request{Ref: ledger.RequestReference{Name: "ask", UID: "ask-uid"}, Action: a, Revision: 2, CreatedAt: noon}
}

// promote returns a request that releases a step of revision 2.
func promote(index int32) step.Request {
	r := ask(step.ActionPromote)
	r.Step = index
	return r
}

// promotedFull returns the event by which the function releases all steps.
func promotedFull() ledger.Event {
	return ledger.Event{Promoted: &ledger.Promoted{Full: true, RequestRef: ledger.RequestReference{UID: "u"}}}
}

// rollBackTo returns a request to roll revision 2 back to revision 1.
func rollBackTo() step.Request {
	r := ask(step.ActionRollbackTo)
	r.ToRevision = 1
	return r
}

// TestConcludeForward has a canary at 20 percent whose step has come to its end, and no function.
func TestConcludeForward(t *testing.T) {
	next := []string{"Advanced 2.3"}
	gateFailed, back := "Rejected GateFailed", []string{"Rejected GateFailed", "RolledBack", "Advanced 1.2"}
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   []string
		hold   v1alpha1.MandateHold
	}{
		"Passed": {reason: "The next step follows once the Gate passed and each Site runs the tree.", want: next},
		"NotListed": {
			reason: "A mandate without steps takes none.",
			change: func(c *canaryScene) {
				c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject, step.KindVerify}
			},
		},
		"Void": {
			reason: "A mandate for another revision takes no step.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Revision = 1 },
		},
		"Suspended": {
			reason: "A suspended canary takes no step.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Suspended = true },
		},
		"Left": {
			reason: "A canary takes no step where the deployment has left a Site.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1"} },
		},

		"NoGate": {reason: "A missing Gate has not passed.", change: func(c *canaryScene) { c.Gates = nil }},
		"NotGated": {
			reason: "A step without a Gate needs none.",
			change: func(c *canaryScene) { c.Gates = nil; c.editPlan(func(p *ledger.Step) { p.Gate = false }) }, want: next,
		},
		"OtherGate": {
			reason: "A Gate of another controller has not passed for this one.",
			change: func(c *canaryScene) { c.Gates[0].OwnerReferences[0].UID = "other" },
		},
		"GateOfStep": {
			reason: "A Gate of the step before says nothing about this one.",
			change: func(c *canaryScene) { c.Gates[0].Spec.ForProvider.Position.Step = 0 },
		},
		"GateOld": {
			reason: "A verdict of an earlier generation does not count.",
			change: func(c *canaryScene) { c.Gates[0].Generation++ },
		},
		"GateForged": {
			reason: "A Gate of the revision of another ledger has not passed.",
			change: func(c *canaryScene) { c.Gates[0].Annotations = nil },
		},
		"GateDeleted": {
			reason: "A Gate that is being deleted has not passed.",
			change: func(c *canaryScene) { c.Gates[0].DeletionTimestamp = new(metav1.NewTime(noon)) },
		},
		"CheckMissing": {
			reason: "A Gate without a result for one of its checks has not passed.",
			change: func(c *canaryScene) { c.Gates[0].Status.AtProvider.Checks = nil },
		},
		"CheckRunning": {
			reason: "A Gate with a check that has not passed has not passed.",
			change: func(c *canaryScene) { c.Gates[0].Status.AtProvider.Checks[0].Phase = rolloutv1alpha1.CheckRunning },
		},
		"TwoGates": {
			reason: "Two Gates of one step both have to pass.",
			change: func(c *canaryScene) { c.Gates = append(c.Gates, newGate("z", c.recorded, "")) },
		},
		"Inconclusive": {
			reason: "A Gate without a conclusion is left to a user.",
			change: func(c *canaryScene) { c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateInconclusive) },
		},
		"GateFailed": {
			reason: "A Gate that fails takes the requests of the canary away.",
			change: func(c *canaryScene) {
				c.Gates = []rolloutv1alpha1.Gate{newGate("step", c.recorded, rolloutv1alpha1.GateFailed)}
			}, want: back,
		},
		"SecondFailed": {
			reason: "The first Gate of a step, by its name, decides about the way back.",
			change: func(c *canaryScene) { c.Gates = append(c.Gates, newGate("a", c.recorded, rolloutv1alpha1.GateFailed)) }, want: back,
		},
		"NoSync": {reason: "Without a SiteSync nothing is proven.", change: func(c *canaryScene) { c.Syncs = nil }},
		"NotLive": {
			reason: "A step that is not live has not come to its end.",
			change: func(c *canaryScene) {
				c.Syncs[0].Status.Conditions = readyCondition(corev1.ConditionFalse, "Syncing", 3)
			},
		},
		"SyncPaused": {
			reason: "A paused SiteSync proves no step.",
			change: func(c *canaryScene) { c.Syncs[0].Status.Conditions[1].Status = corev1.ConditionFalse },
		},
		"OtherPosition": {
			reason: "Sites that ran the step before do not prove this one.",
			change: func(c *canaryScene) { c.Syncs[0].Status.AtProvider.Position.Step = 0 },
		},
		"OtherSync": {
			reason: "The SiteSync of another controller proves nothing.",
			change: func(c *canaryScene) { c.Syncs[0].OwnerReferences[0].UID = "other" },
		},
		"OtherTree": {
			reason: "A Site that runs another tree than the repository has does not prove the step.",
			change: func(c *canaryScene) { c.Syncs[0].Status.AtProvider.Sites[0].Tree = "other" },
		},
		"SiteMissing": {
			reason: "A Site without an observation does not prove the step.",
			change: func(c *canaryScene) { c.Syncs[0].Status.AtProvider.Sites = nil },
		},
		"SiteSyncing": {
			reason: "A Site that is not live does not prove the step.",
			change: func(c *canaryScene) { c.Syncs[0].Status.AtProvider.Sites[0].State = v1alpha1.SiteSyncing },
		},
		"Silent": {
			reason: "A SiteSync that followed the ledger proves the step.",
			change: func(c *canaryScene) { c.silence() }, want: next,
		},
		"SilentTree": {
			reason: "A SiteSync that followed the ledger to another tree does not prove the step.",
			change: func(c *canaryScene) { c.silence(); c.Syncs[0].Status.AtProvider.Sites[0].Tree = "other" },
		},
		"SilentSync": {
			reason: "A SiteSync that did not follow the ledger does not prove the step.",
			change: func(c *canaryScene) {
				c.silence()
				c.Syncs[0].Status.AtProvider.Position = c.Syncs[0].Spec.ForProvider.Position
			},
		},
		"Unapplied": {
			reason: "A position that the repository does not have is not proven.",
			change: func(c *canaryScene) { c.Home.Status.AtProvider.Record.Position.Step = 0 },
		},
		"Unready": {
			reason: "A home that is not delivered proves nothing.",
			change: func(c *canaryScene) {
				c.Home.Status.Conditions = readyCondition(corev1.ConditionFalse, v1alpha1.ReasonPushing, 3)
			},
		},
		"HomeEdited": {
			reason: "A home whose spec the provider has not observed proves nothing.",
			change: func(c *canaryScene) { c.Home.Generation++ },
		},

		"Pausing": {
			reason: "A pause that goes on holds the next step back.",
			change: func(c *canaryScene) { c.pause("30s", 29*time.Second) },
		},
		"PauseOver": {
			reason: "The next step follows once the pause is over.",
			change: func(c *canaryScene) { c.pause("30s", 30*time.Second) }, want: next,
		},
		"PauseBefore": {
			reason: "The pause of another position is not that of the step.",
			change: func(c *canaryScene) { c.pause("30s", time.Hour); c.Syncs[0].Status.AtProvider.Pause.Position.Step = 0 },
		},
		"PauseAwaited": {
			reason: "A pause without a start has not begun.",
			change: func(c *canaryScene) { c.pause("30s", time.Hour); c.Syncs[0].Status.AtProvider.Pause = nil },
		},
		"PauseLater": {
			reason: "A pause that began in the future, by another clock, goes on.",
			change: func(c *canaryScene) { c.pause("30s", -time.Hour) },
		},
		"Manual": {
			reason: "A pause that a user has to end goes on.",
			change: func(c *canaryScene) { c.pause(ledger.PauseManual, time.Hour) },
		},
		"Promoted": {
			reason: "A user ends a pause, and the next step follows.",
			change: func(c *canaryScene) {
				c.pause(ledger.PauseManual, time.Hour)
				c.Requests = []step.Request{promote(2)}
			}, want: []string{"Promoted", "Advanced 2.3"},
		},
		"Full": {
			reason: "A push that brings more pods for all steps proves nothing about them.",
			change: func(c *canaryScene) {
				c.next = record(c, c.recorded, promotedFull())
			},
		},
		"FullFailed": {
			reason: "Such a push holds back no rejection.",
			change: func(c *canaryScene) {
				c.next = record(c, c.recorded, promotedFull())
				c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateFailed)
			}, want: back,
		},
		"PromotedHeld": {reason: "A user releases a Gate without a conclusion, and the next step follows.", change: func(c *canaryScene) {
			c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateInconclusive)
			c.Requests = []step.Request{promote(2)}
		}, want: []string{"Promoted", "Advanced 2.3"}},
		"PromotedBefore": {
			reason: "A user who did not see that the Gate came to no conclusion releases nothing.",
			change: func(c *canaryScene) {
				c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateInconclusive)
				c.Gates[0].Status.AtProvider.EndedAt = new(metav1.NewTime(noon.Add(time.Minute)))
				c.Requests = []step.Request{promote(2)}
			},
		},
		"PromotedSuspended": {reason: "A suspended canary is released later.", change: func(c *canaryScene) {
			c.pause(ledger.PauseManual, time.Hour)
			c.Home.Spec.ForProvider.Mandate.Suspended, c.Requests = true, []step.Request{promote(2)}
		}},
		"Aborted": {reason: "An Abort takes precedence over the next step.", change: func(c *canaryScene) {
			c.Requests = []step.Request{ask(step.ActionAbort)}
		}, want: []string{"Rejected Requested", "RolledBack", "Advanced 1.2"}},
		"RollbackTo": {
			reason: "A rollback in tracks that a user asks the function for holds the next step back.",
			change: func(c *canaryScene) {
				c.Requests = []step.Request{rollBackTo()}
			},
		},
		"RollbackToFailed": {reason: "Such a request does not hold a rejection back.", change: func(c *canaryScene) {
			c.Requests = []step.Request{rollBackTo()}
			c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateFailed)
			c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject, step.KindAdvance}
		}, want: []string{gateFailed}},

		"Unread": {
			reason: "Nothing goes forward before the claim was read.",
			change: func(c *canaryScene) { c.IsGuardRead = false }, hold: v1alpha1.HoldClaimUnread,
		},
		"Changed": {
			reason: "A claim that changed holds the next step back.",
			change: func(c *canaryScene) { c.Guard = v1alpha1.HoldClaimChanged }, hold: v1alpha1.HoldClaimChanged,
		},
		"ChangedBack": {reason: "A claim that changed holds no rejection back.", change: func(c *canaryScene) {
			c.Guard, c.Gates[0] = v1alpha1.HoldClaimChanged, newGate("step", c.recorded, rolloutv1alpha1.GateFailed)
		}, want: back},
		"UnreadBack": {reason: "A rejection needs no claim.", change: func(c *canaryScene) {
			c.IsGuardRead, c.Gates[0] = false, newGate("step", c.recorded, rolloutv1alpha1.GateFailed)
		}, want: back},
		"UnreadPromoted": {reason: "A user releases nothing before the claim was read.", change: func(c *canaryScene) {
			c.pause(ledger.PauseManual, time.Hour)
			c.IsGuardRead, c.Requests = false, []step.Request{promote(2)}
		}, hold: v1alpha1.HoldClaimUnread},
		"PausedPromotedBack": {reason: "A Promote that is held back holds back no rejection.", change: func(c *canaryScene) {
			c.pause(ledger.PauseManual, time.Hour)
			c.Guard, c.Requests = v1alpha1.HoldClaimPaused, []step.Request{promote(2)}
			c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateFailed)
		}, want: back, hold: v1alpha1.HoldClaimPaused},
		"UnreadPromotedBack": {reason: "A Promote that waits for the claim holds back no rejection.", change: func(c *canaryScene) {
			c.pause(ledger.PauseManual, time.Hour)
			c.IsGuardRead, c.Requests = false, []step.Request{promote(2)}
			c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GateFailed)
		}, want: back, hold: v1alpha1.HoldClaimUnread},
		"NoFiles": {
			reason: "A spec without the files of the revision is left to the function.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Trees[0].Tracks = nil },
		},
		"FolderLost": {
			reason: "A directory whose other folder is not in the repository holds the next step back.",
			change: func(c *canaryScene) {
				delivered := c.Delivered[shopPath]
				delivered.Tracks = delivered.Tracks[1:]
				c.Delivered[shopPath] = delivered
				c.recorded.History[0].Trees[0].Part = ""
				c.next = c.recorded
			}, hold: v1alpha1.HoldFilesMissing,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			c.goForward()
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

// TestForwardProof has a revision that comes to edge1 first, and then to edge2, while one of the Sites runs another tree than its directory has.
func TestForwardProof(t *testing.T) {
	cases := map[string]struct {
		reason string
		wave   int32
		other  int
		want   bool
	}{
		"Later":   {reason: "A Site of a later step does not keep a step from its proof.", other: 1, want: true},
		"Current": {reason: "A Site of the step has to run the tree.", other: 0},
		"Reached": {reason: "A Site of a later step has to run the tree once its step has come.", wave: 1, other: 1},
		"Earlier": {reason: "A Site of an earlier step has to run the tree still.", wave: 1, other: 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			events := []ledger.Event{ordered(1, inTwoWaves()...), {Advanced: &ledger.Advanced{Step: 1}}, verified("one"), ordered(2, inTwoWaves()...)}
			if tc.wave > 0 {
				events = append(events, ledger.Event{Advanced: &ledger.Advanced{Step: tc.wave}})
			}
			c := newSceneOf(t, events...)
			c.goForward().Status.AtProvider.Sites[tc.other].Tree = "other"
			if got := c.forwardProof(c.recorded).IsLive; got != tc.want {
				t.Errorf("\n%s\nforwardProof(...).IsLive: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
