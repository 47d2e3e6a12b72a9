package step

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
)

// repositoriesIn returns the reports of the deliveries of a cluster.
func (m *model) repositoriesIn(observed modelCluster) []Repository {
	var out []Repository
	for i, d := range observed.Deliveries {
		if d.Exists {
			isKnown := d.Observed && (d.Ledger.Seq > 0 || m.rules.ReportMissing)
			out = append(out, Repository{ConfigRef: m.configRef(i), IsKnown: isKnown, Ledger: d.Ledger, Copy: d.Record.Copy})
		}
	}
	return out
}

// home returns the home that a call finds, and the events with which it proposes to begin the ledger.
func (m *model) home(observed modelCluster) Home {
	m.opened++
	identity := fmt.Sprintf("opened-%d", m.opened)
	if !m.rules.Identity {
		identity = "opened"
	}
	h := FindHome(m.repositoriesIn(observed), m.configRef(0), func(home string) string { return identity + home }, observed.Requests)
	if !m.rules.Recover {
		h.Events = slices.DeleteFunc(h.Events, func(e ledger.Event) bool { return e.Recovered != nil })
	}
	return h
}

// call is one call of the function, which sees a cluster that may be older than the cluster that it writes to. Only some of its writes may succeed.
func (m *model) call(observed modelCluster, writes func() bool) {
	h := m.home(observed)
	home := m.indexOf(h.ConfigRef)
	if !h.IsKnown {
		if writes() {
			m.cluster.Deliveries[home].Exists, m.cluster.Deliveries[home].IsHome = true, true
		}
		return
	}
	events, next := m.propose(observed, h)
	requested := h.State
	if !m.rules.HomeFirst {
		requested = next
	}
	for i := range m.cluster.Deliveries {
		if !writes() {
			continue
		}
		o := &m.cluster.Deliveries[i]
		o.Exists, o.IsHome = true, i == home
		if i == home {
			o.After, o.Events, o.Mandate = h.State.Head, events, mandateOf(next)
			o.Mandate.Intent = m.intent
			continue
		}
		o.Position, o.Copy = requested.Position(), requested.Essentials()
	}
	if writes() {
		m.cluster.Sync.Position, m.cluster.Sync.Copy = h.State.Position(), h.State
	}
}

// propose returns the events that the function wants recorded, and the state after them.
func (m *model) propose(observed modelCluster, h Home) ([]ledger.Event, ledger.State) {
	events := h.Events
	next, err := ledger.Append(h.State, recordedAt, events...)
	if err != nil {
		m.truth.broken = fmt.Sprintf("the home of a ledger cannot begin: %v", err)
		return nil, h.State
	}
	for range maxEvents {
		e, _ := Step(next, m.input(next, observed))
		if e == nil || m.isLeftToProvider(next, *e, h, observed) {
			break
		}
		appended, err := ledger.Append(next, recordedAt, *e)
		if err != nil {
			m.truth.broken = fmt.Sprintf("an event is illegal: %v", err)
			break
		}
		next, events = appended, append(events, *e)
	}
	return events, next
}

// isLeftToProvider is true for an event that the provider records by itself on top of the recorded state.
func (m *model) isLeftToProvider(s ledger.State, e ledger.Event, h Home, observed modelCluster) bool {
	home := observed.Deliveries[m.indexOf(h.ConfigRef)]
	if s.Head != h.State.Head || !home.Mandate.covers(s) || !home.Mandate.lists(s, e, m.intent) {
		return false
	}
	return !m.rules.Echo || home.Echo == s.Current.Number
}

// input returns the input of a call about a position.
func (m *model) input(s ledger.State, observed modelCluster) Input {
	in := Input{
		Versions: Versions{Scheme: 1, Renderer: 1}, Desired: m.desired(), Requests: observed.Requests, HasAllReported: true,
		Policy: Policy{AutoRollback: true, MaxRetries: 2},
	}
	for i, d := range observed.Deliveries {
		in.HasAllReported = in.HasAllReported && d.Observed && d.Record.Position == s.Position()
		for _, site := range m.sitesOf(i) {
			tree, isKnown := d.Record.Trees[site]
			in.Directories = append(in.Directories, Directory{
				Site: site, IsChosen: true, IsKnown: d.Observed && isKnown, Tree: treeName(tree), Revision: tree,
			})
		}
	}
	slices.SortFunc(in.Directories, func(a, b Directory) int { return cmp.Compare(a.Site, b.Site) })
	if s.Current != nil && observed.Sync.Proven == s.Position() {
		in.Proof = m.proof(s, observed.Sync)
	}
	return in
}

// proof returns the proof by the SiteSync about the position of a state.
func (m *model) proof(s ledger.State, sync modelSync) Proof {
	p := Proof{IsLive: sync.Live, HasPassed: true}
	if sync.Failed || sync.Live && failsNow(s) {
		p.Failure = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "SyncFailed", Message: fmt.Sprintf("revision %d", sync.Proven.Revision)}
	}
	for _, step := range s.Current.Plan {
		for _, site := range step.Sites {
			p.Trees = append(p.Trees, ledger.SiteTree{Site: site, ID: treeName(s.Current.Number)})
		}
	}
	return p
}

func treeName(revision int64) string { return fmt.Sprintf("tree of %d", revision) }

// proofOf returns the subject of a verdict.
func proofOf(s ledger.State) string { return fmt.Sprintf("revision %d", s.Current.Number) }
