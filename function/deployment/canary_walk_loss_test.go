package deployment

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/catalog"
)

// A canaryLoss is a loss of Crossplane or of a repository. It returns the objects that a call sees, if these are fewer than exist.
type canaryLoss struct {
	name string
	do   func(w *canaryWalk) map[string]*unstructured.Unstructured
}

// canaryLosses are all losses of a walk.
func canaryLosses() []canaryLoss {
	return []canaryLoss{
		{"an object is lost", lost(func(w *canaryWalk) { delete(w.in.Observed, w.anyObject()) })},
		{"the deliveries are lost", lost(func(w *canaryWalk) { w.loseDeliveries() })},
		{"all objects are lost", lost(func(w *canaryWalk) { clear(w.in.Observed) })},
		{"the composite is made again", lost((*canaryWalk).loseComposite)},
		{"the status of an object is empty", lost(func(w *canaryWalk) { delete(w.in.Observed[w.anyObject()].Object, "status") })},
		{"the status of the claim is lost", lost(func(w *canaryWalk) { w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{} })},
		{"a backup of the objects is restored", lost((*canaryWalk).restoreBackup)},
		{"the state of a repository is lost", lost(func(w *canaryWalk) { w.loseState(func(*repo) ledger.State { return ledger.State{} }) })},
		{"the ledger of the home is older", lost(func(w *canaryWalk) { w.loseState(w.olderLedger) })},
		{"requests that took effect are deleted", lost((*canaryWalk).deleteRequests)},
		{"a Promote is applied again", lost((*canaryWalk).repeatPromote)},
		{"the function starts again", lost((*canaryWalk).restartFunction)},
		{"the function starts again, and renders too late", lost((*canaryWalk).renderTooLate)},
		{"the catalog is asked for again", lost(func(w *canaryWalk) { w.in.Answers = catalog.Answers{} })},
		{"a delivery ends before its status", lost(func(w *canaryWalk) { w.crashes = true })},
		{"some objects are not observed", (*canaryWalk).hideSome},
		{"the call is late", func(w *canaryWalk) map[string]*unstructured.Unstructured { return w.views[w.losses.IntN(len(w.views))] }},
	}
}

// lost returns a loss after which a call sees all existing objects.
func lost(do func(*canaryWalk)) func(*canaryWalk) map[string]*unstructured.Unstructured {
	return func(w *canaryWalk) map[string]*unstructured.Unstructured {
		do(w)
		return w.in.Observed
	}
}

// loseSome applies a random loss while the scenario goes on, and returns the objects that the next call sees.
func (w *canaryWalk) loseSome() map[string]*unstructured.Unstructured {
	w.crashes, w.renderer.isLate = false, false
	if !w.isLosing() || len(w.in.Observed) == 0 || len(w.events) == 0 || w.losses.IntN(2) == 0 {
		return w.in.Observed
	}
	all := canaryLosses()
	l := all[w.losses.IntN(len(all))]
	w.notef("loss: %s", l.name)
	return l.do(w)
}

// isLosing is true in a scenario with losses while it goes on, and no user is about to act, or waits for an answer: the result of a request or an edit
// depends on the knowledge at that moment.
func (w *canaryWalk) isLosing() bool {
	return w.losses != nil && w.quiet < lossRounds && !w.isActNear() && !w.isUnanswered()
}

// isUnanswered is true shortly after a user acted, while the ledger has nothing of it.
func (w *canaryWalk) isUnanswered() bool {
	return w.unansweredFrom > 0 && w.rounds < w.unansweredFrom+answerRounds
}

// anyObject is the name of a composed object.
func (w *canaryWalk) anyObject() string {
	names := slices.Sorted(maps.Keys(w.in.Observed))
	return names[w.losses.IntN(len(names))]
}

// loseComposite loses all objects and the status, as for a composite that is made again.
func (w *canaryWalk) loseComposite() {
	clear(w.in.Observed)
	w.asked++
	w.in.Status, w.in.UID = deploymentv1alpha1.IntentDeploymentStatus{}, fmt.Sprint("composite-", w.asked)
}

// hideSome returns the objects without some of them, which stay.
func (w *canaryWalk) hideSome() map[string]*unstructured.Unstructured {
	out := maps.Clone(w.in.Observed)
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if w.losses.IntN(2) == 0 {
			delete(out, name)
		}
	}
	return out
}

