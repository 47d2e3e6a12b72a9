// Package meter measures for all Gates, and asks equal questions once.
//
// Measurements are taken on a grid of time that is the same for equal questions and intervals of all owners, so that two hundred Gates
// with one query cost one query in an interval. They are kept in memory: after a restart a check is measured from its start.
package meter

import (
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/shares"
)

// A Question can be asked again and again, about a subject that has been live for some time.
type Question interface {
	// Key is equal for equal questions.
	Key(live time.Duration) string

	// Ask the question.
	Ask(ctx context.Context, live time.Duration) gates.Answer
}

// An Observer counts measurements. It must not wait.
type Observer interface {
	// Measured is called for each measurement, with the type of its check and how it ended.
	Measured(check, result string, took time.Duration)
}

// A Meter measures. It is safe for concurrent use.
type Meter struct {
	now      func() time.Time
	wake     func(owner types.NamespacedName)
	observer Observer
	changed  chan struct{}

	mu    sync.Mutex
	gates map[types.NamespacedName]*owned
	// agenda has the runs that time changes, and touched the runs that an answer or a task has changed since.
	agenda  agenda
	touched map[*run]struct{}
	// lines are the questions that wait for their servers. Each server has its turn, and at a server each namespace has.
	lines *shares.Queue[*group]
}

// owned are the runs of one Gate.
type owned struct {
	uid  types.UID
	runs map[string]*run
}

// New returns a Meter. Wake is called when a check of an owner has ended, and when its host becomes
// unavailable or answers again. A nil observer counts nothing.
func New(now func() time.Time, wake func(owner types.NamespacedName), o Observer) *Meter {
	if o == nil {
		o = noObserver{}
	}
	return &Meter{
		now: now, wake: wake, observer: o, changed: make(chan struct{}, 1),
		gates: map[types.NamespacedName]*owned{}, touched: map[*run]struct{}{}, lines: newQuestionQueue(),
	}
}

// Measure the checks of a Gate, and no others of it. It returns where each of them stands, in their order, and waits for nothing.
func (m *Meter) Measure(owner types.NamespacedName, uid types.UID, tasks []Task) []gates.Judgement {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.gates[owner]
	if g == nil || g.uid != uid {
		m.forgetOwner(owner)
		g = &owned{uid: uid, runs: map[string]*run{}}
		m.gates[owner] = g
	}
	now, wanted, out := m.now(), map[string]bool{}, make([]gates.Judgement, 0, len(tasks))
	for _, t := range tasks {
		wanted[t.ID] = true
		r := g.runs[t.ID]
		if r == nil {
			r = &run{owner: owner, known: t.UnavailableSince}
			g.runs[t.ID] = r
		}
		m.updateRunTask(r, t, now)
		m.markRunChanged(r)
		j := r.currentJudgement(now)
		r.recordReported(j)
		if j.Ended() {
			j.Recent = slices.Clone(r.recent)
		}
		out = append(out, j)
	}
	for id, r := range g.runs {
		if !wanted[id] {
			m.dropRun(r, now)
			delete(g.runs, id)
		}
	}
	m.signalChange()
	return out
}

// Forget a Gate.
func (m *Meter) Forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetOwner(owner)
}

func (m *Meter) forgetOwner(owner types.NamespacedName) {
	g := m.gates[owner]
	if g == nil {
		return
	}
	for _, r := range g.runs {
		m.dropRun(r, m.now())
	}
	delete(m.gates, owner)
}

// dropRun drops a run for good. An answer that is under way for it changes nothing.
func (m *Meter) dropRun(r *run, now time.Time) {
	m.leaveQueue(r, now)
	m.agenda.removeFromAgenda(r)
	delete(m.touched, r)
	r.dropped = true
}

// markRunChanged lets the next collectDueGroups look at a run, since its state has changed.
func (m *Meter) markRunChanged(r *run) {
	if !r.dropped {
		m.touched[r] = struct{}{}
	}
}

// updateRunTask takes over the task as it is now.
func (m *Meter) updateRunTask(r *run, t Task, now time.Time) {
	if !r.task.LiveSince.Equal(t.LiveSince) {
		m.leaveQueue(r, now)
	}
	r.updateRunTask(t, now)
}

// leaveQueue takes a run out of the queue that it waits in. A question without a waiting run is not asked.
func (m *Meter) leaveQueue(r *run, now time.Time) {
	g := r.waits
	if g == nil {
		return
	}
	r.startClock(now)
	if g.wanted--; g.wanted == 0 {
		m.lines.Drop(g)
		m.signalChange() // Its place is free.
	}
}

func (m *Meter) signalChange() {
	select {
	case m.changed <- struct{}{}:
	default: // It is looked at already.
	}
}

// Start measuring, until the context ends. It returns nil.
func (m *Meter) Start(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.changed:
		case <-timer.C:
		}
		if wait, ok := m.enqueueDueGroups(ctx); ok {
			timer.Reset(wait)
		}
	}
}

