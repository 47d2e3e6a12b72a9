package meter

import (
	"time"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/gates"
)

// nextInOutage is when the host is asked again, or when something else is to be reported of it. It is zero if only an answer can change
// anything.
func (r *run) nextInOutage(now time.Time) time.Time {
	change := r.task.Outages.NextChange(r.outage, now)
	if r.asking || !change.IsZero() && change.Before(r.due) {
		return change
	}
	return r.due
}

// recordOutage records that the host did not answer. The clock of the subject stands still, and the host is asked again after a while.
func (r *run) recordOutage(a gates.Answer, begun, now time.Time) gates.Measurement {
	r.resumeWithData(begun)
	if r.stopped.IsZero() {
		r.stopped, r.outage = begun, gates.Outage{Since: begun}
	}
	if !r.known.IsZero() {
		r.outage.Since, r.known = r.known, time.Time{}
	}
	if !oneline.DiffersInSerialsOnly(r.outage.Problem, a.Problem) {
		r.outage.Problem = a.Problem
	}
	r.outage.Questions++
	r.due = nextQuestionSlot(r.task.Question.Key(0), r.outage.RetryAfter(), now)
	return gates.Measurement{Outcome: gates.Missed, Message: r.outage.Problem}
}

// resumeAfterLostQuestion lets the clock go on, without the time from the lost question to the answer. The samples in between are in the window of the answer,
// which counts.
func (r *run) resumeAfterLostQuestion(now time.Time) {
	if !r.stopped.IsZero() {
		r.waited += now.Sub(r.stopped)
		r.outage, r.stopped = gates.Outage{}, time.Time{}
	}
}

// resumeAfterOutage goes on after an outage. The first answer only shows that it is over, since the window of its query may reach into the outage; the next answer
// counts. Until then the clock stands still.
func (r *run) resumeAfterOutage(now time.Time) gates.Measurement {
	r.back = now
	r.due = nextMeasurement(r.task, now.Add(r.task.Lead))
	r.waited += r.due.Sub(r.stopped)
	r.outage, r.stopped = gates.Outage{}, time.Time{}
	return gates.Measurement{Outcome: gates.Early}
}
