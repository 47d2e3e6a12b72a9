package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// gatedState returns a state at the first step of a revision, which a Gate judges.
func gatedState() ledger.State {
	s := newState(2, "b")
	s.Current.Plan = []ledger.Step{{Sites: []string{"a"}, Gate: true}, {Sites: []string{"b"}}}
	return s
}

// newGate returns the Gate of the step of a state, which came to a verdict.
func newGate(s ledger.State, v rolloutv1alpha1.GateVerdict) *rolloutv1alpha1.Gate {
	g := &rolloutv1alpha1.Gate{}
	g.SetName("g")
	g.SetGeneration(4)
	g.SetAnnotations(map[string]string{AnnotationRevision: RevisionID(s)})
	g.Spec.ForProvider.Position = new(s.Position())
	g.Spec.ForProvider.Checks = []rolloutv1alpha1.GateCheck{{Check: deploymentv1alpha1.Check{Name: "latency", Site: "a"}}}
	g.Status.AtProvider = rolloutv1alpha1.GateObservation{Position: new(s.Position()), Verdict: v, Checks: []rolloutv1alpha1.CheckResult{
		{Name: "errors", Site: "a", Phase: rolloutv1alpha1.CheckTimedOut},
		{Name: "latency", Site: "a", Phase: rolloutv1alpha1.CheckFailed, Value: "900ms", Threshold: "<= 500ms", Message: "Two\nlines."},
	}}
	status, reason := corev1.ConditionFalse, xpv2.ConditionReason(v)
	if v == rolloutv1alpha1.GatePassed {
		status = corev1.ConditionTrue
	}
	g.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, ObservedGeneration: 4}, xpv2.ReconcileSuccess())
	return g
}

func TestGateVerdict(t *testing.T) {
	s := gatedState()
	cases := map[string]struct {
		reason  string
		verdict rolloutv1alpha1.GateVerdict
		change  func(*rolloutv1alpha1.Gate)
		want    rolloutv1alpha1.GateVerdict
	}{
		"Passed":    {reason: "A Gate that passed says so.", verdict: rolloutv1alpha1.GatePassed, want: rolloutv1alpha1.GatePassed},
		"Failed":    {reason: "A Gate that failed says so.", verdict: rolloutv1alpha1.GateFailed, want: rolloutv1alpha1.GateFailed},
		"Measuring": {reason: "A Gate that still measures has no verdict."},
		"Speaks": {
			reason:  "Measurements of another position are not a verdict.",
			verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Status.AtProvider.Position.Revision = 1 },
		},
		"Silent": {
			reason:  "A Gate without measurements has no verdict.",
			verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.Status.AtProvider.Position = nil },
		},
		"Generation": {
			reason:  "A Gate whose spec changed since has no verdict.",
			verdict: rolloutv1alpha1.GatePassed, change: func(g *rolloutv1alpha1.Gate) { g.SetGeneration(5) },
		},
		"Unready": {
			reason: "A Gate that passed and is not Ready has no verdict.", verdict: rolloutv1alpha1.GatePassed,
			change: func(g *rolloutv1alpha1.Gate) { g.SetConditions(xpv2.Unavailable().WithObservedGeneration(4)) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := newGate(s, tc.verdict)
			if tc.change != nil {
				tc.change(g)
			}
			if diff := cmp.Diff(tc.want, GateVerdict(g)); diff != "" {
				t.Errorf("\n%s\nGateVerdict(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsGateOf changes one thing at a time about a Gate of the current step.
func TestIsGateOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*rolloutv1alpha1.Gate, *ledger.State)
		want   bool
	}{
		"Same": {reason: "A Gate judges the step that it was made for.", want: true, change: func(*rolloutv1alpha1.Gate, *ledger.State) {}},
		"Step": {
			reason: "A Gate of another step judges another one.",
			change: func(g *rolloutv1alpha1.Gate, _ *ledger.State) { g.Spec.ForProvider.Position.Step = 1 },
		},
		"Revision": {
			reason: "A Gate of another revision judges another one.",
			change: func(g *rolloutv1alpha1.Gate, _ *ledger.State) { g.Spec.ForProvider.Position.Revision = 1 },
		},
		"Attempt": {reason: "A Gate does not judge a rollback.", change: func(g *rolloutv1alpha1.Gate, _ *ledger.State) { g.Spec.ForProvider.Position.Attempt = 1 }},
		"Epoch": {
			reason: "A Gate of an earlier epoch judges another revision.",
			change: func(g *rolloutv1alpha1.Gate, _ *ledger.State) { g.Spec.ForProvider.Position.Epoch = 1 },
		},
		"Ledger": {
			reason: "A Gate that survived its ledger judges no revision of another one.",
			change: func(_ *rolloutv1alpha1.Gate, s *ledger.State) { s.Ledger = "other" },
		},
		"Intent": {
			reason: "A Gate that survived its ledger judges no other intent under the same number.",
			change: func(_ *rolloutv1alpha1.Gate, s *ledger.State) { s.Current.Request.Intent = "other" },
		},
		"Promoted": {
			reason: "A step that a user released since has the same Gate.",
			want:   true, change: func(_ *rolloutv1alpha1.Gate, s *ledger.State) { s.Cursor.Promoted = 1 },
		},
		"Nothing": {reason: "A Gate judges nothing while no revision was ordered.", change: func(_ *rolloutv1alpha1.Gate, s *ledger.State) { s.Current = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := gatedState()
			g := newGate(s, rolloutv1alpha1.GatePassed)
			tc.change(g, &s)
			if got := IsGateOf(g, s); got != tc.want {
				t.Errorf("\n%s\nIsGateOf(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestGateFailure(t *testing.T) {
	s := gatedState()
	if v := GateFailure(newGate(s, rolloutv1alpha1.GatePassed)); v != nil {
		t.Errorf("GateFailure(...): a Gate that passed is not a rejection: %+v", v)
	}
	want := &ledger.Verdict{
		Result: "Rejected", Reason: "GateFailed",
		Message: "Gate g: Failed: check latency at Site a: Failed, value 900ms, threshold <= 500ms: Two lines.",
	}
	if diff := cmp.Diff(want, GateFailure(newGate(s, rolloutv1alpha1.GateFailed))); diff != "" {
		t.Errorf("GateFailure(...): it names the check, the value and the threshold, in one line: -want, +got:\n%s", diff)
	}
}

// TestHasEnded asks for each phase of a check whether that is a result.
func TestHasEnded(t *testing.T) {
	for phase, want := range map[rolloutv1alpha1.CheckPhase]bool{
		"": false, rolloutv1alpha1.CheckPending: false, rolloutv1alpha1.CheckRunning: false, rolloutv1alpha1.CheckPassed: true,
		rolloutv1alpha1.CheckFailed: true, rolloutv1alpha1.CheckError: true, rolloutv1alpha1.CheckTimedOut: true,
	} {
		if got := HasEnded(rolloutv1alpha1.CheckResult{Phase: phase}); got != want {
			t.Errorf("\nA check has a result once it neither waits nor measures.\nHasEnded(%q): want %t, got %t", phase, want, got)
		}
	}
}
