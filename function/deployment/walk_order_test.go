package deployment

import (
	"maps"
	"slices"
	"time"

	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// judgeOrders looks at what a call asks for, from what it knew.
func (w *walk) judgeOrders(m moment, out *Output, fresh bool) {
	was, asked := newest(m.deliveries), w.askedBy(out)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		d, before := asked[name], m.deliveries[name]
		w.judgeTrees(before, d)
		if was != nil && !w.truth.forgot && (before == nil || !before.Spec.ForProvider.Order.Same(d.Spec.ForProvider.Order)) {
			w.follows(m, *was, asked, d.Spec.ForProvider.Order, fresh)
		}
	}
	if fresh && !w.truth.forgot {
		w.heeds(m, asked)
	}
}

// askedBy are the deliveries that an answer asks for.
func (w *walk) askedBy(out *Output) map[string]*deliveryv1alpha1.GitDelivery {
	all := map[string]*deliveryv1alpha1.GitDelivery{}
	for name, r := range out.Resources {
		if r.Object.GetKind() != "GitDelivery" {
			continue
		}
		all[name] = &deliveryv1alpha1.GitDelivery{}
		if err := k8sruntime.DefaultUnstructuredConverter.FromUnstructured(r.Object.Object, all[name]); err != nil {
			w.t.Fatal(err)
		}
	}
	return all
}

// newest is the order that is the furthest of all that deliveries tell of and, as far as they may carry them out, ask for. It is nil when
// there is none.
func newest(ds map[string]*deliveryv1alpha1.GitDelivery) *rolloutv1alpha1.Order {
	var out *rolloutv1alpha1.Order
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		asked, told := &ds[name].Spec.ForProvider.Order, ds[name].Status.AtProvider.Order
		if told != nil && (asked.Conflicts(*told) || asked.Revives(*told, false)) {
			asked = nil
		}
		for _, o := range []*rolloutv1alpha1.Order{told, asked} {
			if o != nil && (out == nil || out.Behind(*o)) {
				out = o
			}
		}
	}
	return out
}

// disagree is true where two requests, or two verdicts, have one number.
func disagree(ds map[string]*deliveryv1alpha1.GitDelivery, was rolloutv1alpha1.Order) bool {
	for _, d := range ds {
		for _, o := range []*rolloutv1alpha1.Order{d.Status.AtProvider.Order, &d.Spec.ForProvider.Order} {
			if o != nil && (o.Conflicts(was) || o.Rejudges(was)) {
				return true
			}
		}
	}
	return false
}

// follows checks that an order may follow from the one that there was.
func (w *walk) follows(m moment, was rolloutv1alpha1.Order, asked map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order, fresh bool) {
	w.truth.takes(w.wanted, was, o)
	switch {
	case o.Revision < was.Revision:
		w.truth.violatedf("revision %d is ordered after %d", o.Revision, was.Revision)
	case o.Revision > was.Revision:
		w.succeeds(m, was, asked, o, fresh)
	case o.Request == was.Request:
		w.truth.advances(was, o, m.spec.RollbackConfig)
		if o.Attempt == 1 && was.Attempt == 0 {
			w.mayGoTo(m, o)
		}
	}
}

// succeeds checks that a new revision may follow.
func (w *walk) succeeds(m moment, was rolloutv1alpha1.Order, asked map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order, fresh bool) {
	if o.Revision != was.Revision+1 {
		w.truth.violatedf("revision %d is ordered after %d", o.Revision, was.Revision)
	}
	if names(o, was) {
		return
	}
	if o.Verdict == nil && refusesIntent(m.deliveries, was.Revision, o.Intent) {
		w.truth.violatedf("revision %d delivers what was rejected under the number %d", o.Revision, was.Revision)
	}
	if disagree(m.deliveries, was) {
		return
	}
	switch same := o.Intent == was.Intent; {
	case o.RendererVersion < was.RendererVersion:
		w.truth.violatedf("revision %d is of an older renderer than %d", o.Revision, was.Revision)
	case same && was.Rejected():
		w.truth.violatedf("revision %d delivers what was rejected as %d", o.Revision, was.Revision)
	case same && fresh && w.flies(m, was):
		w.truth.violatedf("revision %d does not wait for the verdict on %d", o.Revision, was.Revision)
	case same && alike(m.deliveries, was, asked):
		w.truth.violatedf("revision %d changes nothing", o.Revision)
	}
}

// refusesIntent is true where some repository remembers that an intent was rejected under a number.
func refusesIntent(ds map[string]*deliveryv1alpha1.GitDelivery, revision int64, intent string) bool {
	for _, d := range ds {
		if o := d.Status.AtProvider.Order; o != nil && o.Rejected() && o.Revision == revision && o.Intent == intent {
			return true
		}
	}
	return false
}

// names is true for an order that names a RolloutRequest, and the one before did not.
func names(o, was rolloutv1alpha1.Order) bool {
	return o.RequestRef != nil && (was.RequestRef == nil || o.RequestRef.UID != was.RequestRef.UID)
}

