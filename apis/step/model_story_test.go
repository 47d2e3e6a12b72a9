package step

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// A modelTruth remembers the records of the home, which nothing may contradict while the home loses nothing.
type modelTruth struct {
	intents  map[string]string
	verdicts map[string]ledger.Result
	// recovered says that a ledger went on in another epoch.
	recovered bool
	broken    string
}

func (t *modelTruth) forget() {
	t.intents, t.verdicts = map[string]string{}, map[string]ledger.Result{}
}

// note compares a recorded state with the previous records of the same epoch of the same ledger.
func (t *modelTruth) note(previous, next ledger.State) {
	t.recovered = t.recovered || previous.Epoch > 0 && previous.Epoch != next.Epoch
	if next.Current == nil {
		return
	}
	number, intent := next.Current.Number, next.Current.Request.Intent
	key := fmt.Sprintf("revision %d of epoch %d of %s", number, next.Epoch, next.Ledger)
	if recorded := t.intents[key]; recorded != "" && recorded != intent {
		t.broken = fmt.Sprintf("%s was %s, and is %s", key, recorded, intent)
	}
	t.intents[key] = intent
	if recorded := t.verdicts[key]; recorded != "" && (next.Verdict == nil || next.Verdict.Result != recorded) {
		t.broken = fmt.Sprintf("%s was %s, and is not", key, recorded)
	}
	if next.Verdict == nil {
		t.noteOrder(previous, next)
		return
	}
	t.verdicts[key] = next.Verdict.Result
	if next.Verdict.Reason != ledger.RejectedRequested && next.Verdict.Message != "" && next.Verdict.Message != proofOf(next) {
		t.broken = fmt.Sprintf("%s was judged by the proof of %s", key, next.Verdict.Message)
	}
}

// noteOrder looks at a revision that follows a rejected one.
func (t *modelTruth) noteOrder(previous, next ledger.State) {
	follows := previous.Epoch == next.Epoch && previous.IsRejected() && next.Current.Number == previous.Current.Number+1
	if follows && next.Current.RequestRef == nil && next.Current.Request.Intent == previous.Current.Request.Intent {
		t.broken = fmt.Sprintf("revision %d delivers a rejected intent", next.Current.Number)
	}
}

// modelFaults are the possible losses in a story.
type modelFaults struct {
	// States of repositories, and their backups.
	States bool
	// Moves of the ledger: by a request, and forced.
	Moves, ForcedMoves bool
	// Hands other than the function's append legal events.
	Hands bool
	// Mandates let the provider reject and roll back by itself, in some of its versions.
	Mandates bool
}

func newModel(random *rand.Rand, repositories int, rules modelRules) *model {
	m := &model{rules: rules, random: random, running: map[string]int64{}, stuck: map[string]bool{}, intent: "a"}
	m.truth.forget()
	m.cluster.Deliveries = make([]modelDelivery, repositories)
	for range repositories {
		m.repositories = append(m.repositories, modelRepository{Reachable: true})
	}
	m.backups = slices.Clone(m.repositories)
	return m
}

// playStory plays one story, and returns its error, or "".
func (m *model) playStory(faults modelFaults) string {
	for range 90 {
		m.act(faults)
		if faults.Hands && m.random.IntN(3) == 0 {
			m.appendByAnotherHand()
		}
		if faults.Mandates && m.random.IntN(20) == 0 {
			m.honours = !m.honours
		}
		if m.truth.broken != "" {
			return m.truth.broken
		}
	}
	m.calm()
	if faults.Mandates && m.random.IntN(2) == 0 {
		m.intent = "x" // The last request may be bad.
	}
	if broken := m.settle(); broken != "" {
		return broken
	}
	if m.truth.recovered && (faults == modelFaults{Mandates: faults.Mandates}) {
		return "a ledger was recovered that was not lost"
	}
	return m.atRest()
}

// settle lets all work in turn until nothing is left to do, and returns the error, or "".
func (m *model) settle() string {
	for range 40 {
		m.call(m.snapshot(), always)
		for i := range m.repositories {
			m.reconcile(i, false)
		}
		m.observe()
		if m.truth.broken != "" {
			return m.truth.broken
		}
	}
	return ""
}

func always() bool { return true }

// calm ends all faults.
func (m *model) calm() {
	m.intent = "a"
	clear(m.stuck)
	m.before = nil
	for i := range m.repositories {
		m.repositories[i].Reachable = true
	}
}

