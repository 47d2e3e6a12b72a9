// Package measured keeps what Gates measured: a ConfigMap for each revision, beside the deployment. The provider writes it, because a ConfigMap that the function
// composes would be part of every call of the function.
package measured

import (
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/provider/gates"
)

// Bounds of what is in memory until it is written for the last time.
const (
	// maxOfCheck is how many measurements of a check are kept, and maxOfGate of all checks of a Gate together.
	maxOfCheck, maxOfGate = 500, 2000

	// maxOfNamespace is how many measurements of all Gates of a namespace are kept.
	maxOfNamespace = 40_000
)

// A Log remembers the measurements of Gates until they are written. It is safe for concurrent use.
type Log struct {
	wake func(gate types.NamespacedName)

	mu    sync.Mutex
	gates map[types.NamespacedName]*gateLog
	// total is how many measurements each namespace has.
	total map[string]int
}

// A gateLog is what one Gate measured.
type gateLog struct {
	uid    types.UID
	checks map[string]*checkLog
	total  int
	// isNew is true if something was measured since it was read.
	isNew bool
}

// A checkLog is what one check measured.
type checkLog struct {
	taken   []gaterecord.Measurement
	omitted int
}

// NewLog returns an empty Log. Wake is called when a Gate has measured something since it was read last. It must not block.
func NewLog(wake func(gate types.NamespacedName)) *Log {
	return &Log{wake: wake, gates: map[types.NamespacedName]*gateLog{}, total: map[string]int{}}
}

// Record a measurement of a check of a Gate.
func (l *Log) Record(gate types.NamespacedName, uid types.UID, check string, m gates.Measurement, at time.Time) {
	if l.add(gate, uid, check, gaterecord.Measurement{At: metav1.NewTime(at), Outcome: string(m.Outcome), Value: m.Value, Message: m.Message}) {
		l.wake(gate)
	}
}

// add a measurement, and report whether it is the first one since the Gate was read.
func (l *Log) add(gate types.NamespacedName, uid types.UID, check string, m gaterecord.Measurement) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.gates[gate]
	if g == nil || g.uid != uid {
		l.drop(gate)
		g = &gateLog{uid: uid, checks: map[string]*checkLog{}}
		l.gates[gate] = g
	}
	c := g.checks[check]
	if c == nil {
		c = &checkLog{}
		g.checks[check] = c
	}
	c.taken = append(c.taken, m)
	g.total++
	l.total[gate.Namespace]++
	if len(c.taken) > maxOfCheck || g.total > maxOfGate || l.total[gate.Namespace] > maxOfNamespace {
		c.taken = slices.Delete(c.taken, 0, 1)
		c.omitted++
		g.total--
		l.total[gate.Namespace]--
	}
	wasNew := g.isNew
	g.isNew = true
	return !wasNew
}

// read returns what a Gate measured, by its checks, and whether something of that is new.
func (l *Log) read(gate types.NamespacedName, uid types.UID) (map[string]checkLog, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.gates[gate]
	if g == nil || g.uid != uid {
		return nil, false
	}
	out, isNew := map[string]checkLog{}, g.isNew
	for id, c := range g.checks {
		out[id] = checkLog{taken: slices.Clone(c.taken), omitted: c.omitted}
	}
	g.isNew = false
	return out, isNew
}

// putBack says that what was read could not be written.
func (l *Log) putBack(gate types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g := l.gates[gate]; g != nil {
		g.isNew = true
	}
}

// Forget what a Gate measured.
func (l *Log) Forget(gate types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(gate)
}

// drop a Gate, with the lock held.
func (l *Log) drop(gate types.NamespacedName) {
	g := l.gates[gate]
	if g == nil {
		return
	}
	delete(l.gates, gate)
	if l.total[gate.Namespace] -= g.total; l.total[gate.Namespace] == 0 {
		delete(l.total, gate.Namespace)
	}
}
