package deployment

import (
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/evidence"
)

// A repo plays a repository: a branch, the trees that anybody ever pushed, and the state.
type repo struct {
	dead, refuses bool
	// cramped is true for one whose delivery has no room for all trees of the history.
	cramped bool
	dirs    map[string]string
	objects map[string]bool
	entry   *entry
	// did are the orders that commits tell about, oldest first.
	did []rolloutv1alpha1.Order
	// commits of each try that changed what nobody else had touched.
	commits map[try]int
	touched bool
}

// An entry is what a repository remembers of the claim.
type entry struct {
	order   rolloutv1alpha1.Order
	trees   []deliveryv1alpha1.DeliveredTree
	history []deliveryv1alpha1.HistoryEntry
}

// A try is one attempt at one step of one revision.
type try struct {
	revision      int64
	step, attempt int32
}

func newRepo(cramped bool) *repo {
	return &repo{cramped: cramped, dirs: map[string]string{}, objects: map[string]bool{}, commits: map[try]int{}}
}

// deliver plays one reconcile of a GitDelivery. A crash leaves what was pushed, and no status.
func (r *repo) deliver(d *deliveryv1alpha1.GitDelivery, now time.Time, crash bool) {
	if r.dead {
		reason := deliveryv1alpha1.ReasonUnreachable
		if d.Status.AtProvider.Order == nil {
			reason = deliveryv1alpha1.ReasonMemoryUnknown
		}
		unready(d, now, reason)
		return
	}
	r.recall(d)
	if reason := r.refused(d); reason != "" {
		unready(d, now, reason)
		return
	}
	r.push(d, now)
	if crash {
		return
	}
	at := &d.Status.AtProvider
	at.Order, at.History, at.Trees = r.entry.order.DeepCopy(), r.shown(), slices.Clone(r.entry.trees)
	at.Remote, at.Waiting = &deliveryv1alpha1.Remote{Commit: "0123456789012345678901234567890123456789"}, nil
	setReady(d, corev1.ConditionTrue, deliveryv1alpha1.ReasonDelivered)
}

// recall what is remembered, and rebuild a state that was lost.
func (r *repo) recall(d *deliveryv1alpha1.GitDelivery) {
	at := &d.Status.AtProvider
	if r.entry == nil && at.Order != nil {
		r.entry = &entry{order: *at.Order, trees: slices.Clone(at.Trees), history: slices.Clone(at.History)}
	}
	if r.entry == nil && len(r.did) > 0 {
		r.entry = r.rebuilt(d)
	}
	if r.entry != nil && (at.Order == nil || at.Order.Behind(r.entry.order)) {
		at.Order, at.History = r.entry.order.DeepCopy(), r.shown()
	}
}

// rebuilt is what commits tell: no verdict, but for what was taken back.
func (r *repo) rebuilt(d *deliveryv1alpha1.GitDelivery) *entry {
	e := &entry{}
	for _, o := range r.did {
		if o.Verdict = nil; o.Attempt > 0 {
			o.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Reason: rolloutv1alpha1.RejectedRequested}
		}
		o.Restored = nil
		e.order = o
		e.remember(deliveryv1alpha1.HistoryEntry{Revision: o.Revision, Request: o.Request, Intent: o.Intent, Verdict: o.Verdict})
	}
	for _, t := range d.Spec.ForProvider.Trees {
		if id, ok := r.dirs[t.Path]; ok {
			e.trees = append(e.trees, deliveryv1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: id, Revision: e.order.Revision})
		}
	}
	return e
}

// refused is the fence, and the limits.
func (r *repo) refused(d *deliveryv1alpha1.GitDelivery) xpv2.ConditionReason {
	o, last := d.Spec.ForProvider.Order, d.Status.AtProvider.Order
	if last != nil && (o.Conflicts(*last) || o.Rejudges(*last) || o.Revives(*last, false) || o.Behind(*last)) {
		return deliveryv1alpha1.ReasonOrderBehind
	}
	for _, t := range d.Spec.ForProvider.Trees {
		if t.Action == deliveryv1alpha1.ActionRestore && !r.objects[t.Tree] {
			return deliveryv1alpha1.ReasonTreeGone
		}
		if t.Action != deliveryv1alpha1.ActionKeep && r.refuses {
			return deliveryv1alpha1.ReasonPolicyDenied
		}
	}
	return ""
}

