package deployment

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/test/soak"
)

// echoOf returns the mandate status of a provider of scenarios, which knows all kinds of events.
func echoOf(m *deliveryv1alpha1.Mandate, s ledger.State) *deliveryv1alpha1.MandateStatus {
	if !m.Covers(s) {
		return nil
	}
	return &deliveryv1alpha1.MandateStatus{Rules: m.Rules, Revision: s.Current.Number, May: m.May}
}

// withoutEchoes returns a moment in which the provider leaves everything to the function: its proposals are the next events.
func withoutEchoes(m moment) moment {
	m.deliveries = maps.Clone(m.deliveries)
	for name, d := range m.deliveries {
		if d.Status.AtProvider.Mandate != nil {
			m.deliveries[name] = copyForStatus(d)
			m.deliveries[name].Status.AtProvider.Mandate = nil
		}
	}
	return m
}

// byMandate permits the events that the mandate of a home lists.
func byMandate(home *deliveryv1alpha1.GitDelivery, s ledger.State, e ledger.Event) bool {
	echo := echoOf(home.Spec.ForProvider.Mandate, s)
	return echo != nil && slices.Contains(echo.May, step.KindOf(s, e))
}

// concludeByMandate lets the provider record all that follows by the mandate of the home, in a story in which it does so. It returns how many events that were.
func (w *walk) concludeByMandate() int {
	n := 0
	for w.honours && w.appendByAnotherHand(byMandate) {
		n++
	}
	return n
}

// tellWithMandates plays a scenario in which the provider records the next events by mandates at each of its turns. It returns their number.
func tellWithMandates(t *testing.T, cores []*Core, seed uint64) (*walk, int) {
	t.Helper()
	w, hand, n := newWalk(t, cores, seed), rand.New(rand.NewPCG(seed, handStream)), 0
	w.honours = true
	for _, r := range w.repos {
		r.honours = true
	}
	w.open(seed)
	for range stepsOf {
		if hand.IntN(3) == 0 {
			n += w.concludeByMandate()
		}
		if w.step(); len(w.truth.violations) > 0 {
			return w, n
		}
	}
	w.calm()
	return w, n
}

// TestMandates plays scenarios of faults in which the function leaves rejections and rollbacks to the provider: each deployment comes to its end, and the
// invariants of a ledger with one writer hold.
func TestMandates(t *testing.T) {
	n, first := soak.Seed(t, 150, 10000)
	cores, total := versions(), 0
	for seed := first; seed < first+uint64(n); seed++ {
		w, recorded := tellWithMandates(t, cores, seed)
		if total += recorded; len(w.truth.violations) > 0 {
			t.Fatalf("story %d: %s\n%s", seed, strings.Join(w.truth.violations, "\n"), strings.Join(w.trace[max(0, len(w.trace)-40):], "\n"))
		}
	}
	if least := n / eventsPerStory; total < least {
		t.Errorf("the provider records at least %d events in %d stories: got %d", least, n, total)
	}
	t.Logf("the provider recorded %d events in %d stories", total, n)
}
