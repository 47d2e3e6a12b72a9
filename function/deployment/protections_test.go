package deployment

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// A protection is a rule that keeps decisions in order when several repositories, and calls that read old objects, may decide.
type protection int

// Protections of the ledger. noProtection is missing only in scenarios that show the need of the others.
const (
	noProtection protection = iota
	// compareAndSwap lets the home record events only on top of the head that their writer saw.
	compareAndSwap
	// homeFirst sends a follower only events that the home has recorded.
	homeFirst
	// recovery continues a ledger that was lost from the status of its delivery, or from the copy of a follower.
	recovery
)

// fence is the decision of a home without a protection.
func (missing protection) fence(m memory, recorded ledger.State, requested deliveryv1alpha1.LedgerUpdate, published ledger.State, knownHead ledger.Head, identity string, now time.Time) fence {
	switch {
	case missing == compareAndSwap && !wasRecorded(recorded, requested):
		requested.After = recorded.Head
	case missing == recovery:
		published, knownHead = ledger.State{}, ledger.Head{}
	}
	return fenceHome(m, recorded, requested, published, knownHead, identity, now)
}

// record returns the record that a repository reports without a protection.
func (missing protection) record(m memory) *deliveryv1alpha1.LedgerRecord {
	out := m.shown()
	if missing == recovery && out != nil {
		out.Copy = nil
	}
	return out
}

// askForProposed sends the followers the proposed events of a call, without waiting for the home.
func (w *walk) askForProposed(m moment, out *reply) {
	name := homeOf(m, out.deliveries())
	if w.missing != homeFirst || name == "" {
		return
	}
	home, observed := copyForStatus(out.deliveries()[name]), seenLedger(m.deliveries[name])
	next, err := ledger.Append(observed, w.now, home.Spec.ForProvider.Ledger.Events...)
	if err != nil || home.Spec.ForProvider.Ledger.After != observed.Head {
		return
	}
	home.Status.AtProvider.Ledger = &next
	m.deliveries = maps.Clone(m.deliveries)
	m.deliveries[name] = home
	for follower, d := range w.consult(m, w.runStages).deliveries() {
		if follower != name {
			out.objects[follower] = d
		}
	}
}

// tellWritten plays a written scenario, without a random fault after it, with the random choices of a seed. A protection is missing once the first
// revision came to its end.
func tellWritten(t *testing.T, cores []*Core, seed uint64, story writtenStory, missing protection) *walk {
	t.Helper()
	w := newWalk(t, cores, seed)
	w.beginPlainly()
	w.missing = missing
	for _, r := range w.repos {
		r.missing = missing
	}
	story.begin(w)
	if len(w.truth.violations) == 0 {
		w.calm()
	}
	return w
}

// TestProtections plays the written scenarios with all protections of the ledger, and without each of them.
func TestProtections(t *testing.T) {
	cases := map[string]struct {
		reason  string
		missing protection
		// want are stories that go wrong. All others may.
		want []string
	}{
		"All": {reason: "A written story goes well while nothing is missing."},
		"CompareAndSwap": {
			reason:  "A late call decides about a revision that it never saw where heads are not compared.",
			missing: compareAndSwap, want: []string{"judgedTwice"},
		},
		"HomeFirst": {
			reason:  "A follower that does not wait for the home acts on events that the home never records.",
			missing: homeFirst, want: []string{"judgedTwice", "lostTogether"},
		},
		"Recovery": {
			reason:  "A follower that is ahead of a lost ledger stays so for ever where the ledger does not continue from a copy.",
			missing: recovery, want: []string{"homeMadeAnew", "stateLost"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cores := versions()
			for _, story := range writtenStories() {
				// Seeds differ in Gates, waves, clusters and in the reports of engines.
				for seed := range uint64(4) {
					w := tellWritten(t, cores, seed, story, tc.missing)
					isWrong, must := len(w.truth.violations) > 0, slices.Contains(tc.want, story.name)
					if isWrong && tc.missing == noProtection || !isWrong && must {
						t.Errorf("\n%s\nstory %s, seed %d goes wrong: %t\n%s\n%s", tc.reason, story.name, seed, isWrong, strings.Join(w.truth.violations, "\n"), strings.Join(w.trace, "\n"))
					}
				}
			}
		})
	}
}