// flies is true for an order at its last step that all deliveries carried out, for all Sites, and that the SiteSync looks at.
func (w *walk) flies(m moment, was rolloutv1alpha1.Order) bool {
	if was.Verdict != nil || was.Step+1 < was.Steps || m.sync == nil || !m.sync.Spec.ForProvider.Order.Same(was) || len(m.sync.Spec.ForProvider.Sites) < len(w.sites) {
		return false
	}
	served := 0
	for _, d := range m.deliveries {
		at := d.Status.AtProvider.Order
		if at == nil || !at.Same(was) || !d.Spec.ForProvider.Order.Same(was) || !isReady(d) {
			return false
		}
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Action != deliveryv1alpha1.ActionKeep {
				served++
			}
		}
	}
	return served == len(w.sites)
}

// alike is true for deliveries that ask for just the trees which those of an earlier order ask for. What is kept may be changed later.
func alike(ds map[string]*deliveryv1alpha1.GitDelivery, was rolloutv1alpha1.Order, asked map[string]*deliveryv1alpha1.GitDelivery) bool {
	trees := func(ds map[string]*deliveryv1alpha1.GitDelivery) map[string]string {
		out := map[string]string{}
		for _, d := range ds {
			for _, t := range d.Spec.ForProvider.Trees {
				out[d.Spec.ProviderConfigReference.Name+t.Path] = string(t.Action) + t.Tree
			}
		}
		return out
	}
	before := maps.Clone(ds)
	maps.DeleteFunc(before, func(_ string, d *deliveryv1alpha1.GitDelivery) bool { return !d.Spec.ForProvider.Order.Same(was) })
	now := trees(asked)
	kept := slices.Contains(slices.Collect(maps.Values(now)), string(deliveryv1alpha1.ActionKeep))
	return len(before) > 0 && !kept && maps.Equal(trees(before), now)
}

// judgeTrees looks at the trees that a delivery asks for.
func (w *walk) judgeTrees(was, d *deliveryv1alpha1.GitDelivery) {
	o := d.Spec.ForProvider.Order
	for _, t := range d.Spec.ForProvider.Trees {
		switch t.Action {
		case deliveryv1alpha1.ActionDesired:
			w.mayDeliver(o, t)
		case deliveryv1alpha1.ActionRestore:
			w.mayRestore(was, o, t)
		case deliveryv1alpha1.ActionKeep:
		}
	}
}

// mayDeliver checks that all steps before that of a Site were proven, and that its cluster was.
func (w *walk) mayDeliver(o rolloutv1alpha1.Order, t deliveryv1alpha1.Tree) {
	if at := o; w.sites[t.Site].clustered && !w.truth.forgot && !w.truth.admitted[ranKey(at, t.Site, "")] {
		w.truth.violatedf("revision %d is delivered to %s, whose cluster was not ready", o.Revision, t.Site)
	}
	for i, step := range o.Plan {
		if slices.Contains(step.Sites, t.Site) {
			return
		}
		if at := o; !w.truth.forgot && i < int(o.Steps) {
			at.Step = int32(i)
			w.truth.provenStep(at, "is delivered to "+t.Site)
		}
	}
}

// mayRestore checks that a directory is restored which the revision changed, or was to, and to what was verified.
func (w *walk) mayRestore(was *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order, t deliveryv1alpha1.Tree) {
	if w.truth.forgot || w.wiped || was == nil {
		return
	}
	began := []int64{o.Revision}
	if o.Withdraws != nil {
		began = append(began, *o.Withdraws)
	}
	for _, asked := range was.Spec.ForProvider.Trees {
		if asked.Path == t.Path && asked.Action == deliveryv1alpha1.ActionRestore && was.Spec.ForProvider.Order.Revision == o.Revision {
			return
		}
	}
	held := ""
	for _, is := range was.Status.AtProvider.Trees {
		if is.Path == t.Path {
			held = is.Tree
		}
	}
	touched := slices.ContainsFunc(began, func(n int64) bool { return w.truth.forwarded[visit{n, t.Path}] })
	told := was.Status.AtProvider.Order != nil && was.Status.AtProvider.Order.Same(was.Spec.ForProvider.Order)
	if !touched && (held == t.Tree || held == "" && told) {
		w.truth.violatedf("revision %d restores %s, which it never changed", o.Revision, t.Path)
	}
}

