package deployment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/ledgerhome"
)

// clusterConfigKind is the kind of the configurations in a walk.
const clusterConfigKind = "ClusterProviderConfig"

// relocations are the faults of the homes of ledgers. Scenarios with them have random choices of their own, so that the others stay unchanged.
func (w *walk) relocations() []fault {
	return []fault{
		{"the ledger is to move", func() { w.requestMove(w.otherRepository(w.ledger().Home), false) }},
		{"the ledger is to move somewhere", func() { w.requestMove(w.anyRepository(), false) }},
		{"the ledger is to move by force", func() { w.requestMove(w.otherRepository(w.ledger().Home), true) }},
		{"the ledger is to move by force somewhere", func() { w.requestMove(w.anyRepository(), true) }},
		{"the home is gone", w.loseHome},
		{"a repository that was gone is back", func() {
			for _, r := range w.repos {
				r.gone = false
			}
		}},
		{"a repository is backed up", func() { name := w.anyRepository(); w.gitBackups[name] = w.repos[name].backup() }},
		{"a repository is restored", func() { w.restoreRepository(w.anyRepository()) }},
	}
}

// relocate does one of the relocations.
func (w *walk) relocate() {
	all := w.relocations()
	f := all[w.shifts.IntN(len(all))]
	w.notef("relocation: %s", f.name)
	f.do()
}

// anyRepository names a repository.
func (w *walk) anyRepository() string {
	return slices.Sorted(maps.Keys(w.repos))[w.shifts.IntN(len(w.repos))]
}

// otherRepository names a repository that is not the named one.
func (w *walk) otherRepository(excluded string) string {
	for _, name := range slices.Sorted(maps.Keys(w.repos)) {
		if name != excluded {
			return name
		}
	}
	return excluded
}

// requestMove makes a RolloutRequest that moves the ledger.
func (w *walk) requestMove(target string, isForced bool) {
	w.require(rolloutv1alpha1.RolloutRequestSpec{
		Action: rolloutv1alpha1.ActionMoveLedger, Revision: max(1, w.in.Status.Revision), Force: new(isForced),
		ToConfigRef: &rolloutv1alpha1.ConfigReference{Kind: clusterConfigKind, Name: target},
	})
}

// loseHome lets the server of the home be gone for good. A user moves all Sites and the ledger away from it.
func (w *walk) loseHome() {
	home := w.ledger().Home
	target := w.otherRepository(home)
	r := w.repos[home]
	if r == nil || w.repos[target].gone {
		return
	}
	r.gone = true
	for _, site := range slices.Sorted(maps.Keys(w.sites)) {
		w.set("Site", site, map[string]any{"kind": clusterConfigKind, "name": target}, "spec", "repository", "providerConfigRef")
	}
	w.requestMove(target, true)
}

// record checks events that are recorded on top of a state. A ledger that is opened while no object names the earlier ledger has lost its events.
func (w *walk) record(s ledger.State, events []ledger.Event, now time.Time) {
	isNew := (s.Seq == 0 || s.IsClosed) && !slices.ContainsFunc(events, func(e ledger.Event) bool { return e.Recovered != nil })
	if isNew && w.isForgotten() {
		w.loses()
	}
	w.truth.record(s, events, now)
}

// isForgotten is true if a repository has a ledger, and its server is gone or no delivery goes there any more, and neither a status nor a repository with a
// delivery has a copy: all objects were lost after its last Site had moved away, or its own objects after the server was gone.
func (w *walk) isForgotten() bool {
	hasLedger := false
	for name, r := range w.repos {
		if !r.gone && w.isDeliveredTo(name) && r.memory.knowsLedger() {
			return false
		}
		hasLedger = hasLedger || isOpen(r.memory.ledger)
	}
	for _, d := range w.deliveries {
		if observation := d.Status.AtProvider; isOpen(ptr.Deref(observation.Ledger, ledger.State{})) || observation.Record != nil && observation.Record.Copy != nil {
			return false
		}
	}
	return hasLedger
}

// knowsLedger is true for a repository that has the ledger, or a copy of it, except for a ledger that was closed with its delivery.
func (m memory) knowsLedger() bool {
	return isOpen(m.ledger) || m.record != nil && m.record.copy != nil
}

// isOpen is true for a ledger that was begun, and not closed.
func isOpen(s ledger.State) bool { return s.Seq > 0 && !s.IsClosed }

// isAbandoned is true for a repository that neither a Site nor the ledger is in, and that no user wants to move it to.
func (w *walk) isAbandoned(name string) bool {
	if home := w.ledger().Home; home == "" || home == name || w.truth.home == name || !w.isDeliveredTo(home) {
		return false
	}
	for uid, r := range w.wanted {
		if _, isTaken := w.truth.taken[uid]; !isTaken && r.ToConfigRef != nil && r.ToConfigRef.Name == name {
			return false
		}
	}
	return !w.hasSites(name)
}

// hasSites is true for a repository that the directory of a Site is in.
func (w *walk) hasSites(name string) bool {
	for site := range w.sites {
		ref, _, _ := unstructured.NestedString(w.object("Site", site).Object, "spec", "repository", "providerConfigRef", "name")
		if cmp.Or(ref, "default") == name {
			return true
		}
	}
	return false
}

