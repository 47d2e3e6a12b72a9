package gate

import (
	"time"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

// facts are the whole input of a decision. gatherFacts decides nothing, and the decision reads nothing else.
type facts struct {
	// namespace of the Gate.
	namespace string
	spec      v1alpha1.GateParameters
	// before is the last observation.
	before v1alpha1.GateObservation
	now    time.Time
	// longest is how long the longest check takes at most from the time that its Site went live, while its clock does not stand still.
	longest time.Duration
	// pauseEnd is when the pause of the judged step ends by time. Zero if none does.
	pauseEnd time.Time
	// checks in the order of the spec.
	checks []checkFacts
}

// A checkFacts is the observed state of one check.
type checkFacts struct {
	// liveSince is since when the check's Site is proven to run the judged revision. Zero if it is not.
	liveSince time.Time
	// impossible says why the check can never be measured.
	impossible string
	// job is the Job that the check runs as, of which the UID is known, or the digest of its nonce. Nil if there is none.
	job *v1alpha1.CheckJobReference
	// retryAt is when another Job may run the check. Zero unless the infrastructure ended the pod of the last Job, or the Job was removed.
	retryAt time.Time
	// countsFrom is from when on the timeout counts of a check that observes pods. Zero if that is when its Site went live, and for other checks.
	countsFrom time.Time
	// isObserved is true once the pods of a check that observes them were observed. False for other checks.
	isObserved bool
	// judgement on the measurements.
	judgement gates.Judgement
	// next is when to look again at a check that no event wakes. Zero if an event does.
	next time.Time
}

// isReleasedSoon is true where the pause of the judged step ends before a deferred status of the Gate would be written on its own.
func (f facts) isReleasedSoon() bool {
	return !f.pauseEnd.IsZero() && f.pauseEnd.Before(f.now.Add(deferPeriod))
}

// openChecks returns the checks that have not ended.
func (f facts) openChecks() []v1alpha1.GateCheck {
	var out []v1alpha1.GateCheck
	for i, c := range f.spec.Checks {
		if !gates.Ended(f.lastResult(i).Phase) {
			out = append(out, c)
		}
	}
	return out
}

// lastResult returns the last result of a check.
func (f facts) lastResult(i int) v1alpha1.CheckResult {
	want := f.spec.Checks[i]
	out := v1alpha1.CheckResult{Name: want.Name, Site: want.Site, Phase: v1alpha1.CheckPending, Threshold: string(want.Threshold)}
	if i < len(f.before.Checks) {
		if recorded := f.before.Checks[i]; recorded.Name == want.Name && recorded.Site == want.Site {
			return *recorded.DeepCopy()
		}
	}
	return out
}
