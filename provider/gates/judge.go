package gates

import (
	"time"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Messages of a judgement.
const (
	messageTimedOut     = "the check did not end within its timeout"
	messageNothing      = "no measurement was conclusive"
	messageInconclusive = "more measurements were inconclusive than inconclusiveLimit allows"
	messageStandstill   = "the server gives an answer of a time that it has given before"
	messageWaiting      = "it waits for data, since its query gives none, as without requests to the service"
)

// A Tally counts the measurements of one check, for as long as its subject stays live. The zero Tally has no measurements.
type Tally struct {
	passed, failed, inconclusive int

	// errors in a row.
	errors int

	// last measurement.
	last Measurement

	// failure is the last measurement that failed, and value the last measured value.
	failure Measurement
	value   string
}

// RequireNew returns an answer that is later than the last measurement, and an outage in the place of any other answer: a cache returned a result from before,
// which says nothing about the subject.
func (t Tally) RequireNew(a Answer) Answer {
	if t.isRepeatedAnswer(a.At) {
		return Answer{Problem: messageStandstill, Unavailable: true}
	}
	return a
}

// isRepeatedAnswer is true for the time of an answer that is not later than the last measurement. An answer without a time is new.
func (t Tally) isRepeatedAnswer(answered time.Time) bool {
	return !answered.IsZero() && !answered.After(t.last.At)
}

// Add returns the tally with one more measurement. A measurement of a repeated answer is left out.
func (t Tally) Add(m Measurement) Tally {
	if t.isRepeatedAnswer(m.At) {
		return t
	}
	if m.At.IsZero() {
		m.At = t.last.At
	}
	if t.last = m; m.Value != "" {
		t.value = m.Value
	}
	switch m.Outcome {
	case Error:
		t.errors++
		return t
	case Pass:
		t.passed++
	case Fail:
		t.failed++
		t.failure = m
	case Inconclusive:
		t.inconclusive++
	case Early, Waiting:
	}
	t.errors = 0
	return t
}

// Count returns the number of measurements that count: passed, failed and inconclusive. Errors do not count.
func (t Tally) Count() int { return t.passed + t.failed + t.inconclusive }

// A Judgement is the state of a check after its measurements.
type Judgement struct {
	// Phase of the check.
	Phase v1alpha1.CheckPhase

	// Value that decided.
	Value string

	// Message explains a phase that is not Passed.
	Message string

	// Count of measurements.
	Count int

	// Recent measurements of a check that has ended, the oldest first, also measurements that do not count.
	Recent []v1alpha1.Measurement

	// Availability of the backend of a check that runs.
	Availability Availability

	// UnavailableSince is the start of the backend's outage. Zero without an outage.
	UnavailableSince time.Time

	// IsCounted is true if a running check has its count, and would pass.
	IsCounted bool
}

// Ended is true for a judgement that will not change.
func (j Judgement) Ended() bool { return Ended(j.Phase) }

// Ended is true for a phase that will not change.
func Ended(p v1alpha1.CheckPhase) bool {
	return p != "" && p != v1alpha1.CheckPending && p != v1alpha1.CheckRunning
}

// Judge returns the judgement of a tally. The subject has been live and measurable for a duration. Measurements take precedence over the timeout.
func Judge(r Rules, t Tally, measurable time.Duration) Judgement {
	j := Judgement{Phase: v1alpha1.CheckRunning, Value: t.value, Count: t.Count()}
	switch {
	case t.failed > r.FailureLimit:
		return j.endedWithPhase(v1alpha1.CheckFailed, t.failure)
	case t.errors > r.ErrorLimit:
		return j.endedWithPhase(v1alpha1.CheckError, t.last)
	case t.inconclusive > r.InconclusiveLimit:
		return j.endedWithPhase(r.inconclusivePhase(), Measurement{Message: messageInconclusive})
	case r.IsWatching(t):
		j.IsCounted = r.HasCount || t.passed > 0
		return j
	case t.Count() >= r.Count:
		return j.judgeFullTally(r, t)
	case r.HasCount:
		j.Phase = v1alpha1.CheckPassed
		return j
	case measurable >= r.Timeout:
		return j.endedWithPhase(v1alpha1.CheckTimedOut, Measurement{Message: timeoutMessage(t)})
	case t.last.Outcome == Waiting:
		j.Availability, j.Message = WithoutData, messageWaiting
	}
	return j
}

// judgeFullTally judges a tally that has its count. Without a passed measurement the check does not pass.
func (j Judgement) judgeFullTally(r Rules, t Tally) Judgement {
	switch {
	case t.passed > 0 || r.HasCount:
		j.Phase = v1alpha1.CheckPassed
		return j
	case t.failed > 0:
		return j.endedWithPhase(v1alpha1.CheckFailed, t.failure)
	}
	return j.endedWithPhase(r.inconclusivePhase(), Measurement{Message: messageNothing})
}

// IsWatching reports whether a check has its count, and is still measured until its step is released. Its timeout no longer applies then.
func (r Rules) IsWatching(t Tally) bool {
	return r.GoesOn && (r.HasCount || t.Count() >= r.Count)
}

// inconclusivePhase returns the final phase of a check without a conclusion.
func (r Rules) inconclusivePhase() v1alpha1.CheckPhase {
	if r.HoldsInconclusive {
		return v1alpha1.CheckInconclusive
	}
	return v1alpha1.CheckError
}

func (j Judgement) endedWithPhase(p v1alpha1.CheckPhase, m Measurement) Judgement {
	j.Phase, j.Message = p, m.Message
	if m.Value != "" {
		j.Value = m.Value
	}
	return j
}

func timeoutMessage(t Tally) string {
	if t.last.Message == "" {
		return messageTimedOut
	}
	return messageTimedOut + "; at last: " + t.last.Message
}

// Verdict returns the verdict of a Gate. The gravest phase of an ended check that did not pass is the verdict at once, although other checks may still run.
// Passed and Inconclusive need the end of all checks. The verdict is empty until then.
func Verdict(checks []v1alpha1.CheckResult) v1alpha1.GateVerdict {
	phases := map[v1alpha1.CheckPhase]bool{}
	isRunning := false
	for _, c := range checks {
		phases[c.Phase] = true
		isRunning = isRunning || !Ended(c.Phase)
	}
	for _, p := range []v1alpha1.CheckPhase{v1alpha1.CheckFailed, v1alpha1.CheckError, v1alpha1.CheckTimedOut} {
		if phases[p] {
			return v1alpha1.GateVerdict(p)
		}
	}
	switch {
	case isRunning:
		return ""
	case phases[v1alpha1.CheckInconclusive]:
		return v1alpha1.GateInconclusive
	case len(phases) != 1 || !phases[v1alpha1.CheckPassed]:
		return v1alpha1.GateError // An unknown phase does not pass.
	}
	return v1alpha1.GatePassed
}
