package ledger

import (
	"fmt"
	"maps"
	"slices"
)

// step returns what follows from a state and from what the function sees.
func (m *model) step(s State, seen modelCluster) (Event, bool) {
	if e, follows := m.answer(s, seen.Requests); follows {
		return e, true
	}
	if s.Current == nil || s.Current.Request.Intent != m.intent {
		return Event{Ordered: &Ordered{Revision: m.revision(s.LastNumber+1, m.intent)}}, true
	}
	sync := seen.Sync
	proven := sync.Proven == s.Position()
	switch {
	case s.Verdict == nil && proven && sync.Failed:
		return m.reject(s), true
	case s.Verdict == nil && proven && sync.Live:
		return m.succeed(s), true
	case s.IsRejected() && s.Cursor.Attempt == 0 && s.Stable > 0:
		return rollBack(s.Stable), true
	case s.IsRejected() && s.Cursor.Attempt > 0 && !s.Restored && proven && sync.Live:
		return Event{Restored: &Restored{}}, true
	case s.IsRejected() && s.Cursor.Attempt == 1 && !s.Restored && proven && sync.Failed:
		return rollBack(s.Stable), true
	}
	return Event{}, false
}

// succeed returns what follows when a step is live at all of its Sites.
func (m *model) succeed(s State) Event {
	if isBad(s.Current.Request.Intent) {
		return m.reject(s)
	}
	if int(s.Cursor.Step) < len(s.Current.Plan)-1 {
		return stage(s.Cursor.Step+1, 0)
	}
	j := &Judged{Verdict: Verdict{Result: VerdictVerified, Message: proofOf(s)}}
	for _, site := range s.Current.sites() {
		j.Trees = append(j.Trees, SiteTree{Site: site, ID: "tree"})
	}
	return Event{Judged: j}
}

func (m *model) reject(s State) Event {
	return Event{Judged: &Judged{Verdict: Verdict{Result: VerdictRejected, Reason: "SyncFailed", Message: proofOf(s)}}}
}

// proofOf says what a verdict was decided about.
func proofOf(s State) string { return fmt.Sprintf("revision %d", s.Current.Number) }

// answer returns the event of the first request that was not taken and is possible.
func (m *model) answer(s State, requests []modelRequest) (Event, bool) {
	for _, r := range requests {
		if slices.Contains(s.Requests, r.UID) {
			continue
		}
		e := m.event(s, r)
		if _, err := Apply(s, e); err == nil {
			return e, true
		}
	}
	return Event{}, false
}

func (m *model) event(s State, r modelRequest) Event {
	by := asked(r.UID)
	switch r.Verb {
	case "Retry":
		next := m.revision(s.LastNumber+1, m.intent)
		next.RequestRef = &by
		return Event{Ordered: &Ordered{Revision: next}}
	case "Abort":
		if s.Current == nil {
			return Event{}
		}
		return Event{Judged: &Judged{Verdict: Verdict{Result: VerdictRejected, Reason: RejectedRequested, Message: proofOf(s)}, RequestRef: &by}}
	case "RollBack":
		targets := s.Targets()
		if len(targets) < 2 || s.Verdict == nil {
			return Event{}
		}
		return withdraw(targets[1].Number, r.UID)
	case "Move":
		return Event{Moved: &Moved{Home: m.configRef(r.Home), RequestRef: by}}
	}
	return Event{}
}

// reconcile is one reconcile of a GitDelivery. If it crashes, what it pushed stays, and its status is not written.
func (m *model) reconcile(i int, crashes bool) {
	d, repository := &m.cluster.Deliveries[i], &m.repositories[i]
	if !d.Exists || !repository.Reachable {
		return
	}
	if d.IsHome {
		m.recordEvents(d, repository)
	}
	if !d.IsHome {
		m.follow(i, *d)
	}
	if crashes {
		return
	}
	d.Observed, d.Ledger, d.Record = true, repository.Ledger, repository.Record
}

// recordEvents appends what the home is asked for on top of the head that the function saw. A ledger that is lost, but not its object, continues from the status.
func (m *model) recordEvents(d *modelDelivery, repository *modelRepository) {
	if m.rules.Recover && d.Observed && d.Ledger.Seq > 0 && d.Ledger.supersedes(repository.Ledger) && repository.Ledger.Seq > 0 ||
		m.rules.Recover && d.Observed && d.Ledger.Seq > 0 && repository.Ledger.Seq == 0 {
		m.continueFrom(d.Ledger, repository)
		return
	}
	if len(d.Events) == 0 || m.rules.CompareAndSwap && d.After != repository.Ledger.Head {
		return
	}
	next, err := Append(repository.Ledger, noon, d.Events...)
	if err != nil {
		return
	}
	m.record(repository, next)
}

// continueFrom recovers the ledger of a home from the state that its object shows.
func (m *model) continueFrom(shown State, repository *modelRepository) {
	s := repository.Ledger
	var events []Event
	if s.Seq == 0 {
		events = append(events, Event{Opened: &Opened{Ledger: shown.Ledger + "-again", Home: shown.Home}})
	}
	next, err := Append(s, noon, append(events, Event{Recovered: &Recovered{Copy: shown}})...)
	if err != nil {
		return
	}
	m.record(repository, next)
}

// record writes a ledger and the trees that follow from it, in one push.
func (m *model) record(repository *modelRepository, next State) {
	m.truth.note(repository.Ledger, next)
	repository.Ledger = next
	i := slices.IndexFunc(m.repositories, func(r modelRepository) bool { return r.Ledger.Head == next.Head })
	m.apply(i, next)
}

// follow applies what a follower is asked for, unless it is further.
func (m *model) follow(i int, d modelDelivery) {
	// A ledger of a home that was left is of no use any more.
	if l := m.repositories[i].Ledger; l.Seq > 0 && d.Copy.Epoch > l.Epoch {
		m.repositories[i].Ledger = State{}
	}
	record := m.repositories[i].Record
	if d.Copy.Seq == 0 || d.Position.Compare(record.Position) < 0 || d.Copy.Compare(record.Copy.Head) < 0 {
		return
	}
	m.apply(i, d.Copy)
}

func (m *model) apply(i int, s State) {
	r := &m.repositories[i]
	trees := map[string]int64{}
	maps.Copy(trees, r.Record.Trees)
	for _, site := range m.sitesOf(i) {
		if number := wanted(s, site); number > 0 {
			trees[site] = number
		}
	}
	r.Record = modelRecord{Position: s.Position(), Copy: s.Essentials(), Trees: trees}
}

// observe is one reconcile of the SiteSync: engines apply what is in Git, and it says what is live at the position that it is asked for.
func (m *model) observe() {
	sync := &m.cluster.Sync
	live, failed := true, false
	for i := range m.repositories {
		record := m.repositories[i].Record
		for _, site := range m.sitesOf(i) {
			if number, ok := record.Trees[site]; ok && !m.stuck[site] {
				m.running[site] = number
			}
			number := wanted(sync.Copy, site)
			if number == 0 {
				continue
			}
			there := record.Position == sync.Position && m.running[site] == number
			live = live && there
			failed = failed || m.stuck[site] && m.running[site] != number
		}
	}
	sync.Proven, sync.Live, sync.Failed = sync.Position, live && !failed, failed
}
