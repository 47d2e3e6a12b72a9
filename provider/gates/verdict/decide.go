package verdict

import (
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/instant"
)

const (
	// MaxExplained bounds the explanation of a check, so that a condition has room for several checks.
	MaxExplained = maxMessage / maxNamed

	// maxNamed is the number of checks that a condition names.
	maxNamed = 5

	// maxMessage is the length of a check's message at most.
	maxMessage = 1024
)

// A Decision is the result of the facts.
type Decision struct {
	// Next is the desired status.
	Next v1alpha1.GateObservation
	// Reason of the Ready condition, which is true with ReasonPassed only, and its message.
	Reason  xpv2.ConditionReason
	Message string
}

// Decide decides the status: the same facts give the same decision. A verdict is final.
func Decide(f Facts) Decision {
	if c := f.Spec.ClaimRef; c.Namespace != f.Namespace {
		message := fmt.Sprintf("spec.forProvider.claimRef.namespace: %q is not the namespace of the Gate", c.Namespace)
		return Decision{Next: f.Last, Reason: v1alpha1.ReasonPolicyDenied, Message: message}
	}
	d := Decision{Next: *f.Last.DeepCopy()}
	if d.Next.Verdict == "" {
		d.Next = f.judgeChecks()
	}
	d.explainReady(f)
	return d
}

func (f Facts) judgeChecks() v1alpha1.GateObservation {
	next := v1alpha1.GateObservation{Position: f.Spec.Position.DeepCopy(), StartedAt: f.Last.StartedAt.DeepCopy()}
	for i := range f.Spec.Checks {
		r := f.resultOfCheck(i)
		if next.StartedAt == nil {
			next.StartedAt = r.StartedAt.DeepCopy()
		}
		next.Checks = append(next.Checks, r)
	}
	if next.Verdict = gates.Verdict(next.Checks); next.Verdict != "" {
		next.EndedAt = instant.Timestamp(f.Now)
	}
	return next
}

// resultOfCheck returns the result of one check. An ended check keeps its result, and a check whose subject is not live waits.
func (f Facts) resultOfCheck(i int) v1alpha1.CheckResult {
	r, c := f.LastResult(i), f.Checks[i]
	if gates.Ended(r.Phase) {
		return r
	}
	if r.UnavailableSince, r.Message = nil, ""; c.LiveSince.IsZero() {
		return r
	}
	if r.StartedAt == nil {
		r.StartedAt = instant.Timestamp(f.Now)
	}
	r.JobRef = c.Job.DeepCopy()
	if !c.CountsFrom.IsZero() {
		r.CountsFrom = instant.Timestamp(c.CountsFrom)
	}
	if c.IsObserved && r.ObservedAt == nil {
		r.ObservedAt = instant.Timestamp(f.Now)
	}
	j := c.Judgement
	if c.Impossible != "" {
		j = gates.Judgement{Phase: v1alpha1.CheckError, Message: c.Impossible}
	}
	if j.IsCounted && r.CountedAt == nil {
		r.CountedAt = instant.Timestamp(f.Now)
	}
	if r.Phase = v1alpha1.CheckRunning; !j.Ended() {
		return describeWait(r, j)
	}
	r.Phase, r.Value, r.Measurements, r.Recent = j.Phase, j.Value, int32(j.Count), j.Recent //nolint:gosec // It is bounded by the limits of the check.
	r.Message, r.EndedAt = oneline.Cut(j.Message, maxMessage), instant.Timestamp(f.Now)
	return r
}

// describeWait describes the wait of a running check: for data, for another pod, or for its metrics backend, and since when that does not answer.
func describeWait(r v1alpha1.CheckResult, j gates.Judgement) v1alpha1.CheckResult {
	if j.Availability != gates.Available {
		r.Message = oneline.Cut(j.Message, maxMessage)
	}
	if !j.UnavailableSince.IsZero() {
		r.UnavailableSince = instant.Timestamp(j.UnavailableSince)
	}
	return r
}

// explainReady sets reason and message of the Ready condition.
func (d *Decision) explainReady(f Facts) {
	switch {
	case d.Next.Verdict == v1alpha1.GatePassed:
		d.Reason = v1alpha1.ReasonPassed
	case d.Next.Verdict != "":
		d.Reason = xpv2.ConditionReason(d.Next.Verdict)
		d.Message = describeChecks(d.Next.Checks, func(c v1alpha1.CheckResult) bool { return gates.Ended(c.Phase) && c.Phase != v1alpha1.CheckPassed })
	case d.Next.StartedAt == nil:
		d.Reason, d.Message = v1alpha1.ReasonNotLive, "no Site of the checks is proven to run the revision"
	default:
		d.Reason = f.availabilityReason()
		d.Message = describeChecks(d.Next.Checks, func(c v1alpha1.CheckResult) bool { return !gates.Ended(c.Phase) && c.Message != "" })
		if d.Reason == v1alpha1.ReasonMeasuring && areChecksCounted(d.Next.Checks) {
			d.Reason, d.Message = v1alpha1.ReasonWatching, "the checks have their count, and are measured on until the step is released"
		}
		if d.Reason == v1alpha1.ReasonMeasuring && d.Message == "" {
			// When they began is status.atProvider.startedAt.
			d.Message = fmt.Sprintf("the checks end at most %s after their Sites went live, without the time in which nothing can be measured", f.Longest)
		}
	}
}

// areChecksCounted is true if each running check has its count.
func areChecksCounted(checks []v1alpha1.CheckResult) bool {
	return !slices.ContainsFunc(checks, func(c v1alpha1.CheckResult) bool { return !gates.Ended(c.Phase) && c.CountedAt == nil })
}

// availabilityReason is the reason of a Gate whose checks go on: one of them has no data, or an unavailable metrics backend, or the Gate is held for it.
func (f Facts) availabilityReason() xpv2.ConditionReason {
	worst := gates.Available
	for _, c := range f.Checks {
		if !c.LiveSince.IsZero() {
			worst = max(worst, c.Judgement.Availability)
		}
	}
	return map[gates.Availability]xpv2.ConditionReason{
		gates.Available: v1alpha1.ReasonMeasuring, gates.Interrupted: v1alpha1.ReasonMeasuring, gates.WithoutData: v1alpha1.ReasonNoData,
		gates.Unavailable: v1alpha1.ReasonMetricsUnavailable, gates.Held: v1alpha1.ReasonHeld,
	}[worst]
}

// describeChecks lists checks, in the order of the spec.
func describeChecks(checks []v1alpha1.CheckResult, selected func(v1alpha1.CheckResult) bool) string {
	out := []string{}
	for _, c := range checks {
		if selected(c) {
			out = append(out, fmt.Sprintf("check %q at Site %q: %s", c.Name, c.Site, describeCheck(c)))
		}
	}
	if remaining := len(out) - maxNamed; remaining > 0 {
		out = append(out[:maxNamed], fmt.Sprintf("and %d more", remaining))
	}
	return strings.Join(out, "; ")
}

func describeCheck(c v1alpha1.CheckResult) string {
	if c.Message != "" && !gates.Ended(c.Phase) {
		return c.Message
	}
	if c.Message == "" || len(c.Message) > MaxExplained {
		return string(c.Phase)
	}
	return string(c.Phase) + ", " + c.Message
}