// isDeliveredTo is true for a repository that a delivery goes to.
func (w *walk) isDeliveredTo(repository string) bool {
	for _, d := range w.deliveries {
		if d.Spec.ProviderConfigReference.Name == repository {
			return true
		}
	}
	return false
}

// backup returns a repository as it is now.
func (r *repo) backup() *repo {
	return &repo{dirs: maps.Clone(r.dirs), objects: maps.Clone(r.objects), memory: r.memory, did: slices.Clone(r.did)}
}

// restoreRepository restores a repository from its backup. Later records may be decided again.
func (w *walk) restoreRepository(name string) {
	saved, r := w.gitBackups[name], w.repos[name]
	if saved == nil {
		return
	}
	restored, lostLedger := saved.backup(), r.memory.ledger
	r.dirs, r.objects, r.memory, r.did, r.touched = restored.dirs, restored.objects, restored.memory, restored.did, true
	w.loses()
	w.truth.restore(lostLedger, r.memory.ledger)
}

// restore lets the truth forget the records of the lost ledger, and of the ledger that was restored from a backup since, and adopt the present
// records of that ledger. A ledger that no object ever showed is opened again under its identity.
func (t *truth) restore(lostLedger, s ledger.State) {
	isOf := func(n numbered) bool {
		return n.ledger == lostLedger.Ledger || n.ledger == s.Ledger && n.epoch == s.Epoch
	}
	maps.DeleteFunc(t.verdicts, func(n numbered, _ ledger.Result) bool { return isOf(n) })
	maps.DeleteFunc(t.intents, func(n numbered, _ ledger.Request) bool { return isOf(n) })
	t.rememberHistory(s)
	if s.Seq > 0 {
		t.recordState(s)
	}
}

// recordMove notes that the ledger left its home.
func (t *truth) recordMove(next ledger.State) {
	t.sealed[next.Head], t.home = next.Successor, next.Successor
}

// recordForcedMove notes that a user moved the ledger although its home may not be reached. Where that knew more, it is lost.
func (t *truth) recordForcedMove(r ledger.Recovered, next ledger.State) {
	t.home = next.Home
	if r.Copy.Head != t.newest {
		t.lossy = true
	}
}

// wasMoved is true for a copy of a ledger that was moved to a home by a request, and that continues from its last event.
func (t *truth) wasMoved(r ledger.Recovered, home string) bool {
	target, ok := t.sealed[r.Copy.Head]
	return ok && target == home
}

// isWhereItWasMoved checks that the ledger is where users moved it last.
func (w *walk) isWhereItWasMoved() {
	if w.isBetweenHomes() {
		return
	}
	if home := w.ledger().Home; !w.truth.lossy && w.truth.home != "" && home != w.truth.home {
		w.truth.violatedf("the ledger is in %s, and was moved to %s", home, w.truth.home)
	}
}

// isBetweenHomes is true while the ledger left a home, and the request to a repository of its revision was lost or belongs to no revision, and cannot be
// rendered.
func (w *walk) isBetweenHomes() bool {
	if !w.isInvalid() || w.ledger().Seq > 0 {
		return false
	}
	sealed := w.sealedLedger()
	if sealed.Current == nil || !w.isDeliveredTo(w.truth.home) {
		return true
	}
	lacksTrees := func(p ledger.Part) bool { return !w.asksFor(p.Delivery, sealed.Current.Number) }
	return !w.asksFor(w.deliveryTo(w.truth.home), sealed.Current.Number) || w.truth.isExcused("part lost between homes", slices.ContainsFunc(sealed.Current.Parts, lacksTrees))
}

// asksFor is true for a delivery that asks for the trees of a revision, and that its repository does not refuse.
func (w *walk) asksFor(name string, revision int64) bool {
	d := w.deliveries[name]
	return d != nil && len(d.Spec.ForProvider.Trees) > 0 && askedPosition(d).Revision == revision && !ledgerhome.IsRefused(d)
}

// sealedLedger is the ledger that left its home last, or the zero value if there is none.
func (w *walk) sealedLedger() ledger.State {
	for _, r := range w.repos {
		if s := r.memory.ledger; s.Successor != "" && s.Head == w.truth.newest {
			return s
		}
	}
	return ledger.State{}
}

// areMovesAnswered checks that no request to move the ledger waits at the end. While rendering fails, the ledger stays if its request is lost, and waits
// if it is unknown whether the repository gets a delivery.
func (w *walk) areMovesAnswered(out *reply) {
	for _, r := range out.Status.Requests {
		if w.wanted[r.UID].Action == rolloutv1alpha1.ActionMoveLedger && r.Result == string(rolloutv1alpha1.ResultWaiting) && !w.isInvalid() {
			w.truth.violatedf("request %s to move the ledger waits for ever", r.UID)
		}
	}
}

// describeMove says where an event moves the ledger.
func describeMove(e ledger.Event) string { return fmt.Sprintf("Moved(%s)", e.Moved.Home) }
