package step

import (
	"maps"

	"github.com/intentplane/intentplane/apis/ledger"
)

// followLedger lets the SiteSync look for the directories of the ledger in the status of the home, if that went on by a mandate from the position of its spec.
func (m *canaryModel) followLedger() {
	home, sync := m.deliveries[0], &m.sync
	s := home.ledger
	if !m.leadsSync(home) || home.reported != s.Position() {
		return
	}
	sync.lookFor(s)
	sync.follows = s.Position()
	sync.wanted, sync.asked = map[string]canaryDirectory{}, map[string]siteAsk{}
	for _, site := range m.sites {
		d := m.deliveries[m.repositoryOf(site.name)]
		if delivered, isKnown := d.trees[site.name]; isKnown && m.hasDelivered(delivered, s) {
			sync.wanted[site.name] = delivered
		}
		sync.asked[site.name] = sync.askOf(site.name, d)
	}
}

// leadsSync is true for a home whose ledger has passed the position in the spec of the SiteSync by a mandate. A SiteSync that followed it before does not go back.
func (m *canaryModel) leadsSync(home canaryDelivery) bool {
	s, p := home.ledger, m.sync.requested
	if !m.rules.Follows || !home.isObserved || !home.mandate.covers(s) || p.Epoch != s.Epoch || p.Compare(s.Position()) >= 0 {
		return false
	}
	isOfRevision := p.Revision == s.Current.Number || p.Revision == s.Withdraws && s.Withdraws > 0
	mayLead := !s.IsRejected() || s.Cursor.Attempt > 0
	return isOfRevision && (m.sync.follows != ledger.Position{} || mayLead && home.echo == s.Current.Number)
}

// hasDelivered is true for a directory that has come to a state: in the steps it has the revision, and a rollback ends with the target alone.
func (m *canaryModel) hasDelivered(delivered canaryDirectory, s ledger.State) bool {
	switch {
	case s.HasTracks() && s.IsBeforeSteps():
		return true
	case s.Cursor.Attempt > 0:
		p := s.PastRevision(s.Target)
		return delivered.equal(aloneDirectory(p.Track, p.Number, buildOf(p.Request.Intent)))
	}
	return delivered[s.Current.Folder()].Revision == s.Current.Number
}

// hasProven is true if the SiteSync proved directories. If it followed a ledger, it looks at further directories.
func (y canarySync) hasProven(wanted map[string]canaryDirectory) bool {
	if y.follows != y.proven {
		return maps.EqualFunc(wanted, y.provenTrees, canaryDirectory.equal)
	}
	for site, d := range wanted {
		if !y.provenTrees[site].equal(d) {
			return false
		}
	}
	return true
}