// push what is asked for, and remember it.
func (r *repo) push(d *deliveryv1alpha1.GitDelivery, now time.Time) {
	o, next := d.Spec.ForProvider.Order, &entry{order: *d.Spec.ForProvider.Order.DeepCopy()}
	was := map[string]deliveryv1alpha1.DeliveredTree{}
	if r.entry != nil {
		next.history = slices.Clone(r.entry.history)
		for _, t := range r.entry.trees {
			was[t.Path] = t
		}
	}
	changed := false
	for _, t := range d.Spec.ForProvider.Trees {
		before, known := was[t.Path]
		delete(was, t.Path)
		if t.Action == deliveryv1alpha1.ActionKeep {
			if known {
				next.trees = append(next.trees, before)
			}
			continue
		}
		is := deliveryv1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: t.Tree, Revision: o.Revision}
		if known && before.Tree == is.Tree {
			is.Revision = before.Revision
		}
		next.trees = append(next.trees, is)
		changed = changed || r.dirs[t.Path] != t.Tree
		r.dirs[t.Path], r.objects[t.Tree] = t.Tree, true
	}
	for path := range was {
		changed = true
		delete(r.dirs, path)
	}
	if changed {
		r.did = append(r.did, *o.DeepCopy())
		if !r.touched {
			r.commits[try{o.Revision, o.Step, o.Attempt}]++
		}
	}
	r.touched = false
	next.note(o, metav1.NewTime(now))
	r.entry = next
}

// note an order in the history, as the state does.
func (e *entry) note(o rolloutv1alpha1.Order, at metav1.Time) {
	h := deliveryv1alpha1.HistoryEntry{Revision: o.Revision, StartedAt: &at}
	e.history = slices.Clone(e.history)
	for i, was := range e.history {
		if was.Revision == o.Revision {
			h = was
		}
		e.history[i].Withdrawn = was.Withdrawn || o.TakesBack(was.Revision)
	}
	h.Request, h.Intent, h.Marked = o.Request, o.Intent, o.Marked
	if o.Attempt == 0 {
		h.Trees = nil
		for _, t := range e.trees {
			h.Trees = append(h.Trees, deliveryv1alpha1.HistoryTree{Site: t.Site, Tree: t.Tree})
		}
	}
	if h.Verdict == nil && o.Verdict != nil {
		h.Verdict, h.EndedAt = o.Verdict, &at
	}
	e.remember(h)
}

const historyLength = 10

func (e *entry) remember(h deliveryv1alpha1.HistoryEntry) {
	all := slices.DeleteFunc(slices.Clone(e.history), func(o deliveryv1alpha1.HistoryEntry) bool { return o.Revision == h.Revision })
	all = append(all, h)
	slices.SortFunc(all, func(a, b deliveryv1alpha1.HistoryEntry) int { return int(a.Revision - b.Revision) })
	for len(all) > historyLength {
		old := 0
		if verified(all[0]) && !slices.ContainsFunc(all[1:], verified) {
			old = 1
		}
		all = slices.Delete(all, old, old+1)
	}
	e.history = all
}

func verified(h deliveryv1alpha1.HistoryEntry) bool {
	return !h.Withdrawn && h.Verdict != nil && h.Verdict.Result == rolloutv1alpha1.VerdictVerified
}

// shown is the history as a status has it. Where there is no room, that is the trees of what there is to go back to, and of nothing else.
func (r *repo) shown() []deliveryv1alpha1.HistoryEntry {
	out := slices.Clone(r.entry.history)
	for i := range out {
		if r.cramped && !verified(out[i]) {
			out[i].Trees = nil
		}
	}
	return out
}

// unready says why, and after the timeout that it took too long.
func unready(d *deliveryv1alpha1.GitDelivery, now time.Time, reason xpv2.ConditionReason) {
	at, o := &d.Status.AtProvider, d.Spec.ForProvider.Order
	if w := at.Waiting; w == nil || w.Revision != o.Revision || w.Step != o.Step || w.Number != o.Attempt {
		at.Waiting = &rolloutv1alpha1.Attempt{Revision: o.Revision, Step: o.Step, Number: o.Attempt, StartedAt: metav1.NewTime(now)}
	}
	timeout, _ := time.ParseDuration(d.Spec.ForProvider.DeliveryTimeout)
	timed := reason == deliveryv1alpha1.ReasonUnreachable || reason == deliveryv1alpha1.ReasonMemoryUnknown
	if timed && now.Sub(at.Waiting.StartedAt.Time) >= timeout {
		reason = deliveryv1alpha1.ReasonDeliveryTimedOut
	}
	setReady(d, corev1.ConditionFalse, reason)
}

// A conditioned object has conditions, and a generation that they speak of.
type conditioned interface {
	SetConditions(c ...xpv2.Condition)
	GetGeneration() int64
}

// reasonOf the rejection that follows from a delivery.
func reasonOf(d *deliveryv1alpha1.GitDelivery) string {
	return evidence.DeliveryFailure(d, d.Spec.ForProvider.Order).Reason
}

// isReady is true for an object that says now that it has what it is asked for.
func isReady(o interface {
	conditioned
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
},
) bool {
	c := o.GetCondition(xpv2.TypeReady)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == o.GetGeneration()
}

func setReady(o conditioned, status corev1.ConditionStatus, reason xpv2.ConditionReason) {
	o.SetConditions(
		xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, Message: "Words.", ObservedGeneration: o.GetGeneration()},
		xpv2.Condition{Type: xpv2.TypeSynced, Status: corev1.ConditionTrue, Reason: xpv2.ReasonReconcileSuccess},
	)
}
