package deployment

import (
	"math/rand/v2"
	"strings"
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/test/soak"
)

// handStream separates the random choices of the second writer from the random choices of the scenario.
const handStream = 3

// eventsPerStory is in how many stories another hand appends one event at the least. Chance makes it one in two.
const eventsPerStory = 5

// concludes is true for an event by which a revision goes on, is judged, or is rolled back.
func concludes(e ledger.Event) bool {
	return e.Judged != nil || e.Withdrawn != nil || e.Promoted != nil || e.Advanced != nil || e.RolledBack != nil || e.Restored != nil
}

// A permission says which event another hand may append on top of the ledger of a home.
type permission func(home *deliveryv1alpha1.GitDelivery, s ledger.State, e ledger.Event) bool

// anyEvent permits each event.
func anyEvent(*deliveryv1alpha1.GitDelivery, ledger.State, ledger.Event) bool { return true }

// appendByAnotherHand records the event that concludes the current revision, if the objects prove it, it is permitted, and no spec requests it. It reports
// whether it did. It plays the provider, which records the events of the spec first. The status shows it after the provider's next observation.
func (w *walk) appendByAnotherHand(permits permission) bool {
	if home := homeOf(w.moment(), w.deliveries); home != "" {
		w.provide(home, false) // The events of the spec come first.
	}
	m := withoutEchoes(w.moment())
	desired := w.consult(m, w.runStages).deliveries()
	name := homeOf(m, desired)
	if name == "" || m.deliveries[name] == nil {
		return false
	}
	r, update := w.repos[m.deliveries[name].Spec.ProviderConfigReference.Name], desired[name].Spec.ForProvider.Ledger
	recorded := r.memory.ledger
	if r.dead || r.gone || recorded.Seq == 0 || update.After != recorded.Head || len(update.Events) == 0 || !concludes(update.Events[0]) {
		return false
	}
	if !permits(m.deliveries[name], recorded, update.Events[0]) {
		return false
	}
	next, err := ledger.Append(recorded, w.now, update.Events[0])
	if err != nil {
		w.truth.violatedf("the second writer would append an illegal event: %s", err)
		return false
	}
	takenHead := r.memory.taken
	if takenHead == nil {
		takenHead = &recorded.Head
	}
	r.append(fence{next: next, events: update.Events[:1]}, w.now)
	r.memory.taken = takenHead
	w.notef("another hand: %s", described(func() string { return describeEvent(update.Events[0]) }))
	return true
}

// tellWithAnotherHand plays a scenario in which a second writer appends legal events to the ledger at any time. It returns their number.
func tellWithAnotherHand(t *testing.T, cores []*Core, seed uint64) (*walk, int) {
	t.Helper()
	w, hand, appended := newWalk(t, cores, seed), rand.New(rand.NewPCG(seed, handStream)), 0
	w.open(seed)
	for range stepsOf {
		if hand.IntN(3) == 0 && w.appendByAnotherHand(anyEvent) {
			appended++
		}
		if w.step(); len(w.truth.violations) > 0 {
			return w, appended
		}
	}
	w.calm()
	return w, appended
}

// TestAnotherHand plays scenarios of faults with a second writer of the ledger: the invariants of a ledger with one writer hold.
func TestAnotherHand(t *testing.T) {
	n, first := soak.Seed(t, soak.Quick(40, 150), 10000)
	cores, total := versions(), 0
	for seed := first; seed < first+uint64(n); seed++ {
		w, appended := tellWithAnotherHand(t, cores, seed)
		if total += appended; len(w.truth.violations) > 0 {
			t.Fatalf("story %d: %s\n%s", seed, strings.Join(w.truth.violations, "\n"), strings.Join(w.trace[max(0, len(w.trace)-40):], "\n"))
		}
	}
	if minimum := n / eventsPerStory; total < minimum {
		t.Errorf("another hand appends at least %d events in %d stories: got %d", minimum, n, total)
	}
	t.Logf("another hand appended %d events in %d stories", total, n)
}
