package gate

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/verdict"
)

// TestShow defers a passed check while other checks run, and nothing else.
func TestShow(t *testing.T) {
	const running, passed, failed = v1alpha1.CheckRunning, v1alpha1.CheckPassed, v1alpha1.CheckFailed
	began := time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC)
	says := func(verdict v1alpha1.GateVerdict, phases ...v1alpha1.CheckPhase) v1alpha1.GateObservation {
		out := v1alpha1.GateObservation{Position: &ledger.Position{Revision: 1}, StartedAt: new(metav1.NewTime(began)), Verdict: verdict}
		for _, p := range phases {
			out.Checks = append(out.Checks, v1alpha1.CheckResult{Name: "errors", Phase: p})
		}
		return out
	}
	type step struct {
		after time.Duration
		next  v1alpha1.GateObservation
		shown bool
	}
	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"Passed": {reason: "A check that passed first waits for the others, and no longer than that.", steps: []step{
			{next: says("", passed, running, running)},
			{after: 9 * time.Second, next: says("", passed, passed, running)},
			{after: 10 * time.Second, next: says("", passed, passed, running), shown: true},
		}},
		"Again": {reason: "The next deferred check waits for its own interval.", steps: []step{
			{next: says("", passed, running, running)},
			{after: 10 * time.Second, next: says("", passed, running, running), shown: true},
			{after: 11 * time.Second, next: says("", passed, passed, running)},
			{after: 20 * time.Second, next: says("", passed, passed, running)},
			{after: 21 * time.Second, next: says("", passed, passed, running), shown: true},
		}},
		"Verdict": {
			reason: "A verdict waits for nothing.",
			steps:  []step{{next: says("", passed, running, running)}, {next: says(v1alpha1.GatePassed, passed, passed, passed), shown: true}},
		},
		"Failed": {reason: "A failed check is written to the status at once.", steps: []step{{next: says("", failed, running, running), shown: true}}},
		"Both": {
			reason: "The verdict is written with all checks at once.",
			steps:  []step{{next: says("", passed, running, running)}, {next: says("", passed, failed, running), shown: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := began
			e := &external{connector: &connector{memory: newNoteMemory(), now: func() time.Time { return now }}}
			g := &v1alpha1.Gate{}
			g.SetName("shop")
			e.updateStatus(g, verdict.Facts{}, verdict.Decision{Next: says("", running, running, running), Reason: v1alpha1.ReasonMeasuring})
			for i, s := range tc.steps {
				now = began.Add(s.after)
				previous := g.Status.AtProvider
				e.memory.planNextLook(g, time.Time{}) // As gather does.
				e.updateStatus(g, verdict.Facts{}, verdict.Decision{Next: s.next, Reason: v1alpha1.ReasonMeasuring})
				want := previous
				if s.shown {
					want = s.next
				}
				if diff := cmp.Diff(want, g.Status.AtProvider); diff != "" {
					t.Errorf("\n%s\nshow(...) %d: -want, +got:\n%s", tc.reason, i, diff)
				}
				if due := e.memory.nextReconcileTime(g); !s.shown && !due.After(now) {
					t.Errorf("\n%s\nshow(...) %d: no next look is planned: %s", tc.reason, i, due)
				}
				if diff := cmp.Diff(s.next, e.memory.lastObservation(g)); diff != "" {
					t.Errorf("\n%s\nmemory after %d: -want, +got:\n%s", tc.reason, i, diff)
				}
			}
		})
	}
}

// TestStatusOfStep writes the status of a Gate of a step: not before the step is live, and not on its own that all checks have their count where the step
// pauses for a moment only.
func TestStatusOfStep(t *testing.T) {
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	says := func(counted bool, verdict v1alpha1.GateVerdict) v1alpha1.GateObservation {
		c := v1alpha1.CheckResult{Name: "errors", Phase: v1alpha1.CheckRunning}
		if counted {
			c.CountedAt = new(metav1.NewTime(began))
		}
		return v1alpha1.GateObservation{Position: &ledger.Position{Revision: 1}, StartedAt: new(metav1.NewTime(began)), Verdict: verdict, Checks: []v1alpha1.CheckResult{c}}
	}
	measuring := verdict.Decision{Next: says(false, ""), Reason: v1alpha1.ReasonMeasuring}
	watching := verdict.Decision{Next: says(true, ""), Reason: v1alpha1.ReasonWatching}
	cases := map[string]struct {
		reason string
		until  v1alpha1.GateUntil
		before []verdict.Decision
		is     verdict.Decision
		pause  time.Duration
		want   xpv2.ConditionReason
	}{
		"NotCome": {reason: "A Gate whose step has not come has no status.", until: v1alpha1.GateUntilReleased, is: verdict.Decision{Reason: v1alpha1.ReasonNotLive}},
		"Plain":   {reason: "A Gate of a revision without steps says that it waits.", is: verdict.Decision{Reason: v1alpha1.ReasonNotLive}, want: v1alpha1.ReasonNotLive},
		"NotAgain": {
			reason: "A Gate whose step is not live any more reports it.",
			until:  v1alpha1.GateUntilReleased, before: []verdict.Decision{measuring}, is: verdict.Decision{Reason: v1alpha1.ReasonNotLive}, want: v1alpha1.ReasonNotLive,
		},
		"Soon": {
			reason: "A count is written with the verdict where the pause ends soon.",
			until:  v1alpha1.GateUntilReleased, before: []verdict.Decision{measuring}, is: watching, pause: 9 * time.Second, want: v1alpha1.ReasonMeasuring,
		},
		"Later": {
			reason: "A count is written at once where the pause goes on.",
			until:  v1alpha1.GateUntilReleased, before: []verdict.Decision{measuring}, is: watching, pause: 11 * time.Second, want: v1alpha1.ReasonWatching,
		},
		"User": {
			reason: "A count is written at once where a user is awaited.",
			until:  v1alpha1.GateUntilReleased, before: []verdict.Decision{measuring}, is: watching, want: v1alpha1.ReasonWatching,
		},
		"FailsSoon": {
			reason: "A failure is written at once.",
			until:  v1alpha1.GateUntilReleased, before: []verdict.Decision{measuring, watching},
			is: verdict.Decision{Next: says(true, v1alpha1.GateFailed), Reason: v1alpha1.ReasonFailed}, pause: 9 * time.Second, want: v1alpha1.ReasonFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &external{connector: &connector{memory: newNoteMemory(), now: func() time.Time { return began }}}
			g, f := &v1alpha1.Gate{}, verdict.Facts{Spec: v1alpha1.GateParameters{Until: tc.until}, Now: began}
			if tc.pause > 0 {
				f.PauseEnd = began.Add(tc.pause)
			}
			for _, d := range append(tc.before, tc.is) {
				e.updateStatus(g, f, d)
			}
			if got := g.GetCondition(xpv2.TypeReady).Reason; got != tc.want {
				t.Errorf("\n%s\nreason: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
