package deployment

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
)

// provide lets the provider reconcile one delivery, and checks the content of Git.
func (w *walk) provide(name string, crash bool) {
	requested := w.deliveries[name]
	d := w.followHome(name, copyForStatus(requested))
	r := w.repos[d.Spec.ProviderConfigReference.Name]
	previous := r.memory.record
	// A call may have seen the numbers of a ledger of which nothing is left, and order the next one.
	if err := r.deliver(d, w.reportedElsewhere(name), w.now, crash); err != nil && (r.memory.ledger.Seq > 0 || !w.truth.lossy || !isAboutNumber(err)) {
		w.truth.violatedf("%s gets an illegal event: %s", name, err)
	}
	w.leaveStepsWithoutFiles(d)
	w.noteShown(r.memory.ledger, d, crash)
	if reason := reasonOf(d); reason != "" {
		w.truth.fails(askedPosition(d), reason)
	}
	if !crash && !isSame(&requested.Status, &d.Status) {
		w.deliveries[name] = withSpec(d, requested)
	}
	if current := r.memory.record; current != previous {
		w.judgeRecord(name, previous, current)
		w.count(d, current)
	}
}

// leaveStepsWithoutFiles lets the status of a home leave the next step to the function while no object has the files of the step.
func (w *walk) leaveStepsWithoutFiles(d *deliveryv1alpha1.GitDelivery) {
	m, s := d.Status.AtProvider.Mandate, d.Status.AtProvider.Ledger
	if m == nil || s == nil || s.Current == nil || directories.HoldFiles(*s, compose.InOrder(w.deliveries)...) {
		return
	}
	left := *m
	left.May = slices.DeleteFunc(slices.Clone(m.May), func(k step.Kind) bool { return k == step.KindAdvance })
	d.Status.AtProvider.Mandate = &left
}

// noteShown records whether the status of a home shows its current revision. A revision that was recorded before the provider stopped counts as unseen
// until the requested events are found in the ledger: a home with a request for other events refuses.
func (w *walk) noteShown(s ledger.State, d *deliveryv1alpha1.GitDelivery, crash bool) {
	requested := d.Spec.ForProvider.Ledger
	if s.Current == nil || requested == nil || !wasRecorded(s, *requested) {
		return
	}
	w.truth.unseen[s.Current.Number] = crash
}

// isAboutNumber is true for an illegal event that orders a revision.
func isAboutNumber(err error) bool {
	var illegal ledger.IllegalError
	return errors.As(err, &illegal) && illegal.Event == "Ordered"
}

// reportedElsewhere is the newest head of the ledger that other deliveries report than the named one. The ledger of a deployment that was deleted does not
// count.
func (w *walk) reportedElsewhere(name string) ledger.Head {
	newest := ledger.Head{}
	for otherName, d := range w.deliveries {
		if otherName == name {
			continue
		}
		switch l, requested := d.Status.AtProvider.Ledger, d.Spec.ForProvider.Ledger; {
		case l == nil && requested != nil && requested.After.Compare(newest) > 0:
			newest = requested.After
		case l != nil && !l.IsClosed && l.Compare(newest) > 0:
			newest = l.Head
		}
		newest = newerHead(newest, d.Status.AtProvider.Record)
	}
	return newest
}

// copyForStatus returns a delivery whose status may be written.
func copyForStatus(d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	out := *d
	out.Status.Conditions = slices.Clone(d.Status.Conditions)
	return &out
}

// judgeRecord checks that a repository applied the recorded position of the home, and did not go back.
func (w *walk) judgeRecord(name string, previous, current *record) {
	if !w.truth.heads[current.head] {
		w.truth.violatedf("%s applied event %d of epoch %d, which the home had not recorded", name, current.head.Seq, current.head.Epoch)
	}
	if previous != nil && !previous.deleted && (current.position.Compare(previous.position) < 0 || current.head.Compare(previous.head) < 0) {
		w.truth.violatedf("%s went back from %+v to %+v", name, previous.position, current.position)
	}
}

// count counts the trees in a repository as live if no object reports more.
func (w *walk) count(d *deliveryv1alpha1.GitDelivery, applied *record) {
	for _, t := range d.Spec.ForProvider.Trees {
		if t.Action == deliveryv1alpha1.ActionDesired {
			w.truth.wiped = w.wiped
			w.truth.bring(applied.applied, place(d.Spec.ProviderConfigReference.Name, t.Path), t.Tree, len(w.sites))
		}
		if w.sites[t.Site].untold && t.Action != deliveryv1alpha1.ActionKeep && applied.position == askedPosition(d) {
			w.truth.live(applied.position, t.Site, t.Tree)
		}
	}
}

func (w *walk) engines() {
	for name, p := range w.sites {
		for _, d := range w.deliveries {
			for _, t := range d.Spec.ForProvider.Trees {
				if t.Site == name {
					repository := d.Spec.ProviderConfigReference.Name
					p.sync(w.repos[repository], repository, t.Path, w.qualities)
				}
			}
		}
	}
}

// step does one thing, whichever.
func (w *walk) step() {
	w.now = w.now.Add(time.Duration(1+w.rng.IntN(3)) * time.Minute)
	if w.busy && w.aside.IntN(8) == 0 {
		w.meddle()
	}
	if w.moves && w.shifts.IntN(10) == 0 {
		w.relocate()
	}
	names := slices.Sorted(maps.Keys(w.deliveries))
	switch n := w.rng.IntN(100); {
	case n < 38:
		w.turn()
	case n < 58 && len(names) > 0:
		name, crash := names[w.rng.IntN(len(names))], w.chance(10)
		w.provide(name, crash)
		w.notef("delivered %s, crash %t: %s", name, crash, described(w.describeRepositories))
	case n < 70:
		w.engines()
	case n < 82 && w.sync != nil:
		w.lookAgain()
	case n < 90:
		w.measureAll()
	case n < 100:
		all := w.faults()
		f := all[w.rng.IntN(len(all))]
		w.notef("fault: %s", f.name)
		f.do()
	}
}

func (w *walk) measureAll() {
	for _, name := range slices.Sorted(maps.Keys(w.gates)) {
		g := *w.gates[name]
		g.Status.Conditions = slices.Clone(g.Status.Conditions)
		if w.measure(&g); !isSame(&g.Status, &w.gates[name].Status) {
			w.gates[name] = &g
		}
	}
}

// lookAgain lets the SiteSync be reconciled.
func (w *walk) lookAgain() {
	s := *w.sync
	s.Status.Conditions = slices.Clone(s.Status.Conditions)
	if w.look(&s); !isSame(&s.Status, &w.sync.Status) {
		w.sync = &s
	}
}

// playScenario plays one scenario, and returns its violation. Its log is kept if requested.
func playScenario(t *testing.T, cores []*Core, seed uint64, steps int, isNoted bool) *walk {
	t.Helper()
	w := newWalk(t, cores, seed)
	w.isNoted = isNoted
	w.open(seed)
	for range steps {
		if w.step(); len(w.truth.violations) > 0 {
			return w
		}
	}
	w.calm()
	return w
}

// end is how a story ended.
func (w *walk) end() string {
	out := string(w.last.Status.Outcome)
	if r := w.last.Status.Rollback; r != nil {
		out += ", rejected for " + r.Reason
	}
	if c := conditionOf(w.last.Output, deploymentv1alpha1.TypeRolledBack); c.Reason != deploymentv1alpha1.ReasonNotRolledBack {
		out += ", " + c.Reason
	}
	return out
}