// enqueueDueGroups enqueues the due questions, and returns the time until the next due action.
func (m *Meter) enqueueDueGroups(ctx context.Context) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	due, wake, next := m.collectDueGroups(now)
	for _, g := range due {
		m.enqueueGroup(ctx, g, now)
	}
	m.startQueued(ctx, now)
	m.wakeOwners(wake)
	return max(next.Sub(now), 0), !next.IsZero()
}

// collectDueGroups returns the questions that are to be asked now, the owners of checks that time has changed, and when something else is due. It looks at the runs
// that time, an answer or a task has changed, and at no others.
func (m *Meter) collectDueGroups(now time.Time) ([]*group, []types.NamespacedName, time.Time) {
	groups, wake := map[string]*group{}, []types.NamespacedName{}
	for _, r := range m.agenda.takeDueRuns(now) {
		m.markRunChanged(r)
	}
	for r := range m.touched {
		news, next := r.joinGroupIfDue(groups, now)
		if news {
			wake = append(wake, r.owner)
		}
		m.agenda.scheduleRun(r, next)
	}
	clear(m.touched)
	return slices.Collect(maps.Values(groups)), wake, m.agenda.nextDueTime()
}

// joinGroupIfDue lets a run join the group of its question if that is due. It returns whether its owner is to be woken, and when something is due for it next.
func (r *run) joinGroupIfDue(groups map[string]*group, now time.Time) (hasNews bool, next time.Time) {
	if r.hasNothingDue() {
		return false, time.Time{}
	}
	j := r.currentJudgement(now)
	hasNews = r.mustWakeOwner(j)
	if j.Ended() {
		return hasNews, time.Time{}
	}
	if !r.due.After(now) {
		r.joinQuestionGroup(groups, now)
	}
	return hasNews, r.nextRunChange(now)
}

// wakeOwners wakes owners in the background: an owner may hold a lock and wait for the Meter.
func (m *Meter) wakeOwners(owners []types.NamespacedName) {
	if len(owners) == 0 {
		return
	}
	panics.Go("wake Gates", func() {
		for _, o := range owners {
			m.wake(o)
		}
	})
}

// enqueueGroup adds a question to the queue of its host. A question without a host does not wait.
func (m *Meter) enqueueGroup(ctx context.Context, g *group, now time.Time) {
	if g.host == "" {
		panics.Go("measure for Gates", func() { m.askQuestion(ctx, g) })
		return
	}
	g.stopClocks(now)
	m.lines.Add(g, g.host, g.memberNamespaces()...)
}

// startQueued asks the questions that may be asked now.
func (m *Meter) startQueued(ctx context.Context, now time.Time) {
	for g, place, ok := m.lines.Next(); ok; g, place, ok = m.lines.Next() {
		g.occupyPlace(place)
		g.startClocks(now)
		for _, j := range g.members {
			m.markRunChanged(j.run)
		}
		panics.Go("measure for Gates", func() { m.askQuestion(ctx, g) })
		m.signalChange() // From now on the time of its checks counts.
	}
}

// askQuestion asks one question, for all runs that wait for it.
func (m *Meter) askQuestion(ctx context.Context, g *group) {
	begun := m.now()
	a := g.askOrRecover(ctx)
	if ctx.Err() != nil {
		return // We end, and not the server.
	}
	m.deliverAnswer(ctx, g, a, begun)
}

// deliverAnswer gives the answer to all runs that wait for it, and asks the next question. It was asked at the time begun.
func (m *Meter) deliverAnswer(ctx context.Context, g *group, a gates.Answer, begun time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, wake := m.now(), []types.NamespacedName{}
	if g.host != "" {
		m.lines.End(g.place)
		m.startQueued(ctx, now)
	}
	for _, j := range g.members {
		if j.run.episode != j.episode {
			continue // Its subject was not live all the time.
		}
		m.markRunChanged(j.run)
		measurement := j.run.recordAnswer(a, begun, now)
		m.observer.Measured(j.run.task.Type, string(measurement.Outcome), now.Sub(begun))
		j.run.recordMeasurement(measurement, now)
		if j.run.mustWakeOwner(j.run.currentJudgement(now)) {
			wake = append(wake, j.run.owner)
		}
	}
	m.wakeOwners(wake)
	m.signalChange()
}

// nextQuestionSlot is the first time after a given time on the grid of a question and an interval.
func nextQuestionSlot(key string, interval time.Duration, earliest time.Time) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	shift := time.Duration(h.Sum64() % uint64(interval)) //nolint:gosec // An interval is never negative.
	return earliest.Add(-shift).Truncate(interval).Add(interval).Add(shift)
}

// noObserver observes nothing.
type noObserver struct{}

// Measured does nothing.
func (noObserver) Measured(string, string, time.Duration) {}
