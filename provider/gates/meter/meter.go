// Package meter measures for all Gates, and asks equal questions once.
//
// Measurements are taken on a grid of time that is the same for equal questions and intervals, whoever asks, so that two hundred Gates
// with one query cost one query in an interval. They are kept in memory: after a restart a check is measured anew.
package meter

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/gates"
)

// maxPerHost is how many questions one server is asked at the same time.
const maxPerHost = 8

// A Question can be asked again and again, about a subject that has been live for some time.
type Question interface {
	// Key is equal for equal questions.
	Key(live time.Duration) string

	// Ask the question.
	Ask(ctx context.Context, live time.Duration) gates.Answer
}

// A Task is one check of a Gate that is measured.
type Task struct {
	// ID of the check, for ever.
	ID string

	// Question that is asked. One that is replaced is asked anew from the next time on.
	Question Question

	// Host that is asked.
	Host string

	// Lead is how long the subject has to be live before the first measurement.
	Lead time.Duration

	// Rules and Criteria of the check.
	Rules    gates.Rules
	Criteria gates.Criteria

	// LiveSince is since when the subject is live. Zero stops the clock, and drops what was measured.
	LiveSince time.Time
}

// An Observer is told of each question that was asked, and for how many checks.
type Observer interface {
	// Asked is called once for each question.
	Asked(host string, outcome gates.Outcome, took time.Duration, checks int)
}

// A Meter measures. It is safe for concurrent use.
type Meter struct {
	now      func() time.Time
	wake     func(owner types.NamespacedName)
	observer Observer
	changed  chan struct{}

	mu    sync.Mutex
	gates map[types.NamespacedName]*owned
	hosts map[string]chan struct{}
}

// owned are the runs of one Gate.
type owned struct {
	uid  types.UID
	runs map[string]*run
}

// New returns a Meter. Wake is called when a check of an owner has ended. The observer may be nil.
func New(now func() time.Time, wake func(owner types.NamespacedName), o Observer) *Meter {
	return &Meter{
		now: now, wake: wake, observer: o, changed: make(chan struct{}, 1),
		gates: map[types.NamespacedName]*owned{}, hosts: map[string]chan struct{}{},
	}
}

// Measure the checks of a Gate, and no others of it. It returns where each of them stands, in their order, and waits for nothing.
func (m *Meter) Measure(owner types.NamespacedName, uid types.UID, tasks []Task) []gates.Judgement {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.gates[owner]
	if g == nil || g.uid != uid {
		g = &owned{uid: uid, runs: map[string]*run{}}
		m.gates[owner] = g
	}
	now, wanted, out := m.now(), map[string]bool{}, make([]gates.Judgement, 0, len(tasks))
	for _, t := range tasks {
		wanted[t.ID] = true
		r := g.runs[t.ID]
		if r == nil {
			r = &run{owner: owner}
			g.runs[t.ID] = r
		}
		r.follow(t, now)
		out = append(out, r.judge(now))
	}
	for id := range g.runs {
		if !wanted[id] {
			delete(g.runs, id)
		}
	}
	m.touch()
	return out
}

// Forget a Gate.
func (m *Meter) Forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.gates, owner)
}

func (m *Meter) touch() {
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
		if wait, ok := m.turn(ctx); ok {
			timer.Reset(wait)
		}
	}
}

// turn does what is due, and returns how long nothing else is.
func (m *Meter) turn(ctx context.Context) (time.Duration, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	due, ended, next := m.due(now)
	for _, g := range due {
		go m.ask(ctx, g, m.host(g.host))
	}
	m.tell(ended)
	return max(next.Sub(now), 0), !next.IsZero()
}

// due returns the questions that are to be asked now, the owners of checks that ran out of time, and when something else is due.
func (m *Meter) due(now time.Time) ([]*group, []types.NamespacedName, time.Time) {
	groups, ended, next := map[string]*group{}, []types.NamespacedName{}, time.Time{}
	for owner, g := range m.gates {
		for _, r := range g.runs {
			if r.idle() {
				continue
			}
			if r.judge(now).Ended() {
				r.told = true
				ended = append(ended, owner)
				continue
			}
			if !r.due.After(now) {
				r.join(groups, now)
			}
			if at := r.next(); next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	out := make([]*group, 0, len(groups))
	for _, g := range groups {
		out = append(out, g)
	}
	return out, ended, next
}

// tell owners in the background: who is told may be waiting for us.
func (m *Meter) tell(owners []types.NamespacedName) {
	if len(owners) == 0 {
		return
	}
	go func() {
		for _, o := range owners {
			m.wake(o)
		}
	}()
}

func (m *Meter) host(name string) chan struct{} {
	h, ok := m.hosts[name]
	if !ok {
		h = make(chan struct{}, maxPerHost)
		m.hosts[name] = h
	}
	return h
}

// ask one question, for all who want to know.
func (m *Meter) ask(ctx context.Context, g *group, host chan struct{}) {
	select {
	case host <- struct{}{}:
		defer func() { <-host }()
	case <-ctx.Done():
		return
	}
	begun := m.now()
	a := g.question.Ask(ctx, g.live)
	if ctx.Err() != nil {
		return // We end, and not the server.
	}
	m.deliver(g, a, m.now().Sub(begun))
}

func (m *Meter) deliver(g *group, a gates.Answer, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, ended, outcome := m.now(), []types.NamespacedName{}, gates.Error
	for _, j := range g.members {
		if j.run.episode != j.episode {
			continue // Its subject was not live all the time.
		}
		outcome = j.run.take(a, now)
		if j.run.judge(now).Ended() {
			j.run.told = true
			ended = append(ended, j.run.owner)
		}
	}
	if m.observer != nil {
		m.observer.Asked(g.host, outcome, took, len(g.members))
	}
	m.tell(ended)
	m.touch()
}

// slot is the first time after another one, on the grid of a question and an interval.
func slot(key string, interval time.Duration, after time.Time) time.Time {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	shift := time.Duration(h.Sum64() % uint64(interval)) //nolint:gosec // An interval is never negative.
	return after.Add(-shift).Truncate(interval).Add(interval).Add(shift)
}
