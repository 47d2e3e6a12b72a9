package gate

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/gates/availability"
	"github.com/intentplane/intentplane/provider/gates/job"
)

// maxQueries is the number of queries in the cache, and expressionBytes the memory of the expressions in it.
const maxQueries, expressionBytes = 1000, 16 << 20

// forgetJobs is longer than any Job may take, and dropJobsInterval the time from one search for such Jobs to the next.
const (
	forgetJobs       = 25 * time.Hour
	dropJobsInterval = time.Hour
)

// A memory caches the last observations of Gates, so that a verdict outlives its status. A restart loses it.
type memory struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]note
	// paces are when each Gate was looked at, and is again.
	paces *setup.Memory[pace]
	// jobs by their names, and when old ones were dropped last.
	jobs        map[string]jobNote
	jobsDropped time.Time

	// clocks of the checks that observe pods, by their Gates.
	clocks map[types.NamespacedName]clockNote

	// blueprints caches Blueprints.
	blueprints blueprintNotes

	// queries and expressions that were read.
	queries     *promql.Reader
	expressions *expression.Reader
}

type note struct {
	uid  types.UID
	said v1alpha1.GateObservation
	// open is true until the verdict.
	open bool
}

// A pace has the times of the observations of one Gate.
type pace struct {
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
	// deferredSince is since when the controller has deferred the write of a status. Zero if it has not.
	deferredSince time.Time
	// reconciledAt is when it was last reconciled in full, and not only observed quickly.
	reconciledAt time.Time
}

// A clockNote holds the clocks of the checks of one Gate.
type clockNote struct {
	uid types.UID
	// checks by their Sites and names.
	checks map[string]availability.Clock
}

// A jobNote is when a Job was first thought of, and when it was made. Zero if it was not made by this process.
type jobNote struct {
	seen, made time.Time
	// uid of the Job that this process made. Empty where a Job of that name was there.
	uid types.UID
	// refused is why it could not be made at last.
	refused string
	// nonce is put on the Job. Empty until this process first tries to create the Job.
	nonce string
	// repeatUntil is until when the Job is repeated if it is removed. Zero for a Job that takes the place of no removed Job.
	repeatUntil time.Time
}

func newNoteMemory() *memory {
	return &memory{
		notes: map[types.NamespacedName]note{}, paces: setup.NewMemory(func() *pace { return &pace{} }), clocks: map[types.NamespacedName]clockNote{},
		jobs: map[string]jobNote{}, blueprints: newBlueprintNotes(), queries: promql.NewReader(maxQueries), expressions: expression.NewReader(expressionBytes),
	}
}

func (m *memory) recordObservation(g *v1alpha1.Gate, observation v1alpha1.GateObservation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[client.ObjectKeyFromObject(g)] = note{uid: g.GetUID(), said: *observation.DeepCopy(), open: observation.Verdict == ""}
}

func (m *memory) lastObservation(g *v1alpha1.Gate) v1alpha1.GateObservation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.notes[client.ObjectKeyFromObject(g)]; n.uid == g.GetUID() {
		return n.said
	}
	return v1alpha1.GateObservation{}
}

// lacksVerdict is true for a Gate without a verdict.
func (m *memory) lacksVerdict(key types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.notes[key].open
}

func (m *memory) forgetGate(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, key)
	delete(m.clocks, key)
	m.paces.ForgetNote(key)
}

func (m *memory) recordReconcile(g *v1alpha1.Gate, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paces.NoteOf(g).reconciledAt = now
}

// reconciledAt returns when a Gate was last reconciled in full. Zero means never.
func (m *memory) reconciledAt(g *v1alpha1.Gate) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paces.NoteOf(g).reconciledAt
}

// saveDeferral returns a function that restores the time since when a status of the Gate is deferred.
func (m *memory) saveDeferral(g *v1alpha1.Gate) (restore func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.paces.NoteOf(g)
	start := p.deferredSince
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		p.deferredSince = start
	}
}

// deferStatusUntil returns until when a changed status of a Gate may be deferred, counted from the first change, or zero if it may not.
func (m *memory) deferStatusUntil(g *v1alpha1.Gate, may bool, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.paces.NoteOf(g)
	start := p.deferredSince
	switch {
	case !may:
		p.deferredSince = time.Time{}
		return time.Time{}
	case start.IsZero():
		start, p.deferredSince = now, now
	case !now.Before(start.Add(deferPeriod)):
		p.deferredSince = time.Time{}
	}
	return start.Add(deferPeriod)
}

// planNextLook records the time of the next observation of a Gate. Zero means after the interval.
func (m *memory) planNextLook(g *v1alpha1.Gate, next time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paces.NoteOf(g).next = next
}

func (m *memory) nextReconcileTime(g client.Object) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paces.NoteOf(g).next
}

// advanceClock changes the clock of a check, and returns it. The change is given the clock that is remembered, and whether one is.
func (m *memory) advanceClock(g *v1alpha1.Gate, check string, change func(c availability.Clock, isKnown bool) availability.Clock) availability.Clock {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(g)
	n := m.clocks[key]
	if n.uid != g.GetUID() || n.checks == nil {
		n = clockNote{uid: g.GetUID(), checks: map[string]availability.Clock{}}
		m.clocks[key] = n
	}
	c, isKnown := n.checks[check]
	n.checks[check] = change(c, isKnown)
	return n.checks[check]
}

// forgetClocks drops the clocks of a Gate that has its verdict.
func (m *memory) forgetClocks(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.clocks, key)
}

// findOrAddJobNote returns the note of a Job, and begins one if there is none.
func (m *memory) findOrAddJobNote(name string, now time.Time) jobNote {
	m.mu.Lock()
	defer m.mu.Unlock()
	j, ok := m.jobs[name]
	if !ok {
		m.dropOldJobs(now)
		j.seen = now
		m.jobs[name] = j
	}
	return j
}

// dropOldJobs periodically drops the notes of ended Jobs: a tenant may have any number of Jobs. The caller holds the lock.
func (m *memory) dropOldJobs(now time.Time) {
	if now.Sub(m.jobsDropped) < dropJobsInterval {
		return
	}
	m.jobsDropped = now
	maps.DeleteFunc(m.jobs, func(_ string, j jobNote) bool { return now.Sub(j.seen) > forgetJobs })
}

// limitRepeats records until when the Job that takes the place of a removed Job is repeated if it is removed, too.
func (m *memory) limitRepeats(name string, until, now time.Time) {
	m.findOrAddJobNote(name, now)
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[name]
	j.repeatUntil = until
	m.jobs[name] = j
}

// restartJobTimeout restarts the timeout of a Job.
func (m *memory) restartJobTimeout(name string, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[name]
	j.seen, j.repeatUntil = now, time.Time{}
	m.jobs[name] = j
}

// recordCreated remembers that a Job was made.
func (m *memory) recordCreated(name string, uid types.UID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[name]
	j.made, j.uid = now, uid
	m.jobs[name] = j
}

// recordRefused remembers why a Job could not be made.
func (m *memory) recordRefused(name, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[name]
	j.refused = reason
	m.jobs[name] = j
}

// nonceOfJob returns the nonce of a Job, which is the same for each try to create it.
func (m *memory) nonceOfJob(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	j := m.jobs[name]
	if j.nonce == "" {
		j.nonce = job.NewNonce()
		m.jobs[name] = j
	}
	return j.nonce
}
