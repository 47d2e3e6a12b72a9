package deployment

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/gates"
)

// TestChecksOf takes the checks for canaries in the steps in which two tracks get requests.
func TestChecksOf(t *testing.T) {
	named := func(name string) gates.Checks {
		return gates.Checks{rolloutv1alpha1.GateCheck{Check: deploymentv1alpha1.Check{Name: name, Site: "edge1"}}}
	}
	k := Compiled{checks: named("whole"), canaryChecks: named("canary"), desired: step.Desired{Placement: step.Placement{Track: "green", HasSteps: true}}}
	cases := map[string]struct {
		reason string
		step   int32
		track  string
		want   string
	}{
		"Shared": {reason: "Where two tracks get requests the canary is measured.", step: 1, track: "green", want: "canary"},
		"Whole":  {reason: "A revision that gets all requests is measured as a whole.", step: 2, track: "green", want: "whole"},
		"Other":  {reason: "Checks of another track measure nothing of this one.", step: 1, track: "blue", want: "whole"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Cursor: ledger.Cursor{Step: tc.step}, Current: &ledger.Revision{Number: 2, Track: tc.track, Plan: []ledger.Step{
				{Sites: []string{"edge1"}, Weight: new(int32(0))}, {Weight: new(int32(20))}, {Weight: new(int32(100))},
			}}}
			if got := k.checksOfStep(s); len(got) != 1 || got[0].Name != tc.want {
				t.Errorf("\n%s\nchecksOf(...): want %s, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}

// measure lets a Gate pass or fail once the Sites are live at its position, and the step is released.
func (w *world) measure(g *rolloutv1alpha1.Gate, c cluster) {
	position := g.Spec.ForProvider.AskedPosition()
	for _, u := range w.in.Observed {
		if u.GetKind() != "SiteSync" {
			continue
		}
		s := &deliveryv1alpha1.SiteSync{}
		w.convert(u, s)
		isLive := s.Status.AtProvider.ObservedPosition() == position && s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
		isReleased := s.GetCondition(deliveryv1alpha1.TypeReleased).Status == corev1.ConditionTrue
		if !isLive && g.Status.AtProvider.Verdict == "" {
			return
		}
		if g.Status.AtProvider.ObservedPosition() != position || g.Status.AtProvider.Verdict == "" {
			now := w.in.Now
			g.Status.AtProvider = rolloutv1alpha1.GateObservation{Position: &position, StartedAt: &now, Verdict: c.verdictOf(g, isReleased)}
		}
		if g.Status.AtProvider.Verdict == rolloutv1alpha1.GatePassed {
			g.Status.AtProvider.Checks = passedChecks(g.Spec.ForProvider.Checks)
		}
		showVerdict(g)
	}
}

// passedChecks returns the results of checks that passed.
func passedChecks(checks []rolloutv1alpha1.GateCheck) []rolloutv1alpha1.CheckResult {
	var out []rolloutv1alpha1.CheckResult
	for _, c := range checks {
		out = append(out, rolloutv1alpha1.CheckResult{Name: c.Name, Site: c.Site, Phase: rolloutv1alpha1.CheckPassed})
	}
	return out
}

// verdictOf returns the verdict of the checks of a Gate. It is empty while they are measured.
func (c cluster) verdictOf(g *rolloutv1alpha1.Gate, isReleased bool) rolloutv1alpha1.GateVerdict {
	switch {
	case c.rejects:
		return rolloutv1alpha1.GateFailed
	case c.isInconclusive && g.Spec.ForProvider.OnInconclusive == deploymentv1alpha1.InconclusiveHold:
		return rolloutv1alpha1.GateInconclusive
	case c.isInconclusive:
		return rolloutv1alpha1.GateError
	case isReleased:
		return rolloutv1alpha1.GatePassed
	}
	return ""
}

// showVerdict sets the verdict of a Gate in its conditions.
func showVerdict(g *rolloutv1alpha1.Gate) {
	reasons := map[rolloutv1alpha1.GateVerdict]xpv2.ConditionReason{
		"": rolloutv1alpha1.ReasonWatching, rolloutv1alpha1.GateFailed: rolloutv1alpha1.ReasonFailed,
		rolloutv1alpha1.GateInconclusive: rolloutv1alpha1.ReasonInconclusive,
		rolloutv1alpha1.GateError:        rolloutv1alpha1.ReasonNoData, rolloutv1alpha1.GatePassed: rolloutv1alpha1.ReasonPassed,
	}
	status := corev1.ConditionFalse
	if g.Status.AtProvider.Verdict == rolloutv1alpha1.GatePassed {
		status = corev1.ConditionTrue
	}
	setReady(g, status, reasons[g.Status.AtProvider.Verdict])
}
