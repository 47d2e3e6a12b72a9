package step

import (
	"maps"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
)

// reconcile is one reconcile of a GitDelivery. If it crashes, its push stays, and its status is not written.
func (m *model) reconcile(i int, crashes bool) {
	d, repository := &m.cluster.Deliveries[i], &m.repositories[i]
	if !d.Exists || !repository.Reachable {
		return
	}
	if d.IsHome {
		m.recordEvents(d, repository)
		m.concludeByMandate(d, repository)
	}
	if !d.IsHome {
		m.follow(i, m.followHome(*d))
	}
	if crashes {
		return
	}
	d.Observed, d.Ledger, d.Record, d.Echo = true, repository.Ledger, repository.Record, 0
	if s := d.Ledger; d.IsHome && m.covers(d.Mandate, s) {
		d.Echo = s.Current.Number
	}
}

// covers is true for a mandate by which a provider records the next events of a ledger.
func (m *model) covers(mandate modelMandate, s ledger.State) bool {
	return m.honours && s.Successor == "" && !s.IsClosed && mandate.covers(s)
}

// concludeByMandate records in one push the next events by the mandate of the home, by the proof of its own objects.
func (m *model) concludeByMandate(d *modelDelivery, repository *modelRepository) {
	if next := m.conclude(d.Mandate, *repository, m.seenByProvider()); next.Head != repository.Ledger.Head {
		m.record(repository, next)
	}
}

// conclude returns the state after the next events by a mandate in a home, by the provider's view of the cluster.
func (m *model) conclude(mandate modelMandate, home modelRepository, observed modelCluster) ledger.State {
	next := home.Ledger
	for range maxEvents {
		if !m.covers(mandate, next) {
			break
		}
		e, _ := Conclude(next, m.ownInput(home.Ledger, next, home, observed))
		if e == nil || !mandate.lists(next, *e, m.intent) {
			break
		}
		current, err := ledger.Append(next, recordedAt, *e)
		if err != nil {
			m.truth.broken = "an event by mandate is illegal: " + err.Error()
			return home.Ledger
		}
		next = current
	}
	return next
}

// followHome returns a delivery with the state in the status of a home that acts by its mandate, where that is newer than the request of the function.
func (m *model) followHome(d modelDelivery) modelDelivery {
	observed := m.seenByProvider()
	for _, home := range observed.Deliveries {
		s := home.Ledger
		if !m.rules.Shown && home.IsHome {
			s = m.conclude(home.Mandate, modelRepository{Ledger: home.Ledger, Record: home.Record}, observed)
		}
		isShown := home.Exists && home.IsHome && home.Echo != 0 && m.covers(home.Mandate, s) && s.IsRejected()
		if isShown && s.Ledger == d.Copy.Ledger && s.Epoch == d.Copy.Epoch && s.Compare(d.Copy.Head) > 0 {
			d.Copy, d.Position = s.Essentials(), s.Position()
		}
	}
	return d
}

// recordEvents appends the requested events on top of the head that the function saw. A ledger that is lost, but not its object, continues from the status.
func (m *model) recordEvents(d *modelDelivery, repository *modelRepository) {
	if m.rules.Recover && d.Observed && d.Ledger.Seq > 0 && d.Ledger.Supersedes(repository.Ledger) && repository.Ledger.Seq > 0 ||
		m.rules.Recover && d.Observed && d.Ledger.Seq > 0 && repository.Ledger.Seq == 0 {
		m.continueFrom(d.Ledger, repository)
		return
	}
	if len(d.Events) == 0 || m.rules.CompareAndSwap && d.After != repository.Ledger.Head {
		return
	}
	next, err := ledger.Append(repository.Ledger, recordedAt, d.Events...)
	if err != nil {
		return
	}
	m.record(repository, next)
}

// appendByAnotherHand records the conclusion of the current revision in a home that can be reached, without a spec that asks for it.
func (m *model) appendByAnotherHand() {
	h := m.home(m.cluster)
	repository := &m.repositories[m.indexOf(h.ConfigRef)]
	if !h.IsKnown || !repository.Reachable || h.State.Current == nil || repository.Ledger.Head != h.State.Head {
		return
	}
	e, _ := Conclude(h.State, m.input(h.State, m.cluster))
	if e == nil {
		return
	}
	next, err := ledger.Append(h.State, recordedAt, *e)
	if err != nil {
		m.truth.broken = "an event of another hand is illegal: " + err.Error()
		return
	}
	m.record(repository, next)
}

// continueFrom recovers the ledger of a home from the state that its object shows.
func (m *model) continueFrom(published ledger.State, repository *modelRepository) {
	s := repository.Ledger
	var events []ledger.Event
	if s.Seq == 0 {
		events = append(events, ledger.Event{Opened: &ledger.Opened{Ledger: published.Ledger + "-again", Home: published.Home}})
	}
	next, err := ledger.Append(s, recordedAt, append(events, ledger.Event{Recovered: &ledger.Recovered{Copy: published}})...)
	if err != nil {
		return
	}
	m.record(repository, next)
}

// record writes a ledger and the trees that follow from it, in one push.
func (m *model) record(repository *modelRepository, next ledger.State) {
	m.truth.note(repository.Ledger, next)
	repository.Ledger = next
	i := slices.IndexFunc(m.repositories, func(r modelRepository) bool { return r.Ledger.Head == next.Head })
	m.apply(i, next)
}

// follow applies the request to a follower, unless it is further.
func (m *model) follow(i int, d modelDelivery) {
	// A ledger of a home that was left is of no use any more.
	if l := m.repositories[i].Ledger; l.Seq > 0 && d.Copy.Epoch > l.Epoch {
		m.repositories[i].Ledger = ledger.State{}
	}
	record := m.repositories[i].Record
	if d.Copy.Seq == 0 || d.Position.Compare(record.Position) < 0 || d.Copy.Compare(record.Copy.Head) < 0 {
		return
	}
	m.apply(i, d.Copy)
}

func (m *model) apply(i int, s ledger.State) {
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

// observe is one reconcile of the SiteSync: engines apply Git, and it reports the live Sites at the requested position.
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
			isPresent := record.Position == sync.Position && m.running[site] == number
			live = live && isPresent
			failed = failed || m.stuck[site] && m.running[site] != number
		}
	}
	sync.Proven, sync.Live, sync.Failed = sync.Position, live && !failed, failed
}
