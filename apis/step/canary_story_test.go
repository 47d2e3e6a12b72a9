package step

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// tellStory plays one story, and returns its error, or "".
func (m *canaryModel) tellStory() string {
	for range 100 + m.random.IntN(400) {
		m.work()
		if m.random.IntN(10) == 0 {
			m.disturb()
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
	return m.comeToRest()
}

// comeToRest lets the rest of a story be calm, and returns its error, or "".
func (m *canaryModel) comeToRest() string {
	m.endFaults()
	rests := 0
	for range 700 {
		m.work()
		m.release()
		if m.truth.broken != "" {
			return m.truth.broken
		}
		if rests++; m.atRest() != "" {
			rests = 0
		}
		if rests > 30 {
			return ""
		}
	}
	return m.atRest()
}

// work lets each part do something, and a few seconds pass.
func (m *canaryModel) work() {
	m.before = append(m.before, m.view())
	m.before = m.before[max(0, len(m.before)-4):]
	for range 6 {
		switch m.random.IntN(5) {
		case 0:
			m.callLate()
		case 1:
			m.deliver(m.random.IntN(len(m.deliveries)), m.random.IntN(10) == 0)
		case 2:
			s := m.sites[m.random.IntN(len(m.sites))]
			s.apply()
			s.fetch()
		case 3:
			m.observe()
			m.measure()
		case 4:
			m.tick()
		}
	}
}

// callLate calls the function with an old view, and sometimes again with the present one. One cache serves all calls: no call sees an older view than a previous
// call.
func (m *canaryModel) callLate() {
	if m.isSilent {
		return
	}
	m.before = slices.DeleteFunc(m.before, func(v canaryView) bool { return v.number < m.seen })
	if len(m.before) > 0 {
		m.call(m.before[m.random.IntN(len(m.before))], m.sometimes)
	}
	if len(m.before) == 0 || m.random.IntN(2) == 0 {
		m.call(m.view(), m.sometimes)
	}
}

func (m *canaryModel) sometimes() bool { return m.random.IntN(8) > 0 }

// disturb lets a user or a fault change something.
func (m *canaryModel) disturb() {
	s := m.sites[m.random.IntN(len(m.sites))]
	switch n := m.random.IntN(100); {
	case n < 24:
		m.spec.content = []string{"a", "b", "c", "d", "b", "c", "x", "z"}[m.random.IntN(8)]
		m.tracef("the user wants %s", m.spec.content)
	case n < 27:
		m.spec.replicas = 4 + m.random.IntN(3)
		m.tracef("the user wants %d replicas", m.spec.replicas)
	case n < 29:
		m.spec.steps = m.randomSteps()
		m.tracef("the user wants other steps: %s", m.intent())
	case n < 32:
		m.spec.isEnabled = !m.spec.isEnabled
		m.tracef("canary is enabled: %t", m.spec.isEnabled)
	case n < 34:
		m.spec.sources = fmt.Sprint("s", m.random.IntN(3))
	case n < 36:
		m.spec.isBroken = !m.spec.isBroken
	case n < 38:
		m.spec.suspended = !m.spec.suspended
		m.tracef("suspended: %t", m.spec.suspended)
	case n < 41:
		m.spec.rollsBack = !m.spec.rollsBack
		m.tracef("rolls back: %t", m.spec.rollsBack)
	case n < 60:
		m.ask()
	case n < 67:
		s.isStuck = !s.isStuck
		m.tracef("the engine of %s is stuck: %t", s.name, s.isStuck)
	case n < 74:
		s.isGatewayStuck = !s.isGatewayStuck
		m.tracef("the gateway of %s is stuck: %t", s.name, s.isGatewayStuck)
	case n < 80:
		i := m.random.IntN(len(m.isUnreachable))
		m.isUnreachable[i] = !m.isUnreachable[i]
		m.tracef("repository %d is unreachable: %t", i, m.isUnreachable[i])
	case n < 84:
		m.loseSync()
		m.tracef("the SiteSync is lost")
	case n < 88:
		m.gate, m.gatesOf = canaryGate{}, 0
	case n < 92:
		m.loseDelivery(m.random.IntN(len(m.deliveries)))
	case n < 97:
		m.spec.isPlain = !m.spec.isPlain
		m.tracef("the user wants a Blueprint without tracks: %t", m.spec.isPlain)
	case n < 99:
		m.spec.content, m.spec.isPlain = "z", true
		m.tracef("the user wants a Blueprint without tracks, whose pods are broken")
	}
}

// loseDelivery loses the object of a repository. A directory that has folder plain is in the middle of a move, or of an abandoned move, and a move
// that the user asks for already begins as soon as it can.
func (m *canaryModel) loseDelivery(i int) {
	for _, site := range m.sites {
		_, isBeside := site.git.folderOf(ledger.TrackPlain)
		isMoving := m.home.IsMove() || isBeside && !site.git.isFlat() || m.asksForMove()
		m.hasLost[site.name] = m.hasLost[site.name] || m.repositoryOf(site.name) == i && isMoving
	}
	m.deliveries[i] = canaryDelivery{}
	m.tracef("GitDelivery %d is lost", i)
}

// asksForMove is true while the user asks for another kind of Blueprint than that of the stable revision.
func (m *canaryModel) asksForMove() bool {
	p := m.home.PastRevision(m.home.Stable)
	return p != nil && ledger.IsPlain(p.Track) != m.spec.isPlain
}

// ask makes a RolloutRequest about the revision that its user sees.
func (m *canaryModel) ask() {
	s := m.deliveries[0].ledger
	if s.Current == nil {
		return
	}
	m.uids++
	r := Request{
		Ref: ledger.RequestReference{Name: "request", UID: fmt.Sprint("u", m.uids)}, Revision: s.Current.Number, CreatedAt: m.time(),
		Action: []Action{ActionPromote, ActionPromote, ActionPromote, ActionAbort, ActionRetry, ActionRollbackTo}[m.random.IntN(6)],
		Step:   s.Cursor.Step + int32(m.random.IntN(4)), ToRevision: 1,
	}
	if targets := s.Targets(); len(targets) > 0 {
		r.ToRevision = targets[m.random.IntN(len(targets))].Number
	}
	for _, p := range s.Targets() {
		// The target has the track of the canary that shares requests, or that of the stable revision.
		if p.Number != s.Current.Stable && s.Verdict == nil && s.Cursor.Step > 0 && m.random.IntN(3) == 0 {
			r.Action, r.ToRevision = ActionRollbackTo, p.Number
		}
	}
	r.Full = r.Action == ActionPromote && m.random.IntN(5) == 0
	m.requests = append(m.requests, r)
	m.requests = m.requests[max(0, len(m.requests)-6):]
	m.tracef("the user asks for %s: step %d, full %t, to %d", r.Action, r.Step, r.Full, r.ToRevision)
}

// endFaults lets the rest of the story be calm.
func (m *canaryModel) endFaults() {
	m.tracef("calm")
	m.isCalm = true
	if m.spec.rollsBack = m.random.IntN(4) > 0; m.spec.rollsBack {
		m.spec.content = "a"
	}
	m.requests = nil
	m.repairAll()
}

// repairAll ends all faults.
func (m *canaryModel) repairAll() {
	m.spec.isBroken, m.spec.suspended, m.claimHold = false, false, false
	for _, s := range m.sites {
		s.isStuck, s.isGatewayStuck = false, false
	}
	for i := range m.isUnreachable {
		m.isUnreachable[i] = false
	}
}

// release promotes the present step, as the user does in the end. A move that is refused is taken back.
func (m *canaryModel) release() {
	s := m.deliveries[0].ledger
	if m.isCalm && m.deliveries[0].isObserved && m.desired(m.view(), s) == nil {
		m.spec.isPlain = !m.spec.isPlain
	}
	if s.Current != nil && s.Verdict == nil && m.random.IntN(4) == 0 {
		m.uids++
		ref := ledger.RequestReference{Name: "release", UID: fmt.Sprint("u", m.uids)}
		m.requests = []Request{{Ref: ref, Action: ActionPromote, Revision: s.Current.Number, Step: s.Cursor.Step + 1}}
	}
}

func (m *canaryModel) String() string { return strings.Join(m.trace, "\n") }

// canaryStories is how many stories make test plays. They come to all of canarySights.
const canaryStories = 200

// canarySights are the situations that stories have to come to, so that they are worth playing.
var canarySights = []string{
	"alone", "held by its Gate and released", "left out", "moved to track blue", "moved to track plain", "passed by its Gate",
	"rejected before its steps", "rejected in step 0", "rejected in step 1", "rejected in step 2", "replaced in flight", "restored",
	"stage 1, attempt false", "stage 1, attempt true", "stage 2, attempt false", "stage 2, attempt true", "verified with steps",
	"verified without steps", "withdrawn",
}

// TestCanaryStories plays random stories of deployments in tracks.
func TestCanaryStories(t *testing.T) {
	rounds, random := soak.Random(t, canaryStories, 10_000)
	counts := map[string]int{}
	for i := range rounds {
		seed := random.Uint64()
		m := newCanaryModel(rand.New(rand.NewPCG(seed, 15)), allCanaryRules)
		if broken := m.tellStory(); broken != "" {
			t.Fatalf("\nstory %d of seed %d: %s\n%s", i, seed, broken, m)
		}
		for sight, n := range m.truth.seen {
			counts[sight] += n
		}
	}
	t.Logf("seen: %v", counts)
	for _, sight := range canarySights {
		if counts[sight] == 0 {
			t.Errorf("no story comes to: %s", sight)
		}
	}
}

// TestCanaryMutants takes away one rule of the parts that the model plays, and looks for a story that then goes wrong. TestCanaryFolders does so for the
// rules about pods, which take a story of their own.
func TestCanaryMutants(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*canaryRules)
	}{
		"Drain":        {reason: "A track without weight may still answer open requests.", change: func(r *canaryRules) { r.Drain = false }},
		"IdleIsProven": {reason: "A weight of 0 in Git does not prove that the track gets no requests.", change: func(r *canaryRules) { r.IdleIsProven = false }},
		"NewerThanWeighed": {
			reason: "A proof from before a track got requests does not prove that the requests have ended.",
			change: func(r *canaryRules) { r.NewerThanWeighed = false },
		},
		"Available":        {reason: "Requests need pods that are available.", change: func(r *canaryRules) { r.Available = false }},
		"Accepted":         {reason: "Requests follow a route once the gateway accepted it.", change: func(r *canaryRules) { r.Accepted = false }},
		"PauseStays":       {reason: "A pause does not begin again when a Site flaps.", change: func(r *canaryRules) { r.PauseStays = false }},
		"AloneAfterRecord": {reason: "The stable pods stay until the verdict is recorded.", change: func(r *canaryRules) { r.AloneAfterRecord = false }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rules := allCanaryRules
			tc.change(&rules)
			for seed := range uint64(canaryStories) {
				m := newCanaryModel(rand.New(rand.NewPCG(seed, 16)), rules)
				if broken := m.tellStory(); broken != "" {
					t.Logf("story %d: %s", seed, broken)
					return
				}
			}
			t.Errorf("\n%s\nNo story of %d shows it.", tc.reason, canaryStories)
		})
	}
}
