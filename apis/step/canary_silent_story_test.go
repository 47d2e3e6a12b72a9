package step

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// turnsToConclude is in how many turns the provider records the event that the evidence proves.
const turnsToConclude = 3

// silences are for how long the function is not called: for a moment, while a circuit breaker is open, or for a whole revision.
var silences = []int{3, 25, 150}

// silentFault lets the provider, or the part of the claim that it reads, have a fault.
func (m *canaryModel) silentFault() {
	switch m.random.IntN(5) {
	case 0:
		m.claimHold = !m.claimHold
		m.tracef("the claim permits nothing: %t", m.claimHold)
	case 1:
		m.losesEchoes = !m.losesEchoes
		m.tracef("echoes are lost: %t", m.losesEchoes)
	case 2:
		m.putOldMandate()
	default:
		m.concludeAsSecondLeader()
	}
}

// putOldMandate gives the home the mandate of an earlier revision again, as a late write does.
func (m *canaryModel) putOldMandate() {
	older := slices.DeleteFunc(slices.Clone(m.mandates), func(a canaryMandate) bool { return m.home.Current == nil || a.Revision >= m.home.Current.Number })
	if len(older) > 0 && m.deliveries[0].isObserved {
		m.deliveries[0].mandate = older[m.random.IntN(len(older))]
		m.tracef("the mandate of revision %d is put back", m.deliveries[0].mandate.Revision)
	}
}

// concludeAsSecondLeader lets another provider conclude, whose GitDelivery may be older than the present one. It reads the repository, and its status is refused.
func (m *canaryModel) concludeAsSecondLeader() {
	if len(m.before) == 0 || m.isUnreachable[0] {
		return
	}
	d := m.before[m.random.IntN(len(m.before))].deliveries[0]
	m.tracef("a second leader concludes by the mandate of revision %d", d.mandate.Revision)
	m.concludeByMandate(&d, m.home)
}

// tellSilentStory plays a story in which the function is silent for any time, and the provider acts by mandates. It returns the error, or "".
func (m *canaryModel) tellSilentStory() string {
	m.honours = true
	silence := 0
	for range 100 + m.random.IntN(300) {
		if silence--; silence < 0 && m.random.IntN(8) == 0 {
			silence = silences[m.random.IntN(len(silences))]
			m.tracef("the function is silent for %d turns", silence)
		}
		m.isSilent = silence > 0
		m.work()
		if m.random.IntN(10) == 0 {
			m.disturb()
		}
		if m.random.IntN(12) == 0 {
			m.silentFault()
		}
		if m.random.IntN(3) == 0 {
			m.release()
		}
		if m.random.IntN(12) == 0 {
			m.repairAll()
		}
		if m.truth.broken != "" {
			return m.truth.broken
		}
	}
	m.isSilent, m.losesEchoes = false, false
	return m.comeToRest()
}

// silentSights are the kinds of events that a provider records in stories.
var silentSights = []Kind{KindReject, KindRollBack, KindRequest, KindAdvance, KindVerify}

// newSilentModel makes the model of the silent story of a seed.
func newSilentModel(seed uint64, rules canaryRules) *canaryModel {
	chances := rand.New(rand.NewPCG(seed, 17))
	m := newCanaryModelOf(chances, rules, 1, [][]string{{"edge1"}, {"edge1", "edge2"}}[chances.IntN(2)])
	m.spec.steps = m.randomSteps()
	return m
}

// TestCanarySilentStories plays random stories of one repository, in which the provider goes on, rejects and rolls back without the function.
func TestCanarySilentStories(t *testing.T) {
	rounds, random := soak.Random(t, canaryStories, 10_000)
	counts := map[string]int{}
	for i := range rounds {
		seed := random.Uint64()
		m := newSilentModel(seed, allCanaryRules)
		if broken := m.tellSilentStory(); broken != "" {
			t.Fatalf("\nstory %d of seed %d: %s\n%s", i, seed, broken, m)
		}
		for sight, n := range m.truth.seen {
			counts[sight] += n
		}
	}
	t.Logf("seen: %v", counts)
	if observed := counts["by mandate"]; observed < rounds {
		t.Errorf("The provider records at least one event in a story by and large: got %d in %d", observed, rounds)
	}
	for _, kind := range silentSights {
		if counts["by mandate: "+string(kind)] == 0 {
			t.Errorf("no story has an event by the mandate of kind %s", kind)
		}
	}
}

