package meter

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/gates"
)

// A run is the measurements of one check.
type run struct {
	owner types.NamespacedName
	task  Task
	tally gates.Tally

	// since is when this run of measurements began, and spent how long earlier ones were measurable.
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

	// told is true once the owner knows that the check has ended.
	told bool
}

// A group is one question, and all who want to know.
type group struct {
	question Question
	host     string
	live     time.Duration
	members  []member

	// wanted is how many of the members still wait for it, and namespace whose turn it was.
	wanted    int
	namespace string
}

// namespaces that want to know.
func (g *group) namespaces() []string {
	out := make([]string, 0, len(g.members))
	for _, j := range g.members {
		out = append(out, j.run.owner.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wait for a turn.
func (g *group) wait(now time.Time) {
	g.wanted = len(g.members)
	for _, j := range g.members {
		j.run.waits, j.run.queued = g, now
	}
}

// begin to be asked.
func (g *group) begin(now time.Time) {
	for _, j := range g.members {
		if j.run.waits == g {
			j.run.begin(now)
		}
	}
}

// A member is a run as it was when it asked.
type member struct {
	run     *run
	episode int
}

// follow what is asked for now. A subject that stopped being live is measured anew once it is live again.
func (r *run) follow(t Task, now time.Time) {
	before := r.task
	r.task = t
	if before.LiveSince.Equal(t.LiveSince) {
		return
	}
	r.spent = r.measurable(now, before)
	r.tally, r.since, r.asking, r.told, r.waited = gates.Tally{}, time.Time{}, false, false, 0
	r.episode++
	if t.LiveSince.IsZero() {
		return
	}
	r.since = now
	r.due = r.first(t)
}

// begin to be asked, or give up to wait.
func (r *run) begin(now time.Time) {
	r.waited += now.Sub(r.queued)
	r.waits, r.queued = nil, time.Time{}
}

// first is when a task is measured first: on its grid, and not before its subject has been live for long enough.
func (r *run) first(t Task) time.Time {
	at := t.LiveSince.Add(max(t.Lead, t.Rules.InitialDelay))
	if at.Before(r.since) {
		at = r.since
	}
	return next(t, at.Add(-time.Nanosecond))
}

// next is where a task is measured next. How long the subject is live changes the question, and must not change its place.
func next(t Task, after time.Time) time.Time { return slot(t.Question.Key(0), t.Rules.Interval, after) }

// counts is from when on time does: from the first measurement, since nobody can choose where that lies on the grid. Who was measured before
// has no time to wait for it again.
func (r *run) counts(t Task) time.Time {
	if r.spent > 0 {
		return r.since
	}
	return r.first(t)
}

// measurable is for how long a subject could be measured: from when it first was, and only while it is live and nobody else is asked
// instead.
func (r *run) measurable(now time.Time, t Task) time.Duration {
	if r.since.IsZero() {
		return r.spent
	}
	waited := r.waited
	if r.waits != nil {
		waited += now.Sub(r.queued)
	}
	return r.spent + max(now.Sub(r.counts(t))-waited, 0)
}

func (r *run) judge(now time.Time) gates.Judgement {
	return gates.Judge(r.task.Rules, r.tally, r.measurable(now, r.task))
}

// idle is true for a run that nothing is due for.
func (r *run) idle() bool { return r.since.IsZero() || r.told }

// next is when a run has to be looked at again: to be measured, or since its time is over.
func (r *run) next() time.Time {
	end := r.counts(r.task).Add(r.task.Rules.Timeout - r.spent + r.waited)
	if r.asking || end.Before(r.due) {
		return end
	}
	return r.due
}

// join those who ask the same.
func (r *run) join(groups map[string]*group, now time.Time) {
	if r.asking {
		return
	}
	r.asking = true
	live := now.Sub(r.task.LiveSince)
	key := fmt.Sprintf("%s\n%s", r.task.Host, r.task.Question.Key(live))
	g := groups[key]
	if g == nil {
		g = &group{question: r.task.Question, host: r.task.Host, live: live}
		groups[key] = g
	}
	g.live = min(g.live, live)
	g.members = append(g.members, member{run: r, episode: r.episode})
}

// take an answer, and return what it was.
func (r *run) take(a gates.Answer, now time.Time) gates.Outcome {
	r.asking = false
	r.due = next(r.task, now)
	m := r.task.Criteria.Measure(a)
	if r.judge(now).Ended() {
		return m.Outcome // It came too late.
	}
	r.tally = r.tally.Add(m)
	return m.Outcome
}
