package deployment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TestNewMandate makes the mandate of revision 2, which goes to edge1 and edge2, of a spec without a word about policies.
func TestNewMandate(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(dr *decider, s *ledger.State)
		want   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate
	}{
		"Default": {
			reason: "The policy is that of the schema.", change: func(*decider, *ledger.State) {},
			want: func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { return m },
		},
		"Policy": {
			reason: "The policy is that of the spec.",
			change: func(dr *decider, _ *ledger.State) {
				dr.in.Spec.RollbackConfig = deploymentv1alpha1.RollbackConfig{AutoRollback: new(false), MaxRetries: new(int32(0)), MaxPerHour: new(int32(9)), AttemptTimeout: "20m"}
			},
			want: func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate {
				m.Rollback = deliveryv1alpha1.MandatedRollback{MaxPerHour: 9, AttemptTimeout: "20m"}
				return m
			},
		},
		"InvalidTimeout": {
			reason: "A time that no attempt may have is a problem of the spec, and a rollback goes on with the default.",
			change: func(dr *decider, _ *ledger.State) { dr.in.Spec.RollbackConfig.AttemptTimeout = "48h" },
			want:   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { return m },
		},
		"Suspended": {
			reason: "A suspended deployment has a mandate that says so.",
			change: func(dr *decider, _ *ledger.State) { dr.in.Spec.Suspend = new(true) },
			want:   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { m.Suspended = true; return m },
		},
		"Left": {
			reason: "Nothing is restored at a Site that the deployment is not for any more.",
			change: func(dr *decider, _ *ledger.State) { dr.compiled.chosen = map[string]bool{"edge2": true, "edge3": true} },
			want:   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { m.Without = []string{"edge1"}; return m },
		},
		"Selector": {
			reason: "The labels by which the spec selects Sites are in the mandate.",
			change: func(dr *decider, _ *ledger.State) { dr.compiled.siteLabels = map[string]string{"region": "north"} },
			want: func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate {
				m.MatchLabels = map[string]string{"region": "north"}
				return m
			},
		},
		"Unknown": {
			reason: "While the Sites of the spec are not known, the deployment is for all that it had.",
			change: func(dr *decider, _ *ledger.State) { dr.compiled.chosen = nil },
			want:   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { return m },
		},
		"Tracks": {
			reason: "A revision in tracks has the time of the schema to drain.",
			change: func(_ *decider, s *ledger.State) { s.Current.Track = ledger.TrackBlue },
			want:   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { m.Drain = "30s"; return m },
		},
		"Drain": {
			reason: "A revision in tracks has the time of the spec to drain.",
			change: func(dr *decider, s *ledger.State) {
				s.Current.Track, dr.in.Spec.DeliveryConfig.Canary = ledger.TrackBlue, &deploymentv1alpha1.CanaryConfig{Drain: "5s"}
			},
			want: func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { m.Drain = "5s"; return m },
		},
		"Recovered": {
			reason: "A ledger that was recovered has a mandate of its epoch.",
			change: func(_ *decider, s *ledger.State) { s.Epoch = 2 },
			want:   func(m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { m.Epoch = 2; return m },
		},
		"Moved": {
			reason: "Nothing follows in a ledger that goes on in another repository.",
			change: func(_ *decider, s *ledger.State) { s.Successor = "other" },
			want:   func(*deliveryv1alpha1.Mandate) *deliveryv1alpha1.Mandate { return nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dr := decider{observed: Observed{specDigest: "sha256:a"}, compiled: Compiled{chosen: map[string]bool{"edge1": true, "edge2": true}}}
			dr.in.Spec.Default()
			s := ledger.State{
				Head:    ledger.Head{Ledger: "l", Epoch: 1, Seq: 5},
				Current: &ledger.Revision{Number: 2, Parts: []ledger.Part{{Delivery: "a", Sites: []string{"edge2"}}, {Delivery: "b", Sites: []string{"edge1"}}}},
			}
			tc.change(&dr, &s)
			want := tc.want(&deliveryv1alpha1.Mandate{
				Rules: 1, Ledger: "l", Epoch: 1, Revision: 2, May: step.Kinds(), Spec: "sha256:a",
				Rollback: deliveryv1alpha1.MandatedRollback{AutoRollback: true, MaxRetries: 3, MaxPerHour: 3, AttemptTimeout: "5m"},
			})
			if diff := cmp.Diff(want, dr.newMandateOfSpec(s)); diff != "" {
				t.Errorf("\n%s\nnewMandate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// homeOfWorld returns the delivery to the home that a call asks for, and checks that no other one has a mandate.
func (w *world) homeOfWorld(out *Output) *deliveryv1alpha1.GitDelivery {
	w.t.Helper()
	var home *deliveryv1alpha1.GitDelivery
	for name, d := range w.deliveries(out) {
		switch p := d.Spec.ForProvider; {
		case p.Ledger != nil:
			home = d
		case p.Mandate != nil:
			w.t.Errorf("%s is not a home, and has a mandate", name)
		}
	}
	if home == nil {
		w.t.Fatal("no delivery to the home of the ledger")
		return nil
	}
	if p := home.Spec.ForProvider; hasOtherMandate(p) {
		w.t.Errorf("the mandate and the position of a home are for one revision: want %+v, got %+v", p.Position, p.Mandate)
	}
	return home
}

// mandateOfWorld returns the mandate of the home that a call asks for.
func (w *world) mandateOfWorld(out *Output) *deliveryv1alpha1.Mandate {
	w.t.Helper()
	return w.homeOfWorld(out).Spec.ForProvider.Mandate
}

// TestMandateGoesWithItsRevision delivers two revisions, the second of which fails, and compares each mandate with the ledger that follows from the events beside
// it. No mandate is a write of its own.
func TestMandateGoesWithItsRevision(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	var last *deliveryv1alpha1.GitDelivery
	round := func(state string) {
		w.t.Helper()
		home := w.homeOfWorld(w.call())
		p := home.Spec.ForProvider
		if s := w.stateAfter(*p.Ledger); p.Mandate == nil || !p.Mandate.Covers(s) {
			t.Errorf("the mandate of a home is for the revision of its events: want revision %d, got %+v", s.Current.Number, p.Mandate)
		}
		if last != nil && !cmp.Equal(last.Spec.ForProvider.Mandate, p.Mandate) && cmp.Equal(last.Spec.ForProvider.Ledger, p.Ledger) {
			t.Errorf("a mandate changes without an event:\n%s", cmp.Diff(last.Spec.ForProvider.Mandate, p.Mandate))
		}
		last = home
		w.round(state, state)
	}
	for range 6 {
		round("Live")
	}
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	round("Syncing")
	for range 6 {
		round("Failed")
	}
	if s := w.ledger(); s.Current.Number != 2 || !s.IsRejected() || s.Cursor.Attempt == 0 {
		t.Errorf("the second revision fails, and is rolled back: got %+v", s)
	}
}

// stateAfter returns the state of the home's ledger after the events that a delivery asks for, if these are still to be recorded.
func (w *world) stateAfter(update deliveryv1alpha1.LedgerUpdate) ledger.State {
	w.t.Helper()
	s := w.ledger()
	if update.After != s.Head {
		return s
	}
	s, err := ledger.Append(s, w.in.Now.Time, update.Events...)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// TestMandateFollowsPolicy edits the policy of a deployment whose revision is at work, or has come to its end.
func TestMandateFollowsPolicy(t *testing.T) {
	frozen := func(w *world) { w.say("no intent") }
	autoRollback := func(w *world) { w.in.Spec.RollbackConfig.AutoRollback = nil }
	cases := map[string]struct {
		reason string
		before func(w *world)
		edit   func(w *world)
		want   bool
	}{
		"AtWork": {reason: "The mandate of a revision at work follows the policy.", edit: func(*world) {}, want: true},
		"Frozen": {reason: "The mandate of a revision at work follows the policy of a spec that cannot be compiled.", edit: frozen, want: true},
		"Suspended": {
			reason: "The mandate of a revision at work follows a suspension, which holds its steps back.",
			edit:   func(w *world) { autoRollback(w); w.in.Spec.Suspend = new(true) }, want: true,
		},
		"Digest": {
			reason: "The mandate of a revision at work follows each edit of the spec, which the provider compares with the claim.",
			edit:   func(w *world) { autoRollback(w); frozen(w) }, want: true,
		},
		"Rejected": {
			reason: "The home of a rejected revision does not change for a suspension, which stops no rollback.", before: (*world).rejectNow,
			edit: func(w *world) { autoRollback(w); w.in.Spec.Suspend = new(true) },
		},
		"Succeeded": {
			reason: "The home of a revision that succeeded does not change for a policy: it would not be ready for a moment.",
			before: (*world).settleLive, edit: func(*world) {},
		},
		"Stays": {reason: "The home of a revision that succeeded does not change for a spec that cannot be compiled.", before: (*world).settleLive, edit: frozen},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.observe("edge1", "edge2")
			previous := w.mandateOfWorld(w.round("Syncing", "Syncing"))
			if tc.before != nil {
				tc.before(w)
				previous = w.mandateOfWorld(w.call())
			}
			w.in.Spec.RollbackConfig.AutoRollback = new(false)
			tc.edit(w)
			got := w.mandateOfWorld(w.call())
			isAuto := w.in.Spec.RollbackConfig.AutoRollback == nil
			if changed := !cmp.Equal(previous, got); changed != tc.want || tc.want && got.Rollback.AutoRollback != isAuto {
				t.Errorf("\n%s\nwant a change %t:\n-before, +got:\n%s", tc.reason, tc.want, cmp.Diff(previous, got))
			}
			spec, err := digest.Spec(&w.in.Spec)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want && got.Spec != spec {
				t.Errorf("\n%s\nwant the spec with digest %s, got %+v", tc.reason, spec, got)
			}
		})
	}
}

// rejectNow delivers a second revision, which fails, and asks for its rollback.
func (w *world) rejectNow() {
	w.t.Helper()
	w.settleLive()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.round("Syncing", "Syncing")
	for range 3 {
		w.round("Failed", "Failed")
	}
	if s := w.ledger(); !s.IsRejected() || s.Restored {
		w.t.Fatalf("want a revision that is rejected and rolled back, got verdict %v, restored %t", s.Verdict, s.Restored)
	}
}

// TestMandateOfUpgrade plays a version that knows mandates after a version that does not.
func TestMandateOfUpgrade(t *testing.T) {
	w := newWorld(t)
	w.observe("edge1", "edge2")
	w.settleLive()
	for _, o := range w.in.Observed {
		if p, ok := o.Object["spec"].(map[string]any)["forProvider"].(map[string]any); ok {
			delete(p, "mandate")
		}
	}
	if m := w.mandateOfWorld(w.call()); m != nil {
		t.Errorf("a deployment that succeeded is not written for a mandate alone: got %+v", m)
	}
	w.say(strings.ReplaceAll(*w.in.Spec.Intent, `"replicas": 2`, `"replicas": 3`))
	if m := w.mandateOfWorld(w.call()); m == nil || m.Revision != 2 {
		t.Errorf("the next revision has a mandate: got %+v", m)
	}
}

// TestIsLeftToProvider lets an event follow in revision 2, whose home has a mandate and an echo.
func TestIsLeftToProvider(t *testing.T) {
	rejected := ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}}}
	aborted := ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: ledger.RejectedRequested}}}
	aborted.Judged.RequestRef = &ledger.RequestReference{Name: "r", UID: "u"}
	editedBack := ledger.Event{Judged: &ledger.Judged{Verdict: aborted.Judged.Verdict}}
	verified := ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}}}
	holdsForward := func(_ *proposedState, home *deliveryv1alpha1.GitDelivery) {
		m := home.Status.AtProvider.Mandate
		m.May, m.Hold = []step.Kind{step.KindReject, step.KindRollBack, step.KindRequest}, deliveryv1alpha1.HoldClaimChanged
	}
	rolledBack := ledger.Event{RolledBack: &ledger.RolledBack{Target: 1}}
	withdrawn := ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1}}
	hasHistory := func(p *proposedState, _ *deliveryv1alpha1.GitDelivery) { p.state.History = []ledger.Past{{Number: 1}} }
	isRejected := func(p *proposedState, _ *deliveryv1alpha1.GitDelivery) {
		p.state.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}
	}
	cases := map[string]struct {
		reason string
		event  ledger.Event
		change func(p *proposedState, home *deliveryv1alpha1.GitDelivery)
		want   bool
	}{
		"Reject":   {reason: "The provider rejects.", event: rejected, want: true},
		"RollBack": {reason: "The provider rolls back.", event: rolledBack, change: isRejected, want: true},
		"Stage": {
			reason: "The provider goes on with the stages of a rollback.",
			event:  ledger.Event{Advanced: &ledger.Advanced{Stage: 1}}, change: isRejected, want: true,
		},
		"Restored":   {reason: "The provider ends a rollback.", event: ledger.Event{Restored: &ledger.Restored{}}, change: isRejected, want: true},
		"Verify":     {reason: "The provider verifies.", event: verified, want: true},
		"Step":       {reason: "The provider begins steps.", event: ledger.Event{Advanced: &ledger.Advanced{Step: 1}}, want: true},
		"VerifyHeld": {reason: "The function verifies where the echo does not list that.", event: verified, change: holdsForward},
		"StepHeld": {
			reason: "The function begins steps where the echo does not list that.",
			event:  ledger.Event{Advanced: &ledger.Advanced{Step: 1}}, change: holdsForward,
		},
		"Abort":      {reason: "The provider rejects a revision that a user aborts.", event: aborted, want: true},
		"RollbackTo": {reason: "The provider rolls back to where a user asks.", event: withdrawn, change: hasHistory, want: true},
		"Tracks": {reason: "The function rolls back to where a user asks in tracks.", event: withdrawn, change: func(p *proposedState, home *deliveryv1alpha1.GitDelivery) {
			hasHistory(p, home)
			p.state.Current.Track = ledger.TrackBlue
		}},
		"Promote": {reason: "The provider releases steps.", event: ledger.Event{Promoted: &ledger.Promoted{Step: 1}}, want: true},
		"PromoteHeld": {
			reason: "The function releases steps where the echo does not list that.",
			event:  ledger.Event{Promoted: &ledger.Promoted{Step: 1}}, change: holdsForward,
		},
		"NoRequests": {reason: "The function acts on the requests of users where the echo of the provider does not list them.", event: aborted, change: func(_ *proposedState, home *deliveryv1alpha1.GitDelivery) {
			home.Status.AtProvider.Mandate.May = []step.Kind{step.KindReject, step.KindRollBack}
		}},
		"EditedBack": {reason: "The function rejects a revision that its user edits back, since the spec says so.", event: editedBack},
		"Ordered":    {reason: "The function begins revisions.", event: ledger.Event{Ordered: &ledger.Ordered{}}},
		"NoEcho": {
			reason: "The function rejects where the provider does not say that it does.",
			event:  rejected, change: func(_ *proposedState, home *deliveryv1alpha1.GitDelivery) { home.Status.AtProvider.Mandate = nil },
		},
		"NotListed": {
			reason: "The function rolls back where the provider says that it rejects alone.", event: rolledBack,
			change: func(p *proposedState, home *deliveryv1alpha1.GitDelivery) {
				isRejected(p, home)
				home.Status.AtProvider.Mandate.May = []step.Kind{step.KindReject}
			},
		},
		"OtherRevision": {reason: "An echo about the revision before says nothing about this one.", event: rejected, change: func(_ *proposedState, home *deliveryv1alpha1.GitDelivery) {
			home.Status.AtProvider.Mandate.Revision = 1
		}},
		"OtherRules": {
			reason: "An echo by other rules says nothing about these.",
			event:  rejected, change: func(_ *proposedState, home *deliveryv1alpha1.GitDelivery) { home.Status.AtProvider.Mandate.Rules = 2 },
		},
		"NoMandate": {
			reason: "An echo of a mandate that the home has no more, such as one from a backup, says nothing.",
			event:  rejected, change: func(_ *proposedState, home *deliveryv1alpha1.GitDelivery) { home.Spec.ForProvider.Mandate = nil },
		},
		"Recovered": {
			reason: "An echo from before the ledger was recovered says nothing.",
			event:  rejected, change: func(p *proposedState, _ *deliveryv1alpha1.GitDelivery) { p.state.Epoch, p.home.State.Epoch = 2, 2 },
		},
		"Proposed": {reason: "A successor of a proposed event goes with it.", event: rolledBack, change: func(p *proposedState, home *deliveryv1alpha1.GitDelivery) { isRejected(p, home); p.state.Seq++ }},
		"NoHome": {
			reason: "A home that was lost records nothing by a mandate.",
			event:  rejected, change: func(p *proposedState, _ *deliveryv1alpha1.GitDelivery) { p.asked.home = "lost" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 5}, Current: &ledger.Revision{Number: 2}}
			home := &deliveryv1alpha1.GitDelivery{}
			home.Spec.ForProvider.Mandate = &deliveryv1alpha1.Mandate{Rules: 1, Ledger: "l", Epoch: 1, Revision: 2}
			home.Status.AtProvider.Mandate = &deliveryv1alpha1.MandateStatus{Rules: 1, Revision: 2, May: step.Kinds()}
			p := proposedState{home: step.Home{State: s}, state: s, asked: desiredResources{home: "home"}}
			if tc.change != nil {
				tc.change(&p, home)
			}
			dr := decider{observed: Observed{deliveries: map[string]*deliveryv1alpha1.GitDelivery{"home": home}}}
			if got := dr.isLeftToProvider(p, tc.event); got != tc.want {
				t.Errorf("\n%s\nisLeftToProvider(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestLeavesToProvider lets the second revision fail at its Sites, where the provider lists the events that it records by itself. The home recorded that it was ordered.
func TestLeavesToProvider(t *testing.T) {
	cases := map[string]struct {
		reason string
		may    []any
		want   string
	}{
		"Nothing":     {reason: "The function rejects and rolls back.", want: "Judged(Rejected SyncFailed) RolledBack(1)"},
		"Both":        {reason: "The provider rejects and rolls back.", may: []any{"Reject", "RollBack"}, want: "Ordered(2)"},
		"RejectAlone": {reason: "The function waits for the verdict before it rolls back.", may: []any{"Reject"}, want: "Ordered(2)"},
		"Unknown": {
			reason: "The function rejects and rolls back where the provider does something else.",
			may:    []any{"Verify"}, want: "Judged(Rejected SyncFailed) RolledBack(1)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.observe("edge1", "edge2")
			w.settleLive()
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			w.apply(w.call())
			w.deliver()
			for _, o := range w.in.Observed {
				if o.GetKind() == "GitDelivery" && tc.may != nil {
					w.must(unstructured.SetNestedMap(o.Object, map[string]any{"rules": int64(1), "revision": int64(2), "may": tc.may}, "status", "atProvider", "mandate"))
				}
			}
			w.sync("Failed", "Failed")
			var events []string
			for _, e := range w.homeOfWorld(w.call()).Spec.ForProvider.Ledger.Events {
				events = append(events, describeEvent(e))
			}
			if diff := cmp.Diff(tc.want, strings.Join(events, " ")); diff != "" {
				t.Errorf("\n%s\nevents that the home is asked to record: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
