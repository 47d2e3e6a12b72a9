package deployment

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// opened is the first of the stories whose beginning is written down, since chance finds none like it among thousands.
const opened = 1_000_000

// A writtenStory is a scenario with a written beginning.
type writtenStory struct {
	name  string
	begin func(*walk)
}

// writtenStories are the stories from 1000000 on.
func writtenStories() []writtenStory {
	return []writtenStory{
		{"judgedTwice", (*walk).judgedTwice},
		{"takenBack", (*walk).takenBack},
		{"lostTogether", (*walk).lostTogether},
		{"homeMadeAnew", (*walk).homeMadeAnew},
		{"stateLost", (*walk).stateLost},
	}
}

// open begins a scenario, with its written beginning or with a working revision.
func (w *walk) open(seed uint64) {
	all := writtenStories()
	if n := seed - opened; seed >= opened && n < uint64(len(all)) {
		w.beginPlainly()
		all[n].begin(w)
		return
	}
	for range w.rng.IntN(15) {
		w.round()
	}
}

// beginPlainly delivers the first revision to all Sites at once.
func (w *walk) beginPlainly() {
	w.in.Spec.DeliveryConfig.Waves = nil
	w.works()
}

// works lets everybody work until all is done.
func (w *walk) works() {
	for range 15 {
		w.round()
	}
}

// judgedTwice runs until one intent was ordered and rejected, and a late call, with old objects and the new catalog, orders another request under the
// same number.
func (w *walk) judgedTwice() {
	first, second := w.deliveryTo("default"), w.deliveryTo("other")
	w.wish(3)
	previous := w.moment()
	w.repos["default"].refuses, w.repos["other"].dead = true, true
	w.calls()
	w.provide(first, false)
	w.calls()
	w.provide(first, false)
	w.set("Site", "edge1", map[string]any{"p": "later"}, "spec", "parameters")
	late := w.makeDecision(previous)
	w.judge(previous, late, false)
	w.put(first, late.objects[first])
	w.put(second, late.objects[second])
	w.repos["default"].refuses, w.repos["other"].dead = false, false
	w.provide(first, false)
}

// takenBack runs until a user rolled back a verified revision, and the next revision breaks.
func (w *walk) takenBack() {
	w.wish(3)
	w.works()
	w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionRollbackTo, Revision: 2, ToRevision: new(int64(1))})
	w.works()
	w.wish(5)
	w.works()
}

// lostTogether runs until a revision is verified in both repositories, all objects are lost, and the follower is the first to get a request, which
// now refuses an earlier request.
func (w *walk) lostTogether() {
	w.loseObjects()
	w.repos["default"].dead, w.repos["other"].refuses = true, true
	for range 3 {
		w.calls()
		for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
			w.provide(name, false)
		}
	}
	w.repos["default"].dead, w.repos["other"].refuses = false, false
	w.works()
}

// homeMadeAnew goes on until the home lost everything, its object too, and the follower alone knows which revision there is.
func (w *walk) homeMadeAnew() {
	w.wish(3)
	w.works()
	home := w.ledger().Home
	delete(w.deliveries, w.deliveryTo(home))
	w.repos[home] = w.newRepo()
	w.loses()
	w.wiped = true
	w.works()
}

// stateLost runs until the home lost its state while its object exists, whose status has an event that no follower knows and no object reports: that a
// user gave the revision up, by a request that is deleted since.
func (w *walk) stateLost() {
	w.in.Spec.RollbackConfig.AutoRollback = new(false)
	w.sites["edge2"].stuck = true
	w.wish(3)
	for range 4 {
		w.round()
	}
	w.repos["other"].dead = true
	w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionAbort, Revision: 2})
	w.works()
	w.repos["other"].dead, w.sites["edge2"].stuck = false, false
	w.objects = slices.DeleteFunc(w.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "RolloutRequest" })
	w.catalogued++
	previous := w.ledger()
	w.repos[previous.Home].memory = memory{}
	w.loses()
	w.works()
	if current := w.ledger(); current.Current == nil || current.Current.Number != previous.Current.Number || current.IsRejected() != previous.IsRejected() {
		w.truth.violatedf("revision %d was rejected: %t, and the ledger continues as %s", previous.Current.Number, previous.IsRejected(), w.describeRepositories())
	}
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