// tellSilence lets the function fall silent once the Gate of a canary that gets requests has failed, and returns the error, or "".
func (m *canaryModel) tellSilence() string {
	m.honours = true
	if broken := m.waitUntil("the first revision rests", func() bool { return m.atRest() == "" }); broken != "" {
		return broken
	}
	m.spec.content = "x"
	hasFailed := func() bool {
		return m.home.IsGated() && m.gate.result == "Failed" && m.gate.position == m.home.Position() || m.home.IsRejected()
	}
	if broken := m.waitUntil("the Gate fails", hasFailed); broken != "" {
		return broken
	}
	m.isSilent, m.before = true, nil
	for range turnsToConclude {
		m.deliver(0, false)
	}
	s := m.home
	if !s.IsRejected() || s.Cursor.Attempt != 1 {
		return fmt.Sprintf("three turns after its Gate failed the revision is at %+v, rejected: %t", s.Position(), s.IsRejected())
	}
	for _, site := range m.sites {
		isGone := s.Cursor.Stage != ledger.StageShift
		if f := site.git[s.Current.Track]; f.Weight != 0 || f.Revision != s.Current.Number && !isGone {
			return fmt.Sprintf("three turns after its Gate failed %s has %s", site.name, site.git.name())
		}
	}
	m.spec.content, m.isSilent = "a", false
	return m.waitUntil("all rests", func() bool { return m.atRest() == "" })
}

// tellForward lets the function fall silent as soon as a revision has begun, and its objects request that. It returns the error, or "".
func (m *canaryModel) tellForward() string {
	m.honours = true
	if broken := m.waitUntil("the first revision rests", func() bool { return m.atRest() == "" }); broken != "" {
		return broken
	}
	return m.tellOrdered([]string{"b", "b", "x"}[m.random.IntN(3)])
}

// tellReplaced lets another canary replace a canary that gets requests, and the function fall silent as soon as that has begun. It returns the error, or "".
func (m *canaryModel) tellReplaced() string {
	m.honours = true
	if broken := m.waitUntil("the first revision rests", func() bool { return m.atRest() == "" }); broken != "" {
		return broken
	}
	m.spec.content = "b"
	getsRequests := func() bool { return m.home.Current.Number == 2 && m.home.IsInSteps() && m.home.Cursor.Step > 0 }
	if broken := m.waitUntil("the canary gets requests", getsRequests); broken != "" {
		return broken
	}
	return m.tellOrdered([]string{"c", "c", "x"}[m.random.IntN(3)])
}

// tellOrdered lets the function fall silent as soon as a revision with a content has begun. It returns the error, or "".
func (m *canaryModel) tellOrdered(content string) string {
	m.spec.content = content
	for turn := 0; !m.isOrdered(); turn++ {
		if turn > 20 {
			return "the revision of the spec does not begin"
		}
		m.repairAll()
		m.call(m.view(), always)
		m.deliver(0, false)
	}
	m.isSilent, m.before = true, nil
	m.tracef("the function is silent")
	isOver := func() bool {
		return m.home.Cursor.Stage == ledger.StageAlone || m.home.IsRejected() && m.home.Cursor.Attempt > 0 && !m.home.IsBeforeSteps()
	}
	for turn := 0; !isOver(); turn++ {
		if turn > 600 {
			return fmt.Sprintf("a silent function leaves the revision at %+v", m.home.Position())
		}
		m.work()
		m.release()
		if broken := m.concludesInTime(); broken != "" {
			return broken
		}
	}
	m.isSilent, m.spec.content = false, "a"
	return m.waitUntil("all rests", func() bool { return m.atRest() == "" })
}

// isOrdered is true once the home has recorded the revision of the spec, and each object requests its position.
func (m *canaryModel) isOrdered() bool {
	home, position := m.deliveries[0], m.home.Position()
	isSpec := m.home.Current != nil && m.home.Current.Request.Intent == m.intent()
	return isSpec && home.mandate.covers(m.home) && home.carries == m.home.Current.Number && m.sync.requested == position
}

// concludesInTime checks that the provider records the event that its status promises within a few turns. The function says which event follows.
func (m *canaryModel) concludesInTime() string {
	m.before = nil // The caches are up to date.
	e := m.promisedEvent()
	if m.truth.broken != "" || e == nil {
		return m.truth.broken
	}
	s := m.home
	for range turnsToConclude {
		m.deliver(0, false)
	}
	if m.home.Head == s.Head {
		return fmt.Sprintf("the provider does not record %s at %+v, which its status promises", event(e), s.Position())
	}
	return m.truth.broken
}

