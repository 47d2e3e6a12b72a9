package meter

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/shares"
)

// A run is the measurements of one check.
type run struct {
	owner types.NamespacedName
	task  Task
	tally gates.Tally

	// recent are the last measurements, also measurements of an earlier episode. They are for users.
	recent []v1alpha1.Measurement

	// since is when this run of measurements began, and spent how long earlier runs were measurable.
	since time.Time
	spent time.Duration

	// episode changes whenever the subject stops being live.
	episode int

	// due is when the next measurement is, and asking is true while one is under way.
	due    time.Time
	asking bool

	// waits is the question that waits for its turn, if one does, and queued since when; waited is how long others did. That time is not the
	// subject's.
	waits  *group
	queued time.Time
	waited time.Duration

	// outage of the host. The subject cannot be measured since stopped, so that its clock stands still; zero while it can. The host answers
	// again since back, if there was an outage before. Known is since when there was one before this run.
	outage  gates.Outage
	stopped time.Time
	back    time.Time
	known   time.Time

	// dry is since when the check waits for data, so that its clock stands still. It is zero while there is data, and during an outage.
	dry time.Time

	// reportedEnd is true while the owner was last woken because the check ended, and reported is the availability of the host that it was woken for.
	reportedEnd bool
	reported    gates.Availability

	// reportedCount is true while the owner knows that the check has its count.
	reportedCount bool

	// next is when something is due for the run, and place its place on the agenda. Both are zero if nothing is. A dropped run belongs to no Gate any more.
	next    time.Time
	place   int
	dropped bool
}

// A group is one question, and the runs that wait for its answer.
type group struct {
	question Question
	host     string
	live     time.Duration
	members  []member

	// wanted is the number of members that still wait for the answer, and place the place that the question occupies while it is under way.
	wanted int
	place  shares.Place
}

