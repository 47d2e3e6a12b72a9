package step

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// The provider of the canary model, which concludes by a mandate: it knows the directories of its own repository, and a SiteSync and a Gate that may be older.

// isLeftToProvider is true for an event that the provider records by itself on top of the recorded state.
func isLeftToProvider(home canaryDelivery, recorded, s ledger.State, e ledger.Event) bool {
	return s.Current != nil && s.Head == recorded.Head && home.mandate == mandateOf(s) && home.echo == s.Current.Number && slices.Contains(mandates, KindOf(s, e))
}

// actsByMandate is true for the only repository of a deployment, if the mandate of its object is for a state, and the object has the files that tracks share.
func (m *canaryModel) actsByMandate(d *canaryDelivery, s ledger.State) bool {
	isCovered := m.honours && len(m.records) == 1 && s.Current != nil && d.mandate == mandateOf(s)
	return isCovered && !slices.ContainsFunc(m.sites, func(site *canarySite) bool { return len(site.git) > 1 && len(d.files[site.name]) == 0 })
}

// ownView returns the view of the provider.
func (m *canaryModel) ownView(d *canaryDelivery) canaryView {
	v := canaryView{sync: m.sync, gate: m.gate}
	if len(m.before) > 0 {
		late := m.before[m.random.IntN(len(m.before))]
		v.sync, v.gate = late.sync, late.gate
	}
	ownCanaryDelivery := *d
	ownCanaryDelivery.isObserved, ownCanaryDelivery.ledger, ownCanaryDelivery.reported = true, m.home, m.records[0]
	ownCanaryDelivery.trees, ownCanaryDelivery.weighed, ownCanaryDelivery.placed = map[string]canaryDirectory{}, map[string]map[string]ledger.Position{}, map[string]map[string]ledger.Position{}
	for _, s := range m.sites {
		if len(s.git) > 0 {
			ownCanaryDelivery.trees[s.name], ownCanaryDelivery.weighed[s.name], ownCanaryDelivery.placed[s.name] = s.git, s.weighed, s.placed
		}
	}
	v.deliveries = []canaryDelivery{ownCanaryDelivery}
	return v
}

// ownInput returns the input of the provider's decision about a state. The end of a rollback is proven for a position that the object asks for. Nothing is proven
// for a proposed position.
func (m *canaryModel) ownInput(v canaryView, recorded, s ledger.State) Input {
	in := m.input(v, recorded, s)
	in.Desired, in.Requests, in.Proof, in.HasAllReported = nil, nil, Proof{}, m.records[0] == s.Position()
	requested := v.deliveries[0].position
	isAbout := s.Position() == recorded.Position() && v.sync.proven == s.Position()
	if isAbout && maps.EqualFunc(v.deliveries[0].wanted, v.sync.provenTrees, canaryDirectory.equal) {
		in.Proof = m.observedProof(v, s)
	}
	in.Proof.IsLive = in.Proof.IsLive && requested == s.Position()
	return in
}

// concludeByMandate records in one push the next events by the mandate of the home. Where the object is behind then, the directories follow from the ledger.
func (m *canaryModel) concludeByMandate(d *canaryDelivery) {
	v, recorded := m.ownView(d), m.home
	for range maxEvents {
		if !m.actsByMandate(d, m.home) {
			return
		}
		e, _ := Conclude(m.home, m.ownInput(v, recorded, m.home))
		if e == nil || !slices.Contains(mandates, KindOf(m.home, *e)) {
			break
		}
		next, err := ledger.Append(m.home, m.time(), *e)
		if err != nil {
			m.truth.failf("an event by mandate is illegal: %v", err)
			return
		}
		m.tellf("recorded by mandate %s at %+v", event(e), next.Position())
		m.truth.seen["by mandate"]++
		m.noteEvent(m.home, *e, next)
		m.home = next
	}
	if m.isAhead(d) {
		ownCanaryDelivery := *d
		ownCanaryDelivery.position, ownCanaryDelivery.isRejected = m.home.Position(), true
		ownCanaryDelivery.wanted = m.compose(0, v, m.ownInput(v, recorded, m.home), m.home)
		m.push(0, &ownCanaryDelivery)
	}
}

// isAhead is true if the ledger came to a state of the revision by the mandate that the object does not ask for.
func (m *canaryModel) isAhead(d *canaryDelivery) bool {
	position := m.home.Position()
	led, err := ledger.NextID(d.after.ID, d.events...)
	isSame := d.position.Epoch == position.Epoch && d.position.Revision == position.Revision
	isBehind := d.position.Compare(position) < 0 || d.position == position && position.Attempt == 0
	return m.home.IsRejected() && isSame && isBehind && (err != nil || led != m.home.ID)
}

// tellSilentStory plays a story in which the function is silent for any time, and the provider acts by mandates. It returns the error, or "".
func (m *canaryModel) tellSilentStory() string {
	m.honours = true
	for range 100 + m.random.IntN(300) {
		m.work()
		if m.random.IntN(10) == 0 {
			m.disturb()
		}
		if m.random.IntN(8) == 0 {
			m.isSilent = !m.isSilent
			m.tellf("the function is silent: %t", m.isSilent)
		}
		if m.random.IntN(3) == 0 {
			m.release()
		}
		if m.random.IntN(12) == 0 {
			m.mend()
		}
		if m.truth.broken != "" {
			return m.truth.broken
		}
	}
	m.isSilent = false
	return m.comeToRest()
}

// TestCanarySilentStories plays random stories of one repository, in which the provider rejects and rolls back without the function.
func TestCanarySilentStories(t *testing.T) {
	rounds, random := soak.Random(t, canaryStories, 10_000)
	observed := 0
	for i := range rounds {
		seed := random.Uint64()
		chances := rand.New(rand.NewPCG(seed, 17))
		m := newCanaryModelOf(chances, allCanaryRules, 1, [][]string{{"edge1"}, {"edge1", "edge2"}}[chances.IntN(2)])
		m.spec.steps = m.randomSteps()
		if broken := m.tellSilentStory(); broken != "" {
			t.Fatalf("\nstory %d of seed %d: %s\n%s", i, seed, broken, m)
		}
		observed += m.truth.seen["by mandate"]
	}
	t.Logf("events by mandate: %d", observed)
	if observed < rounds {
		t.Errorf("The provider records at least one event in a story by and large: got %d in %d", observed, rounds)
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
	for range 3 {
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

// TestCanarySilent looks for a story in which a provider with a mandate needs the function to take the requests from a canary.
func TestCanarySilent(t *testing.T) {
	rounds, random := soak.Random(t, 100, 10_000)
	for i := range rounds {
		seed := random.Uint64()
		m := newCanaryModelOf(rand.New(rand.NewPCG(seed, 19)), allCanaryRules, 1, []string{"edge1", "edge2"})
		m.spec.steps = planOf(t, "0 20+gate 100")
		if broken := m.tellSilence(); broken != "" {
			t.Fatalf("\nThree turns of the provider after its Gate failed a canary gets no requests, and all goes on with the function.\nstory %d of seed %d: %s\n%s",
				i, seed, broken, m)
		}
	}
}