// advances checks that an order may go on so.
func (t *truth) advances(was, o rolloutv1alpha1.Order, p deploymentv1alpha1.RollbackConfig) {
	switch {
	case o.Attempt > was.Attempt && o.Attempt > was.Attempt+1:
		t.violatedf("revision %d has attempt %d after %d", o.Revision, o.Attempt, was.Attempt)
	case o.Attempt > was.Attempt && o.Attempt > *p.MaxRetries:
		t.violatedf("revision %d has attempt %d of %d", o.Revision, o.Attempt, *p.MaxRetries)
	case o.Attempt > was.Attempt && !*p.AutoRollback && o.Withdraws == nil:
		t.violatedf("revision %d is taken back, and nobody asked for that", o.Revision)
	case o.Attempt > was.Attempt && was.Attempt > 0 && !t.tried[try{o.Revision, o.Step, was.Attempt}]:
		t.violatedf("revision %d has attempt %d, and attempt %d did not fail", o.Revision, o.Attempt, was.Attempt)
	case o.Attempt < was.Attempt:
		t.violatedf("revision %d has attempt %d after %d", o.Revision, o.Attempt, was.Attempt)
	case o.Rejudges(was), was.Verdict != nil && o.Verdict == nil:
		t.violatedf("revision %d was %s, and is something else", o.Revision, was.Verdict.Result)
	}
	if o.Step > was.Step {
		t.provenStep(was, "goes on")
	}
}

// mayGoTo checks that an order goes back to the newest revision before it that nobody remembers to be anything but verified.
func (w *walk) mayGoTo(m moment, o rolloutv1alpha1.Order) {
	good := map[int64]bool{}
	for _, d := range m.deliveries {
		for _, h := range d.Status.AtProvider.History {
			was, known := good[h.Revision]
			good[h.Revision] = verified(h) && len(h.Trees) > 0 && (was || !known)
		}
	}
	w.mayGoAgain(m, o)
	if !good[*o.Target] {
		w.truth.violatedf("revision %d goes back to %d, which was not verified, or was taken back", o.Revision, *o.Target)
	}
	for n, is := range good {
		if is && o.Withdraws == nil && n > *o.Target && n < o.Revision {
			w.truth.violatedf("revision %d goes back to %d, and not to %d", o.Revision, *o.Target, n)
		}
	}
}

// mayGoAgain checks that no more revisions are taken back within an hour than may be.
func (w *walk) mayGoAgain(m moment, o rolloutv1alpha1.Order) {
	ended := map[int64]time.Time{}
	for _, d := range m.deliveries {
		for _, h := range d.Status.AtProvider.History {
			if h.Verdict != nil && h.EndedAt != nil && h.Verdict.Result == rolloutv1alpha1.VerdictRejected && h.Verdict.Reason != rolloutv1alpha1.RejectedRequested {
				if was, ok := ended[h.Revision]; !ok || h.EndedAt.Time.Before(was) {
					ended[h.Revision] = h.EndedAt.Time
				}
			}
		}
	}
	at, n := ended[o.Revision], int32(0)
	for revision, t := range ended {
		if revision < o.Revision && t.After(at.Add(-time.Hour)) && !t.After(at) {
			n++
		}
	}
	if most := *m.spec.RollbackConfig.MaxPerHour; !at.IsZero() && o.Withdraws == nil && most > 0 && n >= most {
		w.truth.violatedf("revision %d is taken back, and %d were rejected within the hour", o.Revision, n)
	}
}

// takes checks that an order which names a request does what that says, and that it does so once.
func (t *truth) takes(all map[string]rolloutv1alpha1.RolloutRequestSpec, was, o rolloutv1alpha1.Order) {
	ref := o.RequestRef
	if !names(o, was) {
		return
	}
	delete(t.rejected, o.Intent)
	r := all[ref.UID]
	if r.Revision != was.Revision || r.Request != "" && r.Request != was.Request {
		t.violatedf("request %s means revision %d, and is done for %d", ref.UID, r.Revision, was.Revision)
	}
	if n, did := t.done[ref.UID]; did && n != o.Revision {
		t.violatedf("request %s is done for revision %d, and was for %d", ref.UID, o.Revision, n)
	}
	t.done[ref.UID] = o.Revision
	if r.Action == rolloutv1alpha1.ActionPromote && r.Revision != o.Revision {
		t.violatedf("request %s releases a step of revision %d, and not of %d", ref.UID, o.Revision, r.Revision)
	}
	for uid, other := range all {
		if other.Action == rolloutv1alpha1.ActionAbort && r.Action != other.Action && was.Verdict == nil && other.Revision == was.Revision {
			t.violatedf("request %s is done, and %s asks to abort", ref.UID, uid)
		}
	}
}

// heeds checks that what is said now is what is ordered, at once.
func (w *walk) heeds(m moment, asked map[string]*deliveryv1alpha1.GitDelivery) {
	said, was, is := *m.spec.Intent, newest(m.deliveries), newest(asked)
	if said == "{" || is == nil || m.spec.Suspend != nil && *m.spec.Suspend || is.RendererVersion > w.core.version || was != nil && names(*is, *was) {
		return
	}
	if known, ok := w.truth.intents[said]; ok && known != is.Intent {
		w.truth.violatedf("%s is said, and another intent is ordered", said)
	}
	for other, intent := range w.truth.intents {
		if other != said && intent == is.Intent {
			w.truth.violatedf("%s is said, and what is ordered is %s", said, other)
		}
	}
	w.truth.intents[said] = is.Intent
}
