package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestShow keeps back what passed while others go on, and nothing else.
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
		"Passed": {reason: "Who passed first waits for others, and no longer than that.", steps: []step{
			{next: says("", passed, running, running)},
			{after: 9 * time.Second, next: says("", passed, passed, running)},
			{after: 10 * time.Second, next: says("", passed, passed, running), shown: true},
		}},
		"Again": {reason: "The next one waits anew.", steps: []step{
			{next: says("", passed, running, running)},
			{after: 10 * time.Second, next: says("", passed, running, running), shown: true},
			{after: 11 * time.Second, next: says("", passed, passed, running)},
			{after: 20 * time.Second, next: says("", passed, passed, running)},
			{after: 21 * time.Second, next: says("", passed, passed, running), shown: true},
		}},
		"Verdict": {reason: "A verdict waits for nothing.", steps: []step{{next: says("", passed, running, running)}, {next: says(v1alpha1.GatePassed, passed, passed, passed), shown: true}}},
		"Failed":  {reason: "A failed check is written to the status at once.", steps: []step{{next: says("", failed, running, running), shown: true}}},
		"Both":    {reason: "The verdict is written with all checks at once.", steps: []step{{next: says("", passed, running, running)}, {next: says("", passed, failed, running), shown: true}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := began
			e := &external{connector: &connector{memory: newMemory(), now: func() time.Time { return now }}}
			g := &v1alpha1.Gate{}
			g.SetName("shop")
			e.updateStatus(g, decision{next: says("", running, running, running), reason: v1alpha1.ReasonMeasuring})
			for i, s := range tc.steps {
				now = began.Add(s.after)
				before := g.Status.AtProvider
				e.memory.planNextLook(g, time.Time{}) // As gather does.
				e.updateStatus(g, decision{next: s.next, reason: v1alpha1.ReasonMeasuring})
				want := before
				if s.shown {
					want = s.next
				}
				if diff := cmp.Diff(want, g.Status.AtProvider); diff != "" {
					t.Errorf("\n%s\nshow(...) %d: -want, +got:\n%s", tc.reason, i, diff)
				}
				if due := e.memory.nextLook(client.ObjectKeyFromObject(g)); !s.shown && !due.After(now) {
					t.Errorf("\n%s\nshow(...) %d: nobody looks again: %s", tc.reason, i, due)
				}
				if diff := cmp.Diff(s.next, e.memory.lastObservation(g)); diff != "" {
					t.Errorf("\n%s\nmemory after %d: -want, +got:\n%s", tc.reason, i, diff)
				}
			}
		})
	}
}
