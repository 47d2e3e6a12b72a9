package gates

import (
	"cmp"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	// minOutage is how long an outage lasts before it is reported: a single question without an answer is repeated first.
	minOutage = 10 * time.Second

	// firstRetry and slowestRetry bound how long it takes until a backend that did not answer is asked again.
	firstRetry   = 5 * time.Second
	slowestRetry = time.Minute

	// rejectingQuestions is how many questions in a row have to be without an answer before an outage can end a check. Since may be of an
	// earlier process, so that its age alone proves nothing.
	rejectingQuestions = 2

	// maxLostQuestion is how long a single lost question may take, with the time until the next question is asked: a question without an answer ends
	// after 10 seconds, and is repeated within firstRetry, unless it waits for its turn.
	maxLostQuestion = 30 * time.Second

	// maxDoublings is how often the time between two questions is doubled before it exceeds slowestRetry.
	maxDoublings = 4
)

const messageUnavailableTooLong = "the metrics backend was unavailable for longer than metricsUnavailableTimeout: "

// An Outage is a time without interruption in which the backend of a check could not be asked. The zero Outage means that the backend answers.
type Outage struct {
	// Since is when the first question without an answer was asked.
	Since time.Time

	// Problem says in stable words why the question was not answered.
	Problem string

	// Questions that had no answer. Questions of an earlier process do not count.
	Questions int
}

// IsLostQuestion reports whether a single question had no answer before the question of this time was answered. Such an interruption is too short to leave a
// hole in the samples of the answer, so that the answer counts.
func (o Outage) IsLostQuestion(questionTime time.Time) bool {
	return o.Questions == 1 && questionTime.Sub(o.Since) <= maxLostQuestion
}

// RetryAfter is for how long nothing is asked after the last question: it doubles with each question, up to a minute.
func (o Outage) RetryAfter() time.Duration {
	if o.Questions > maxDoublings {
		return slowestRetry
	}
	return min(firstRetry<<max(o.Questions-1, 0), slowestRetry)
}

// An OutagePolicy selects the effect of an outage on a check. The zero OutagePolicy holds the check at once.
type OutagePolicy struct {
	// Timeout is how long an outage may last.
	Timeout time.Duration

	// Reject ends a check whose outage lasts longer. Otherwise the check waits.
	Reject bool
}

// OutagePolicyOf a Gate. It returns an error that names the field for a timeout out of bounds.
func OutagePolicyOf(p v1alpha1.GateParameters) (OutagePolicy, error) {
	text := cmp.Or(p.MetricsUnavailableTimeout, deploymentv1alpha1.DefaultMetricsUnavailableTimeout)
	d, err := time.ParseDuration(string(text))
	if err != nil || d < minInterval || d > maxDuration {
		return OutagePolicy{}, errors.Errorf("metricsUnavailableTimeout: %q is not between %s and %s", text, minInterval, maxDuration)
	}
	return OutagePolicy{Timeout: d, Reject: p.OnMetricsUnavailable == deploymentv1alpha1.MetricsUnavailableReject}, nil
}

// Availability is the reported availability of the backend of a check.
type Availability int

// Availabilities, from good to bad.
const (
	// Available means that the backend answers, or was not asked.
	Available Availability = iota

	// Interrupted means that the infrastructure ended the pod of the check, or that the cluster of the pod does not answer, and that the check goes on later.
	Interrupted

	// WithoutData means that the backend answers without data, and that the check waits until there is some.
	WithoutData

	// Unavailable means that an outage goes on.
	Unavailable

	// Held means that an outage has lasted longer than it may, and that the check waits.
	Held
)

// Judge a check during an outage. Earlier measurements do not change: the check runs on, unless the policy ends it.
func (p OutagePolicy) Judge(j Judgement, o Outage, now time.Time) Judgement {
	if o.Since.IsZero() || j.Ended() {
		return j
	}
	lasts := now.Sub(o.Since)
	if lasts >= p.Timeout && p.Reject && o.Questions >= rejectingQuestions {
		j.Phase, j.Message = v1alpha1.CheckError, messageUnavailableTooLong+o.Problem
		return j
	}
	if lasts < minOutage && lasts < p.Timeout {
		return j
	}
	j.Availability, j.UnavailableSince, j.Message = Unavailable, o.Since, o.Problem
	if lasts >= p.Timeout && !p.Reject {
		j.Availability = Held
	}
	return j
}

// NextChange is when Judge has something new to say of an outage. It is zero when it has not.
func (p OutagePolicy) NextChange(o Outage, now time.Time) time.Time {
	for _, delay := range []time.Duration{min(minOutage, p.Timeout), p.Timeout} {
		if change := o.Since.Add(delay); !o.Since.IsZero() && change.After(now) {
			return change
		}
	}
	return time.Time{}
}
