package step

import (
	"maps"

	"github.com/intentplane/intentplane/apis/ledger"
)

// deliver is one reconcile of a GitDelivery. If it crashes, what it pushed stays, and its status is not written.
func (m *canaryModel) deliver(i int, crashes bool) {
	d := &m.deliveries[i]
	if m.isUnreachable[i] {
		return
	}
	if i == 0 {
		m.recordHome(d)
	}
	if i > 0 && d.position.Compare(m.records[i]) >= 0 && d.position.Revision > 0 {
		m.push(i, d)
	}
	if crashes {
		return
	}
	d.isObserved, d.reported, d.trees = true, m.records[i], map[string]canaryDirectory{}
	d.weighed, d.placed = map[string]map[string]ledger.Position{}, map[string]map[string]ledger.Position{}
	if i == 0 {
		d.ledger = m.home
	}
	for _, s := range m.sites {
		if m.repositoryOf(s.name) == i && len(s.git) > 0 {
			d.trees[s.name], d.weighed[s.name], d.placed[s.name] = s.git, maps.Clone(s.weighed), maps.Clone(s.placed)
		}
	}
}

// recordHome records the events that follow the head which the function saw, and pushes the trees with them.
func (m *canaryModel) recordHome(d *canaryDelivery) {
	if d.after == m.home.Head && len(d.events) > 0 {
		for i, e := range d.events {
			if i > 0 && e.Advanced != nil && e.Advanced.Stage == ledger.StageAlone {
				m.truth.failf("N2: the stable track is removed by the commit that has the verdict")
			}
			next, err := ledger.Append(m.home, m.time(), e)
			if err != nil {
				m.truth.failf("the home refuses an event: %v", err)
				return
			}
			m.tellf("recorded %s at %+v", event(&e), next.Position())
			m.noteEvent(m.home, e, next)
			m.home = next
		}
		m.push(0, d)
		return
	}
	if done, err := ledger.NextID(d.after.ID, d.events...); err == nil && done == m.home.ID && m.home.Current != nil && d.position == m.home.Position() {
		m.push(0, d)
	}
}

// push brings the directories of a repository to what is asked for.
func (m *canaryModel) push(i int, d *canaryDelivery) {
	m.records[i] = d.position
	for _, s := range m.sites {
		wanted, isWanted := d.wanted[s.name]
		if m.repositoryOf(s.name) != i || !isWanted || s.git.equal(wanted) || wanted.equal(unknownDirectory) {
			continue
		}
		m.tellf("%s has %s", s.name, wanted.name())
		m.notePush(s, wanted, d.position)
		for t, f := range wanted {
			if f.Weight > 0 {
				s.weighed[t] = d.position
			}
			if was := s.git[t]; was.Revision != f.Revision || was.Size != f.Size {
				s.placed[t] = d.position
			}
		}
		s.git, s.changes = wanted, s.changes+1
	}
}

func (m *canaryModel) loseSync() {
	m.sync.proven, m.sync.provenTrees, m.sync.live, m.sync.failed, m.sync.released = ledger.Position{}, nil, false, false, false
	m.truth.pausedFor = ledger.Position{}
	m.sync.pausedFor, m.sync.liveAt, m.sync.waitsSince = ledger.Position{}, 0, m.now
	m.sync.idle, m.sync.available = map[string]map[string]idleProof{}, map[string]map[string]ledger.Position{}
	for _, s := range m.sites {
		m.sync.idle[s.name], m.sync.available[s.name] = map[string]idleProof{}, map[string]ledger.Position{}
	}
}

// observe is one reconcile of the SiteSync.
func (m *canaryModel) observe() {
	sync := &m.sync
	if sync.position != sync.proven {
		sync.waitsSince = m.now
	}
	sync.proven, sync.provenTrees, sync.live = sync.position, sync.wanted, true
	for _, s := range m.sites {
		m.observeTracks(s)
		if !m.isSiteLive(s) {
			sync.live = false
		}
	}
	if sync.live {
		sync.waitsSince = m.now
	}
	sync.failed = m.now-sync.waitsSince > timeoutTicks && !sync.live
	m.observePause()
}

// observePause begins the pause when the last Site is live, and ends it.
func (m *canaryModel) observePause() {
	sync := &m.sync
	began := sync.liveAt
	if sync.live && sync.pausedFor != sync.position || !sync.live && !m.rules.PauseStays {
		sync.pausedFor, sync.liveAt = sync.position, m.now
	}
	if m.truth.pausedFor == sync.position && began != sync.liveAt {
		m.truth.failf("N5: a pause that began at %d begins at %d", began, sync.liveAt)
	}
	m.truth.pausedFor = sync.pausedFor
	sync.released = sync.pausedFor == sync.position && m.now-sync.liveAt >= sync.pause
	if !m.rules.PauseStays && !sync.live {
		sync.released = m.now-sync.liveAt >= sync.pause
	}
}

// observeTracks notes which tracks of a Site are without requests, and which had their pods.
func (m *canaryModel) observeTracks(s *canarySite) {
	isProven := s.appliedAt == s.changes && (maps.Equal(s.accepted, weightsOf(s.applied)) || !m.rules.Accepted)
	for _, t := range []string{ledger.TrackBlue, ledger.TrackGreen} {
		proof := m.sync.idle[s.name][t]
		switch {
		case !isProven:
			if s.accepted[t] > 0 {
				proof = idleProof{}
			}
		case s.applied[t].Weight > 0:
			proof = idleProof{}
		case !proof.isSet || proof.by.Compare(s.weighed[t]) <= 0:
			proof = idleProof{since: m.now, by: m.records[m.repositoryOf(s.name)], isSet: true}
		}
		m.sync.idle[s.name][t] = proof
		if isProven && s.isAvailable(t, m.now) {
			m.sync.available[s.name][t] = m.records[m.repositoryOf(s.name)]
		}
	}
}

// isSiteLive is true if a Site does what the position asks for.
func (m *canaryModel) isSiteLive(s *canarySite) bool {
	wanted, isWanted := m.sync.wanted[s.name]
	isThere := m.records[m.repositoryOf(s.name)] == m.sync.position && (s.git.equal(wanted) || !isWanted) && s.appliedAt == s.changes
	isAccepted := maps.Equal(s.accepted, weightsOf(s.applied)) || !m.rules.Accepted
	if !isThere || !isAccepted {
		return false
	}
	return !m.rules.Available || m.areNewPodsAvailable(s)
}

// areNewPodsAvailable asks for the pods of the revision that the position is about, and of no other.
func (m *canaryModel) areNewPodsAvailable(s *canarySite) bool {
	for t, f := range s.applied {
		if f.Revision == m.sync.revision && !s.isAvailable(t, m.now) {
			return false
		}
	}
	return true
}

// measure is one reconcile of the Gate.
func (m *canaryModel) measure() {
	g, sync := &m.gate, m.sync
	if g.result != "" || sync.proven != g.position || !sync.live || m.home.Current == nil {
		return
	}
	g.result = "Passed"
	switch content := buildOf(m.home.Current.Request.Intent).Content; {
	case content == "x":
		g.result = "Failed"
	case m.random.IntN(12) == 0:
		g.result = "Held"
	}
}
