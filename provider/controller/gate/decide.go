package gate

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
	// maxNamed is how many checks a condition names.
	maxNamed = 5

	// maxMessage is how long the message of a check may be.
	maxMessage = 1024
)

// A decision is the result of the facts.
type decision struct {
	// next is the desired status.
	next v1alpha1.GateObservation
	// reason of the Ready condition, which is true with ReasonPassed only.
	reason  xpv2.ConditionReason
	message string
}

// decideStatus decides the status. It is pure: the same facts give the same decision. A verdict is final.
func decideStatus(f facts) decision {
	if c := f.spec.ClaimRef; c.Namespace != f.namespace {
		message := fmt.Sprintf("spec.forProvider.claimRef.namespace: %q is not the namespace of the Gate", c.Namespace)
		return decision{next: f.before, reason: v1alpha1.ReasonPolicyDenied, message: message}
	}
	d := decision{next: *f.before.DeepCopy()}
	if d.next.Verdict == "" {
		d.next = f.judgeChecks()
	}
	d.explainReady(f)
	return d
}

func (f facts) judgeChecks() v1alpha1.GateObservation {
	next := v1alpha1.GateObservation{Position: f.spec.Position.DeepCopy(), StartedAt: f.before.StartedAt.DeepCopy()}
	for i := range f.spec.Checks {
		r := f.resultOfCheck(i)
		if next.StartedAt == nil {
			next.StartedAt = r.StartedAt.DeepCopy()
		}
		next.Checks = append(next.Checks, r)
	}
	if next.Verdict = gates.Verdict(next.Checks); next.Verdict != "" {
		next.EndedAt = instant.Timestamp(f.now)
	}
	return next
}

// resultOfCheck returns the result of one check. An ended check keeps its result, and a check whose subject is not live waits.
func (f facts) resultOfCheck(i int) v1alpha1.CheckResult {
	r, c := f.lastResult(i), f.checks[i]
	if gates.Ended(r.Phase) {
		return r
	}
	if r.UnavailableSince, r.Message = nil, ""; c.liveSince.IsZero() {
		return r
	}
	if r.StartedAt == nil {
		r.StartedAt = instant.Timestamp(f.now)
	}
	r.JobRef = c.job.DeepCopy()
	if !c.countsFrom.IsZero() {
		r.CountsFrom = instant.Timestamp(c.countsFrom)
	}
	if c.isObserved && r.ObservedAt == nil {
		r.ObservedAt = instant.Timestamp(f.now)
	}
	j := c.judgement
	if c.impossible != "" {
		j = gates.Judgement{Phase: v1alpha1.CheckError, Message: c.impossible}
	}
	if j.IsCounted && r.CountedAt == nil {
		r.CountedAt = instant.Timestamp(f.now)
	}
	if r.Phase = v1alpha1.CheckRunning; !j.Ended() {
		return describeWait(r, j)
	}
	r.Phase, r.Value, r.Measurements, r.Recent = j.Phase, j.Value, int32(j.Count), j.Recent //nolint:gosec // It is bounded by the limits of the check.
	r.Message, r.EndedAt = oneline.Cut(j.Message, maxMessage), instant.Timestamp(f.now)
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
func (d *decision) explainReady(f facts) {
	switch {
	case d.next.Verdict == v1alpha1.GatePassed:
		d.reason = v1alpha1.ReasonPassed
	case d.next.Verdict != "":
		d.reason = xpv2.ConditionReason(d.next.Verdict)
		d.message = describeChecks(d.next.Checks, func(c v1alpha1.CheckResult) bool { return gates.Ended(c.Phase) && c.Phase != v1alpha1.CheckPassed })
	case d.next.StartedAt == nil:
		d.reason, d.message = v1alpha1.ReasonNotLive, "no Site of the checks is proven to run the revision"
	default:
		d.reason = f.availabilityReason()
		d.message = describeChecks(d.next.Checks, func(c v1alpha1.CheckResult) bool { return !gates.Ended(c.Phase) && c.Message != "" })
		if d.reason == v1alpha1.ReasonMeasuring && isWatching(d.next.Checks) {
			d.reason, d.message = v1alpha1.ReasonWatching, "the checks have their count, and are measured on until the step is released"
		}
		if d.reason == v1alpha1.ReasonMeasuring && d.message == "" {
			// When they began is status.atProvider.startedAt.
			d.message = fmt.Sprintf("the checks end at most %s after their Sites went live, without the time in which nothing can be measured", f.longest)
		}
	}
}

// isWatching is true if each running check has its count.
func isWatching(checks []v1alpha1.CheckResult) bool {
	return !slices.ContainsFunc(checks, func(c v1alpha1.CheckResult) bool { return !gates.Ended(c.Phase) && c.CountedAt == nil })
}

// availabilityReason is the reason that says whether a check that goes on has no data, or an unavailable metrics backend, and whether that holds the
// Gate.
func (f facts) availabilityReason() xpv2.ConditionReason {
	worst := gates.Available
	for _, c := range f.checks {
		if !c.liveSince.IsZero() {
			worst = max(worst, c.judgement.Availability)
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
	if c.Message == "" || len(c.Message) > maxMessage/maxNamed {
		return string(c.Phase)
	}
	return string(c.Phase) + ", " + c.Message
}
