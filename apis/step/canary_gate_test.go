package step

import (
	"strings"

	"github.com/intentplane/intentplane/apis/ledger"
)

// measure is one reconcile of the Gate.
func (m *canaryModel) measure() {
	m.openGateAhead()
	g, sync := m.gate, m.sync
	if g.result != "" || sync.proven != g.position || !sync.live || m.home.Current == nil {
		return
	}
	result := "Passed"
	switch content := buildOf(m.home.Current.Request.Intent).Content; {
	case strings.HasSuffix(content, "x"):
		result = "Failed"
	case m.random.IntN(12) == 0:
		result = "Held"
	}
	m.giveVerdict(result)
}

// openGateAhead lets the Gate of the proven position measure: the Gates of all steps are made with the first step.
func (m *canaryModel) openGateAhead() {
	p, r := m.sync.proven, m.home.Current
	isStep := r != nil && p.Revision == r.Number && p.Attempt == 0 && p.Stage == ledger.StageSteps && r.Plan[p.Step].Gate
	if isStep && m.gatesOf == r.Number && m.gate.position != p && m.sync.follows == p {
		m.gate = canaryGate{position: p}
	}
}

// giveVerdict lets the Gate come to a verdict. A recreated Gate may come to another one.
func (m *canaryModel) giveVerdict(result string) {
	m.gate.result = result
	if m.truth.gates[m.gate.position] == nil {
		m.truth.gates[m.gate.position] = map[string]bool{}
	}
	m.truth.gates[m.gate.position][result] = true
}

// noteGate checks the Gate of a step that ends: it passed, or it came to no conclusion and a user released the step. A step that a user left out has none.
func (m *canaryModel) noteGate(previous ledger.State) {
	position, step := previous.Position(), previous.Current.Plan[previous.Cursor.Step]
	isLeftOut := previous.Cursor.Full && step.Weight != nil && *step.Weight > 0 && *step.Weight < 100
	isReleased := previous.IsGateReleased()
	verdicts := m.truth.gates[position]
	switch {
	case !step.Gate, isLeftOut:
	case verdicts["Passed"]:
		m.truth.seen["passed by its Gate"]++
	case verdicts["Held"] && isReleased:
		m.truth.seen["held by its Gate and released"]++
	default:
		m.truth.failf("step %d of revision %d ends with the verdicts %v of its Gate, released: %t", position.Step, position.Revision, verdicts, isReleased)
	}
}
