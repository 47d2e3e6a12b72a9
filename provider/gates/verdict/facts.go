// Package verdict decides from the measurements of a Gate's checks which of them ended, and on the verdict of the Gate. It has the evidence that the Sites of
// the checks run the judged revision. Pure: the controller gathers the facts, and writes the decision into the status.
package verdict

import (
	"time"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/instant"
)

// Facts are the whole input of a decision. The gatherer decides nothing, and the decision reads nothing else.
type Facts struct {
	// Namespace of the Gate.
	Namespace string
	// Spec of the Gate.
	Spec v1alpha1.GateParameters
	// Last is the last observation.
	Last v1alpha1.GateObservation
	// Now is the time of the decision.
	Now time.Time
	// Longest is the duration of the longest check at most from the time that its Site went live, while its clock does not stand still.
	Longest time.Duration
	// PauseEnd is the time when the pause of the judged step ends. Zero if none ends by time.
	PauseEnd time.Time
	// Checks in the order of the spec.
	Checks []CheckFacts
}

// CheckFacts are the observed state of one check.
type CheckFacts struct {
	// LiveSince is the time since when the check's Site is proven to run the judged revision. Zero if it is not.
	LiveSince time.Time
	// Impossible is the reason why the check can never be measured.
	Impossible string
	// Job is the Job that the check runs as, of which the UID is known, or the digest of its nonce. Nil if it runs as none.
	Job *v1alpha1.CheckJobReference
	// RetryAt is the time when another Job may run the check. Zero unless the infrastructure ended the pod of the last Job, or the Job was removed.
	RetryAt time.Time
	// CountsFrom is the time from which the timeout counts of a check that observes pods. Zero if that is when its Site went live, and for other checks.
	CountsFrom time.Time
	// IsObserved is true once the pods of a check that observes them were observed. False for other checks.
	IsObserved bool
	// Judgement on the measurements.
	Judgement gates.Judgement
	// Next is the time of the next observation of a check that no event wakes. Zero if an event does.
	Next time.Time
}

// OpenChecks returns the checks that have not ended.
func (f Facts) OpenChecks() []v1alpha1.GateCheck {
	var out []v1alpha1.GateCheck
	for i, c := range f.Spec.Checks {
		if !gates.Ended(f.LastResult(i).Phase) {
			out = append(out, c)
		}
	}
	return out
}

// LastResult returns the last result of a check.
func (f Facts) LastResult(i int) v1alpha1.CheckResult {
	want := f.Spec.Checks[i]
	out := v1alpha1.CheckResult{Name: want.Name, Site: want.Site, Phase: v1alpha1.CheckPending, Threshold: string(want.Threshold)}
	if i < len(f.Last.Checks) {
		if recorded := f.Last.Checks[i]; recorded.Name == want.Name && recorded.Site == want.Site {
			return *recorded.DeepCopy()
		}
	}
	return out
}

// UnavailableSince is the time since when the metrics backend of a check is unavailable, by the last observation. Zero if it was not.
func (f Facts) UnavailableSince(i int) time.Time {
	if start := f.LastResult(i).UnavailableSince; start != nil {
		return start.Time
	}
	return time.Time{}
}

// StartOfCheck is the time when a check began, or begins now.
func (f Facts) StartOfCheck(i int) time.Time {
	if start := f.LastResult(i).StartedAt; start != nil {
		return start.Time
	}
	return instant.Timestamp(f.Now).Time
}