// promisedEvent returns the event that the function would record now, if the status of the home promises its kind, or nil. A rollback ends once the spec of the
// home has its position.
func (m *canaryModel) promisedEvent() *ledger.Event {
	view, s := m.view(), m.home
	home := view.deliveries[0]
	if home.ledger.Head != s.Head || home.echo != s.Current.Number {
		return nil
	}
	e, _ := Step(s, m.input(view, s, s))
	isEnd := e != nil && e.Restored != nil && home.position != s.Position()
	if e == nil || isEnd || !slices.Contains(home.may, KindOf(s, *e)) {
		return nil
	}
	return e
}

// waitUntil lets each part do its work until a condition holds, and returns the error, or "".
func (m *canaryModel) waitUntil(subject string, condition func() bool) string {
	for range 400 {
		m.work()
		m.release()
		if m.truth.broken != "" || condition() {
			return m.truth.broken
		}
	}
	return "waited in vain until " + subject
}

// TestCanarySilent looks for a story in which a provider with a mandate needs the function.
func TestCanarySilent(t *testing.T) {
	cases := map[string]struct {
		reason string
		model  func(t *testing.T, seed uint64) *canaryModel
		play   func(m *canaryModel) string
	}{
		"Back": {
			reason: "Three turns of the provider after its Gate failed a canary gets no requests, and all goes on with the function.",
			model: func(t *testing.T, seed uint64) *canaryModel {
				t.Helper()
				m := newCanaryModelOf(rand.New(rand.NewPCG(seed, 19)), allCanaryRules, 1, []string{"edge1", "edge2"})
				m.spec.steps = planOf(t, "0 20+gate 100")
				return m
			},
			play: (*canaryModel).tellSilence,
		},
		"Forward": {
			reason: "Three turns of the provider after each step passed the next one begins, and a revision goes to its end without the function.",
			model: func(_ *testing.T, seed uint64) *canaryModel {
				return newSilentModel(seed, allCanaryRules)
			},
			play: (*canaryModel).tellForward,
		},
		"Replaced": {
			reason: "A canary that replaces another one takes its first step once the requests have ended, and goes to its end without the function.",
			model: func(t *testing.T, seed uint64) *canaryModel {
				t.Helper()
				m := newCanaryModelOf(rand.New(rand.NewPCG(seed, 23)), allCanaryRules, 1, []string{"edge1", "edge2"})
				m.spec.steps = planOf(t, "0 20+gate 50+gate 100")
				return m
			},
			play: (*canaryModel).tellReplaced,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rounds, random := soak.Random(t, 100, 10_000)
			for i := range rounds {
				seed := random.Uint64()
				m := tc.model(t, seed)
				if broken := tc.play(m); broken != "" {
					t.Fatalf("\n%s\nstory %d of seed %d: %s\n%s", tc.reason, i, seed, broken, m)
				}
			}
		})
	}
}

// TestCanarySilentMutants takes away one rule of the provider, and looks for a story that then goes wrong. TestModelMutants does so for those about echoes and
// proofs.
func TestCanarySilentMutants(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*canaryRules)
		play   func(m *canaryModel) string
	}{
		"Covers": {
			reason: "A mandate of an earlier revision records nothing.",
			change: func(r *canaryRules) { r.Covers = false }, play: (*canaryModel).tellSilentStory,
		},
		"Guard": {
			reason: "Nothing goes forward after the user edited, suspended or paused the claim.",
			change: func(r *canaryRules) { r.Guard = false }, play: (*canaryModel).tellSilentStory,
		},
		"Follows": {
			reason: "A SiteSync that stays at its spec proves no step that the provider takes.",
			change: func(r *canaryRules) { r.Follows = false }, play: (*canaryModel).tellForward,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rules := allCanaryRules
			tc.change(&rules)
			for seed := range uint64(canaryStories) {
				if broken := tc.play(newSilentModel(seed, rules)); broken != "" {
					t.Logf("story %d: %s", seed, broken)
					return
				}
			}
			t.Errorf("\n%s\nNo story of %d shows it.", tc.reason, canaryStories)
		})
	}
}