// memberNamespaces returns the namespaces of the runs that wait for the answer.
func (g *group) memberNamespaces() []string {
	out := make([]string, 0, len(g.members))
	for _, j := range g.members {
		out = append(out, j.run.owner.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// askOrRecover asks the question. A panic is an answer with a problem: the bytes of a server may have caused it, and its Gates have to go on.
func (g *group) askOrRecover(ctx context.Context) gates.Answer {
	var a gates.Answer
	err := panics.Recover("ask for a measurement", func() error {
		a = g.question.Ask(ctx, g.live)
		return nil
	})
	if err != nil {
		return gates.Answer{Problem: "the measurement " + err.Error()}
	}
	return a
}

// stopClocks stops the clocks of the members while they wait for their turn.
func (g *group) stopClocks(now time.Time) {
	g.wanted = len(g.members)
	for _, j := range g.members {
		j.run.waits, j.run.queued = g, now
	}
}

// startClocks starts the clocks of the members that wait for the question, which is asked now.
func (g *group) startClocks(now time.Time) {
	for _, j := range g.members {
		if j.run.waits == g {
			j.run.startClock(now)
		}
	}
}

// A member is a run as it was when it asked, with its own form of the group's question.
type member struct {
	run      *run
	question Question
	episode  int
}

// occupyPlace gives the group its place, and the question of the namespace that pays for it.
func (g *group) occupyPlace(place shares.Place) {
	g.place = place
	for _, j := range g.members {
		if j.run.owner.Namespace == place.Namespace {
			g.question = j.question
			return
		}
	}
}

// updateRunTask takes over the task as it is now. A subject that stopped being live is measured from the start once it is live again.
func (r *run) updateRunTask(t Task, now time.Time) {
	previous := r.task
	r.task = t
	if previous.LiveSince.Equal(t.LiveSince) {
		return
	}
	r.spent = r.measurableTime(now, previous)
	r.tally, r.since, r.asking, r.reportedEnd, r.waited = gates.Tally{}, time.Time{}, false, false, 0
	r.outage, r.stopped, r.back, r.dry = gates.Outage{}, time.Time{}, time.Time{}, time.Time{}
	r.episode++
	if t.LiveSince.IsZero() {
		r.known = time.Time{}
		return
	}
	r.since = now
	r.due = r.firstMeasurement(t)
}

// startClock ends the wait to be asked. During an outage, and while the host has no data, the clock stands still anyway.
func (r *run) startClock(now time.Time) {
	if r.stopped.IsZero() && r.dry.IsZero() {
		r.waited += now.Sub(r.queued)
	}
	r.waits, r.queued = nil, time.Time{}
}

// firstMeasurement is when a task is measured first: on its grid, and not before its subject has been live for long enough.
func (r *run) firstMeasurement(t Task) time.Time {
	earliest := t.LiveSince.Add(max(t.Lead, t.Rules.InitialDelay))
	if earliest.Before(r.since) {
		earliest = r.since
	}
	return nextMeasurement(t, earliest.Add(-time.Nanosecond))
}

// nextMeasurement is where a task is measured next. How long the subject is live changes the question, and must not change its place.
func nextMeasurement(t Task, earliest time.Time) time.Time {
	return nextQuestionSlot(t.Question.Key(0), t.Rules.Interval, earliest)
}

// countsSince is from when on time counts: from the first measurement, since a user cannot choose where that lies on the grid. A run that was
// measured before has no time to wait for it again.
func (r *run) countsSince(t Task) time.Time {
	if r.spent > 0 {
		return r.since
	}
	return r.firstMeasurement(t)
}

// measurableTime is for how long a subject could be measured: from when it first was, and only while it is live and no other question is asked
// instead.
func (r *run) measurableTime(now time.Time, t Task) time.Duration {
	if r.since.IsZero() {
		return r.spent
	}
	waited := r.waited
	switch {
	case !r.stopped.IsZero():
		now = r.stopped
	case !r.dry.IsZero():
		now = r.dry
	case r.waits != nil:
		waited += now.Sub(r.queued)
	}
	return r.spent + max(now.Sub(r.countsSince(t))-waited, 0)
}

func (r *run) currentJudgement(now time.Time) gates.Judgement {
	return r.task.Outages.Judge(gates.Judge(r.task.Rules, r.tally, r.measurableTime(now, r.task)), r.outage, now)
}

// mustWakeOwner reports whether a judgement has to wake the owner: the check has ended, or the availability of its host changed.
func (r *run) mustWakeOwner(j gates.Judgement) bool {
	if r.reportedEnd || !j.Ended() && j.Availability == r.reported && j.IsCounted == r.reportedCount {
		return false
	}
	r.recordReported(j)
	return true
}

// recordReported records the judgement that the owner knows. An answer that was under way, and other rules, can let a check go on that had
// ended: it is idle only as long as its owner knows that it has ended.
func (r *run) recordReported(j gates.Judgement) {
	r.reportedEnd, r.reported, r.reportedCount = j.Ended(), j.Availability, j.IsCounted
}

// hasNothingDue is true for a run that nothing is due for.
func (r *run) hasNothingDue() bool { return r.since.IsZero() || r.reportedEnd }

// nextRunChange is when a run has to be looked at again: to be measured, or since its time is over. It is zero for a run that waits for its turn, and for a run
// without a timeout that waits for an answer.
func (r *run) nextRunChange(now time.Time) time.Time {
	if !r.stopped.IsZero() {
		return r.nextInOutage(now)
	}
	hasNoEnd := !r.dry.IsZero() || r.task.Rules.IsWatching(r.tally)
	if r.waits != nil || r.asking && hasNoEnd {
		return time.Time{}
	}
	if hasNoEnd {
		return r.due
	}
	end := r.countsSince(r.task).Add(r.task.Rules.Timeout - r.spent + r.waited)
	if r.asking || end.Before(r.due) {
		return end
	}
	return r.due
}

// joinQuestionGroup adds a run to the group of runs with the same question.
func (r *run) joinQuestionGroup(groups map[string]*group, now time.Time) {
	if r.asking {
		return
	}
	r.asking = true
	live := now.Sub(r.measurableSince())
	key := fmt.Sprintf("%s\n%s", r.task.Host, r.task.Question.Key(live))
	g := groups[key]
	if g == nil {
		g = &group{question: r.task.Question, host: r.task.Host, live: live}
		groups[key] = g
	}
	g.live = min(g.live, live)
	g.members = append(g.members, member{run: r, question: r.task.Question, episode: r.episode})
}

// measurableSince is when the subject went live, or when its host answered again: samples before that time are incomplete.
func (r *run) measurableSince() time.Time {
	if r.back.After(r.task.LiveSince) {
		return r.back
	}
	return r.task.LiveSince
}

// recordAnswer records the answer to a question that was begun at some time, and returns the measurement with how it counts.
func (r *run) recordAnswer(a gates.Answer, begun, now time.Time) gates.Measurement {
	r.asking = false
	if a = r.tally.RequireNew(a); a.Unavailable {
		return r.recordOutage(a, begun, now)
	}
	r.known = time.Time{}
	if !r.stopped.IsZero() && !r.outage.IsLostQuestion(begun) {
		return r.resumeAfterOutage(now)
	}
	r.resumeAfterLostQuestion(now)
	r.due = nextMeasurement(r.task, now)
	m := r.task.Criteria.Measure(a)
	if r.currentJudgement(now).Ended() {
		return m // It came too late.
	}
	if r.tally = r.tally.Add(m); m.Outcome == gates.Waiting {
		r.stopForData(now)
		return m
	}
	r.resumeWithData(now)
	return m
}

// recordMeasurement adds a measurement to the recent measurements.
func (r *run) recordMeasurement(m gates.Measurement, now time.Time) {
	r.recent = append(r.recent, v1alpha1.Measurement{At: metav1.NewTime(now.Truncate(time.Second)), Outcome: string(m.Outcome), Value: m.Value})
	r.recent = r.recent[max(0, len(r.recent)-v1alpha1.MaxRecent):]
}

// stopForData stops the clock until there is data.
func (r *run) stopForData(now time.Time) {
	if r.dry.IsZero() {
		r.dry = now
	}
}

// resumeWithData lets the clock go on, without the time in which there was no data.
func (r *run) resumeWithData(now time.Time) {
	if !r.dry.IsZero() {
		r.waited, r.dry = r.waited+now.Sub(r.dry), time.Time{}
	}
}
