package step

import (
	"fmt"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
)

// act lets one thing happen: mostly work, and sometimes a fault or a user.
func (m *model) act(faults modelFaults) {
	m.before = append(m.before, m.snapshot())
	if tooMany := len(m.before) - 6; tooMany > 0 {
		m.before = m.before[tooMany:]
	}
	if faults.Mandates && m.random.IntN(20) == 0 {
		m.silent = m.random.IntN(40)
	}
	switch n := m.random.IntN(100); {
	case n < 30 && m.silent > 0:
		m.silent--
	case n < 30:
		m.call(m.before[m.random.IntN(len(m.before))], m.sometimes)
	case n < 60:
		m.reconcile(m.random.IntN(len(m.repositories)), m.random.IntN(8) == 0)
	case n < 75:
		m.observe()
	case n < 80:
		m.intent = []string{"a", "b", "c", "x", "y"}[m.random.IntN(5)]
	case n < 84:
		m.ask(faults)
	case n < 88:
		site := modelSites[m.random.IntN(len(modelSites))]
		m.stuck[site] = !m.stuck[site]
	case n < 92:
		r := &m.repositories[m.random.IntN(len(m.repositories))]
		r.Reachable = !r.Reachable
	case n < 95:
		m.loseObjects()
	case n < 97:
		m.backUp(m.random.IntN(len(m.repositories)))
	case faults.States:
		m.loseState(m.random.IntN(len(m.repositories)))
	}
}

// sometimes says whether one of the writes of a call succeeds.
func (m *model) sometimes() bool { return m.random.IntN(6) > 0 }

// ask makes a RolloutRequest about the revision that its user sees.
func (m *model) ask(faults modelFaults) {
	actions := []Action{ActionRetry, ActionAbort, ActionRollbackTo}
	if faults.Moves {
		actions = append(actions, ActionMoveLedger)
	}
	m.uids++
	r := Request{
		Ref: ledger.RequestReference{Name: "request", UID: fmt.Sprintf("u%d", m.uids)}, Action: actions[m.random.IntN(len(actions))],
		Revision: m.home(m.cluster).State.LastNumber, CreatedAt: recordedAt,
		ToConfigRef: m.configRef(m.random.IntN(len(m.repositories))), Force: faults.ForcedMoves && m.random.IntN(2) == 0,
	}
	r.ToRevision = r.Revision - int64(m.random.IntN(3))
	m.cluster.Requests = append(m.cluster.Requests, r)
}

// loseObjects deletes an object, a status or all objects, or restores an old backup of them.
func (m *model) loseObjects() {
	i := m.random.IntN(len(m.cluster.Deliveries))
	switch m.random.IntN(4) {
	case 0:
		m.cluster.Deliveries[i] = modelDelivery{}
	case 1:
		d := &m.cluster.Deliveries[i]
		d.Observed, d.Ledger, d.Record, d.Echo = false, ledger.State{}, modelRecord{}, 0
	case 2:
		m.cluster.Deliveries = make([]modelDelivery, len(m.cluster.Deliveries))
		m.cluster.Sync = modelSync{}
	case 3:
		requests := m.cluster.Requests
		m.cluster = m.before[0]
		m.cluster.Deliveries, m.cluster.Requests = slices.Clone(m.cluster.Deliveries), requests
	}
}

// loseState recreates a repository, or restores a backup of it. Recorded events may be decided again then.
func (m *model) loseState(i int) {
	r := &m.repositories[i]
	m.truth.forget()
	if m.random.IntN(2) == 0 {
		r.Ledger, r.Record = ledger.State{}, modelRecord{Trees: r.Record.Trees}
		return
	}
	r.Ledger, r.Record = m.backups[i].Ledger, m.backups[i].Record
}

// backUp saves the state of a repository.
func (m *model) backUp(i int) { m.backups[i] = m.repositories[i] }