// keepView keeps the objects that a late call may see: none older than the objects of an earlier call. A backup may be older.
func (w *canaryWalk) keepView() {
	view := map[string]*unstructured.Unstructured{}
	for name, o := range w.in.Observed {
		view[name] = &unstructured.Unstructured{Object: maps.Clone(o.Object)}
	}
	w.views = append(w.views, view)
	w.views = w.views[max(0, len(w.views)-2):]
	w.backups = append(w.backups, view)
	w.backups = w.backups[max(0, len(w.backups)-12):]
	if s := w.ledger(); len(w.ledgers) == 0 || w.ledgers[len(w.ledgers)-1].Head != s.Head {
		w.ledgers = append(w.ledgers, s)
	}
}

// restoreBackup restores all objects to their state some rounds ago, in their first generation.
func (w *canaryWalk) restoreBackup() {
	clear(w.in.Observed)
	for name, o := range w.backups[w.losses.IntN(len(w.backups))] {
		w.in.Observed[name] = o.DeepCopy()
		w.in.Observed[name].SetGeneration(1)
	}
}

// loseState lets a repository lose its state, of which the ledger becomes another one, where the objects have all of it.
func (w *canaryWalk) loseState(becomes func(*repo) ledger.State) {
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		o := w.in.Observed[name]
		if o.GetKind() != "GitDelivery" {
			continue
		}
		r, d := w.repository(w.url(name)), w.decode(o)
		reported := d.Status.AtProvider.Ledger
		if d.Spec.ForProvider.Ledger == nil || reported == nil || reported.Head != r.memory.ledger.Head || r.memory.record == nil {
			continue
		}
		r.memory.ledger = becomes(r)
		if r.memory.ledger.Seq == 0 {
			r.rebuilt, r.memory.record = r.memory.record.trees, nil
		}
	}
}

// olderLedger is a state that the home had before, or the present one.
func (w *canaryWalk) olderLedger(r *repo) ledger.State {
	s := w.ledgers[max(0, len(w.ledgers)-1-w.losses.IntN(4))]
	if s.Epoch != r.memory.ledger.Epoch || s.Seq == 0 {
		return r.memory.ledger
	}
	return s
}

// deleteRequests deletes the requests that the ledger has taken.
func (w *canaryWalk) deleteRequests() {
	w.objects = slices.DeleteFunc(w.objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "RolloutRequest" && slices.Contains(w.ledger().Requests, string(o.GetUID()))
	})
}

// repeatPromote makes a Promote that took effect again, as a tool does that applies files.
func (w *canaryWalk) repeatPromote() {
	for _, o := range slices.Clone(w.objects) {
		name, _, _ := unstructured.NestedString(o.Object, "spec", "action")
		if name != "Promote" || !slices.Contains(w.ledger().Requests, string(o.GetUID())) {
			continue
		}
		repeated := o.DeepCopy()
		w.asked++
		repeated.SetName(fmt.Sprint("again-", w.asked))
		repeated.SetUID("again-" + o.GetUID())
		w.objects = append(w.objects, repeated)
		return
	}
}

// restartFunction clears the caches of the function.
func (w *canaryWalk) restartFunction() {
	w.core = New(w.renderer)
	w.core.version = firstRenderer
}

// renderTooLate clears the caches of the function, and lets rendering exceed its timeout in the next call.
func (w *canaryWalk) renderTooLate() {
	w.restartFunction()
	w.renderer.isLate = true
}

// writeSome writes the desired resources of a call: all of them without losses. Objects that the call did not see are not deleted.
func (w *canaryWalk) writeSome(observed map[string]*unstructured.Unstructured, out *Output) {
	w.t.Helper()
	some, previous := *out, maps.Clone(w.in.Observed)
	some.Resources = maps.Clone(out.Resources)
	for _, name := range slices.Sorted(maps.Keys(some.Resources)) {
		if w.isLosing() && w.losses.IntN(10) == 0 {
			delete(some.Resources, name)
		}
	}
	w.apply(&some)
	for name, o := range previous {
		_, isWanted := out.Resources[name]
		if w.in.Observed[name] == nil && (isWanted || observed[name] == nil) {
			w.in.Observed[name] = o
		}
	}
}

// deliverAll lets the provider reconcile all deliveries once.
func (w *canaryWalk) deliverAll() {
	w.t.Helper()
	for name, o := range w.in.Observed {
		if o.GetKind() == "GitDelivery" {
			r := w.repository(w.url(name))
			r.onRecord, r.onCommit = w.noteEvents, w.noteBranch
		}
	}
	switch {
	case w.faults.isBeforePush():
		return
	case !w.crashes && !w.faults.isKilled():
		w.deliver()
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		if w.in.Observed[name].GetKind() != "GitDelivery" {
			continue
		}
		if err := w.repository(w.url(name)).deliver(w.decode(w.in.Observed[name]), ledger.Head{}, w.in.Now.Time, true); err != nil {
			w.t.Errorf("%s gets an illegal event: %s", name, err)
		}
	}
}
