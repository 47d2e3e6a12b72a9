package step

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// ownInput returns the input of the provider about a successor of the recorded state: from its repository, and from its views of the SiteSync and of the other
// deliveries, which may be older.
func (m *model) ownInput(recorded, s ledger.State, repository modelRepository, observed modelCluster) Input {
	observed.Deliveries = slices.Clone(observed.Deliveries)
	home := &observed.Deliveries[m.indexOf(s.Home)]
	home.Observed, home.Record = true, repository.Record
	in := m.input(s, observed)
	in.Desired = nil
	in.Requests = slices.DeleteFunc(slices.Clone(observed.Requests), func(r Request) bool { return r.Action != ActionAbort && r.Action != ActionRollbackTo })
	switch {
	case !m.rules.Proven && s.Current != nil:
		in.Proof = m.proof(s, observed.Sync)
	case s.Position() != recorded.Position():
		in.Proof = Proof{}
	}
	return in
}

// seenByProvider returns a cluster that the cache of the provider may show.
func (m *model) seenByProvider() modelCluster {
	if len(m.before) == 0 || !m.honours {
		return m.snapshot()
	}
	return m.before[m.random.IntN(len(m.before))]
}

// tellSilent lets the function fall silent once a bad revision is proven to fail, and returns the error, or "".
func (m *model) tellSilent() string {
	m.honours = true
	for range 40 {
		m.act(modelFaults{Mandates: true})
	}
	if m.truth.broken != "" {
		return m.truth.broken
	}
	m.calm()
	if broken := m.settle(); broken != "" {
		return broken
	}
	m.intent = []string{"x", "y"}[m.random.IntN(2)]
	for turn := 0; !m.isProvenBad(); turn++ {
		if turn > 40 {
			return "a bad revision is never proven to fail"
		}
		m.call(m.snapshot(), always)
		m.reconcileAll()
		m.observe()
	}
	for range 3 {
		m.reconcileAll()
	}
	for i := range m.repositories {
		if broken := m.isLeft(i); broken != "" {
			return broken
		}
	}
	m.intent = "a"
	if broken := m.settle(); broken != "" {
		return broken
	}
	return m.atRest()
}

// reconcileAll reconciles each GitDelivery.
func (m *model) reconcileAll() {
	for i := range m.repositories {
		m.reconcile(i, false)
	}
}

// isLeft returns the leftovers of a silent function in a repository: a revision that fails and is not rejected, or that is not rolled back although it could be.
func (m *model) isLeft(i int) string {
	s, r := m.repositories[0].Ledger, m.repositories[i]
	_, hold := Conclude(s, m.ownInput(s, s, m.repositories[0], m.cluster))
	switch {
	case !s.IsRejected():
		return "a silent function leaves a revision that fails without a verdict"
	case s.Cursor.Attempt == 0 && hold == HoldNoTarget:
		return "" // Nothing was verified before.
	case s.Cursor.Attempt != 1 || r.Record.Position != s.Position():
		return "a silent function leaves a revision that fails where it is"
	}
	for site, number := range r.Record.Trees {
		if number != s.Target {
			return "a silent function leaves a tree of the revision at Site " + site
		}
	}
	return ""
}

// isProvenBad is true once the SiteSync proves that the current revision fails, and no verdict is recorded.
func (m *model) isProvenBad() bool {
	s := m.repositories[0].Ledger
	return s.Current != nil && s.Verdict == nil && failsNow(s) && m.cluster.Sync.Proven == s.Position() && m.proof(s, m.cluster.Sync).Failure != nil
}

// TestModelSilent looks for a story in which a provider with a mandate needs the function to roll a bad revision back.
func TestModelSilent(t *testing.T) {
	for _, repositories := range []int{1, 2, 3} {
		rounds, random := soak.Random(t, soak.Quick(250, 1_000), 50_000)
		for i := range rounds {
			seed := random.Uint64()
			m := newModel(rand.New(rand.NewPCG(seed, 1)), repositories, allRules)
			if broken := m.tellSilent(); broken != "" {
				t.Fatalf("\nThree turns of the provider after a failure is proven the revision is rejected and rolled back in each repository, and all goes on once the function is back.\n%d repositories, story %d of seed %d: %s", repositories, i, seed, broken)
			}
		}
	}
}