// atRest returns the error of a model in which nothing happens any more, or "".
func (m *model) atRest() string {
	home := m.indexOf(m.home(m.cluster).ConfigRef)
	s := m.repositories[home].Ledger
	if s.Verdict == nil {
		return "there is no verdict at rest"
	}
	if s.Current.Request.Intent != m.intent {
		return "the request of the spec is not the current revision"
	}
	for i := range m.repositories {
		record := m.repositories[i].Record
		if record.Position != s.Position() {
			return fmt.Sprintf("repository %d is at %v, and the ledger in %d at %v", i, record.Position, home, s.Position())
		}
		for _, site := range m.sitesOf(i) {
			if number := wanted(s, site); number > 0 && m.running[site] != number {
				return fmt.Sprintf("Site %s runs revision %d, and not %d", site, m.running[site], number)
			}
		}
	}
	return ""
}

// TestModel plays stories of deployments among faults.
func TestModel(t *testing.T) {
	cases := map[string]struct {
		reason       string
		repositories int
		faults       modelFaults
	}{
		"One":   {reason: "A deployment with one repository comes to its end after any loss.", repositories: 1, faults: modelFaults{States: true}},
		"Two":   {reason: "A deployment with two repositories that lose nothing keeps every verdict.", repositories: 2},
		"Three": {reason: "A deployment with three repositories comes to its end after any loss.", repositories: 3, faults: modelFaults{States: true}},
		"Hands": {reason: "A verdict that another hand appends is kept like a verdict of the function.", repositories: 3, faults: modelFaults{Hands: true}},
		"Mandates": {
			reason: "A deployment whose provider rejects and rolls back by itself, or leaves that to the function again, while that is silent " +
				"for any time, comes to its end after any loss.",
			repositories: 3, faults: modelFaults{Mandates: true, States: true},
		},
		"Kept": {
			reason:       "A deployment whose provider rejects and rolls back by itself needs no recovery where no repository loses anything.",
			repositories: 3, faults: modelFaults{Mandates: true},
		},
		"Moved": {reason: "A ledger moves without a verdict being lost.", repositories: 3, faults: modelFaults{Moves: true}},
		"Forced": {
			reason:       "A ledger whose home is gone continues in another one.",
			repositories: 3, faults: modelFaults{States: true, Moves: true, ForcedMoves: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rounds, random := soak.Random(t, soak.Quick(250, 1_000), 150_000)
			for i := range rounds {
				seed := random.Uint64()
				m := newModel(rand.New(rand.NewPCG(seed, 1)), tc.repositories, allRules)
				if broken := m.playStory(tc.faults); broken != "" {
					t.Fatalf("\n%s\nstory %d of seed %d: %s", tc.reason, i, seed, broken)
				}
			}
		})
	}
}

// TestModelMutants takes one rule away at a time, and looks for a story that then goes wrong.
func TestModelMutants(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*modelRules)
		faults modelFaults
	}{
		"CompareAndSwap": {
			reason: "Without the comparison of heads a call that is behind changes a verdict.",
			change: func(r *modelRules) { r.CompareAndSwap = false },
		},
		"HomeFirst": {
			reason: "Without the home being first a follower acts on events that are never recorded.",
			change: func(r *modelRules) { r.HomeFirst = false },
		},
		"Recover": {
			reason: "Without recovery a follower stays ahead of the ledger for ever.",
			change: func(r *modelRules) { r.Recover = false }, faults: modelFaults{States: true},
		},
		"ReportMissing": {
			reason: "A missing ledger that is not distinguished from an unknown one is never opened.",
			change: func(r *modelRules) { r.ReportMissing = false }, faults: modelFaults{States: true},
		},
		"Echo": {
			reason: "A verdict that the function leaves to a provider which does not say that it gives it is never given.",
			change: func(r *modelRules) { r.Echo = false }, faults: modelFaults{Mandates: true},
		},
		"Proven": {
			reason: "A provider that takes observations of another position for a proof judges the wrong revision.",
			change: func(r *modelRules) { r.Proven = false }, faults: modelFaults{Mandates: true},
		},
		"Shown": {
			reason: "A follower that goes by the possible next events of the home acts on events that are never recorded.",
			change: func(r *modelRules) { r.Shown = false }, faults: modelFaults{Mandates: true},
		},
		"Identity": {
			reason: "Without an identity a ledger that was opened again is taken for its predecessor.",
			change: func(r *modelRules) { r.Identity = false }, faults: modelFaults{States: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rules := allRules
			tc.change(&rules)
			for seed := range uint64(8_000) {
				m := newModel(rand.New(rand.NewPCG(seed, 2)), 2, rules)
				if broken := m.playStory(tc.faults); broken != "" {
					t.Logf("story %d: %s", seed, broken)
					return
				}
			}
			t.Errorf("\n%s\nNo story of 8,000 shows it.", tc.reason)
		})
	}
}

// snapshot returns a copy of the cluster, as a cache holds it.
func (m *model) snapshot() modelCluster {
	c := m.cluster
	c.Deliveries, c.Requests = slices.Clone(c.Deliveries), slices.Clone(c.Requests)
	return c
}
