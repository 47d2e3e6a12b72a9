package step

import (
	"maps"

	"github.com/intentplane/intentplane/apis/ledger"
)

// deliver is one reconcile of a GitDelivery. If it crashes, its push stays, and its status is not written.
func (m *canaryModel) deliver(i int, crashes bool) {
	d := &m.deliveries[i]
	if m.isUnreachable[i] {
		return
	}
	if i == 0 {
		recorded := m.home
		m.recordHome(d)
		m.concludeByMandate(d, recorded)
	}
	if i > 0 && d.position.Compare(m.records[i]) >= 0 && d.position.Revision > 0 {
		m.push(i, d)
	}
	if crashes {
		return
	}
	d.isObserved, d.reported, d.trees, d.commits = true, m.records[i], map[string]canaryDirectory{}, map[string]int{}
	d.weighed, d.placed = map[string]map[string]ledger.Position{}, map[string]map[string]ledger.Position{}
	if i == 0 {
		d.ledger = m.home
		m.showMandate(d)
	}
	for _, s := range m.sites {
		if m.repositoryOf(s.name) == i && len(s.git) > 0 {
			d.commits[s.name] = s.changes
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
			m.tracef("recorded %s at %+v", event(&e), next.Position())
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

// push brings the directories of a repository to the desired ones.
func (m *canaryModel) push(i int, d *canaryDelivery) {
	m.records[i] = d.position
	for _, s := range m.sites {
		wanted, isWanted := d.wanted[s.name]
		if m.repositoryOf(s.name) != i || !isWanted || s.git.equal(wanted) || wanted.equal(unknownDirectory) {
			continue
		}
		m.tracef("%s has %s", s.name, wanted.name())
		m.notePush(s, wanted, d)
		s.note(wanted, d.position)
		s.git, s.changes = wanted, s.changes+1
	}
}

// note notes when a commit gives tracks requests, and changes their folders. A track that leaves the directory is forgotten.
func (s *canarySite) note(wanted canaryDirectory, position ledger.Position) {
	for _, t := range tracksInOrder {
		f, isThere := wanted.folderOf(t)
		if !isThere {
			delete(s.weighed, t)
			delete(s.placed, t)
			continue
		}
		if f.Weight > 0 {
			s.weighed[t] = position
		}
		if previous, isHeld := s.git.folderOf(t); !isHeld || previous.pods() != f.pods() {
			s.placed[t] = position
		}
	}
}

func (m *canaryModel) loseSync() {
	m.sync.proven, m.sync.provenTrees, m.sync.live, m.sync.failed, m.sync.released = ledger.Position{}, nil, false, false, false
	m.truth.pausedFor, m.sync.follows = ledger.Position{}, ledger.Position{}
	m.sync.pausedFor, m.sync.liveAt, m.sync.waitsSince = ledger.Position{}, 0, m.now
	m.sync.idle, m.sync.available = map[string]map[string]idleProof{}, map[string]map[string]podsProof{}
	for _, s := range m.sites {
		m.sync.idle[s.name], m.sync.available[s.name] = map[string]idleProof{}, map[string]podsProof{}
	}
}

// observe is one reconcile of the SiteSync.
func (m *canaryModel) observe() {
	sync := &m.sync
	m.followLedger()
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

// observeTracks notes which tracks of a Site are without requests, and which had their pods. It knows its own request, and the actual state of the Site.
func (m *canaryModel) observeTracks(s *canarySite) {
	idle, available, ask := m.sync.idle[s.name], m.sync.available[s.name], m.sync.asked[s.name]
	for _, t := range tracksInOrder {
		f, isAsked := ask.directory.folderOf(t)
		idle[t] = m.observeIdle(s, t, idle[t])
		last, isSet := available[t]
		switch {
		case isAsked && isSet && m.rules.proves(last, f, ask.placed[t]):
		case isAsked && m.runs(s) && s.isAvailable(t, m.now):
			available[t] = podsProof{pods: f.pods(), by: m.sync.position}
		default:
			delete(available, t)
		}
	}
}

// observeIdle returns since when a track is without requests.
func (m *canaryModel) observeIdle(s *canarySite, t string, last idleProof) idleProof {
	ask, position := m.sync.asked[s.name], m.sync.position
	f, isAsked := ask.directory.folderOf(t)
	isWeighed := m.isRead(s) && s.applied[t].Weight > 0
	switch {
	case !isAsked, f.Weight > 0, isWeighed:
		return idleProof{}
	case last.isSet && last.by.Compare(ask.weighed[t]) > 0:
		return last
	case m.runs(s) && m.isAccepted(s) && position.Compare(ask.weighed[t]) > 0:
		return idleProof{since: m.now, by: position, isSet: true}
	}
	return idleProof{}
}

// isRead is true for a Site whose repository was brought to the position, as far as its GitDelivery says. A missing GitDelivery says nothing.
func (m *canaryModel) isRead(s *canarySite) bool {
	d, position := m.deliveries[m.repositoryOf(s.name)], m.sync.position
	if d.position == (ledger.Position{}) {
		return true
	}
	return d.reported.HasReached(position) || d.reported.IsSameAttempt(position) && d.trees[s.name].equal(m.sync.asked[s.name].directory)
}

// runs is true for a Site whose engine applied the directory that the SiteSync asks for, by the commit that brought it there or a later one.
func (m *canaryModel) runs(s *canarySite) bool {
	isBrought := s.appliedAt >= m.deliveries[m.repositoryOf(s.name)].commits[s.name]
	return m.isRead(s) && isBrought && s.applied.equal(m.sync.asked[s.name].directory)
}

// isAccepted is true for a Site whose gateway accepted the applied weights.
func (m *canaryModel) isAccepted(s *canarySite) bool {
	return maps.Equal(s.accepted, weightsOf(s.applied)) || !m.rules.Accepted
}

// isSiteLive is true if a Site has the desired state of the position.
func (m *canaryModel) isSiteLive(s *canarySite) bool {
	if m.sync.asked[s.name].directory.isFlat() {
		return m.runs(s) // Nothing else is asked of a deployment without tracks.
	}
	return m.runs(s) && m.isAccepted(s) && (!m.rules.Available || m.areNewPodsAvailable(s))
}

// areNewPodsAvailable asks for the pods of the revision that the position is about, and of no other.
func (m *canaryModel) areNewPodsAvailable(s *canarySite) bool {
	for t, f := range s.applied {
		isAwaited := f.Revision == m.sync.revision || m.sync.isPlain && t == ledger.TrackPlain
		if isAwaited && !s.isAvailable(t, m.now) {
			return false
		}
	}
	return true
}
