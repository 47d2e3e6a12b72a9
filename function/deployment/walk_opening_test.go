package deployment

import (
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// opened is the first of the stories whose beginning is written down, since chance finds none like it among thousands.
const opened = 1_000_000

// open a story, with what is written down for it or with something that works.
func (w *walk) open(seed uint64) {
	all := []func(){w.judgedTwice, w.takenBack}
	if n := seed - opened; seed >= opened && n < uint64(len(all)) {
		w.in.Spec.DeliveryConfig.Waves = nil
		w.works()
		all[n]()
		return
	}
	for range w.rng.IntN(15) {
		w.round()
	}
}

// works lets everybody work until all is done.
func (w *walk) works() {
	for range 15 {
		w.round()
	}
}

// judgedTwice is told until one intent was ordered and rejected, and a call that read everything before, and the catalog after, asks late for another
// request under the same number.
func (w *walk) judgedTwice() {
	first, second := w.deliveryTo("default"), w.deliveryTo("other")
	w.wish(3)
	before := w.moment()
	w.repos["default"].refuses, w.repos["other"].dead = true, true
	w.calls()
	w.provide(first, false)
	w.calls()
	w.provide(first, false)
	w.set("Site", "edge1", map[string]any{"p": "later"}, "spec", "parameters")
	late := w.decide(before)
	w.judge(before, late, false)
	w.put(first, late.objects[first])
	w.put(second, late.objects[second])
	w.repos["default"].refuses, w.repos["other"].dead = false, false
	w.provide(first, false)
}

// takenBack goes on until a user rolled back what was verified, and what comes next breaks.
func (w *walk) takenBack() {
	w.wish(3)
	w.works()
	w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionRollbackTo, Revision: 2, ToRevision: new(int64(1))})
	w.works()
	w.wish(5)
	w.works()
}

// deliveryTo is the name of the delivery to a repository.
func (w *walk) deliveryTo(repository string) string {
	for name, d := range w.deliveries {
		if d.Spec.ProviderConfigReference.Name == repository {
			return name
		}
	}
	w.t.Fatalf("nothing is delivered to %s", repository)
	return ""
}
