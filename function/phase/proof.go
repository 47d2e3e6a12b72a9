package phase

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/rollout"
)

// Proof is what the facts prove of the order.
func (f *Facts) Proof() rollout.Proof {
	p := rollout.Proof{Live: f.live(), Failure: f.failure()}
	if g := f.gate(); g != nil {
		p.Passed = rollout.Judged(g, *f.Order) == rolloutv1alpha1.GatePassed
		if p.Failure == nil {
			p.Failure = rollout.NotPassed(g, *f.Order)
		}
	}
	return p
}

// gate is the one that judges the order's step, if it is there.
func (f *Facts) gate() *rolloutv1alpha1.Gate {
	if f.Order == nil || !rollout.Gated(*f.Order) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Gates)) {
		if g := f.Gates[name]; rollout.Judges(g, *f.Order) {
			return g
		}
	}
	return nil
}

// judging is true when the order's step was live, and its Gate began to measure.
func (f *Facts) judging() bool {
	g := f.gate()
	return g != nil && g.Status.AtProvider.StartedAt != nil && g.Status.AtProvider.Order != nil && rollout.Judges(g, *g.Status.AtProvider.Order)
}

// Unhindered is true for an order that will come to its end by itself. A Gate that waits for metrics may wait without end.
func (f *Facts) Unhindered() bool {
	d, _ := f.blocked()
	return d == nil && !f.waiting() && len(f.uncounted()) == 0 && f.AwaitingGate() == nil
}

// AwaitingGate returns the Gate of the order's step if it cannot measure now: its queries give no data, or a metrics backend does not answer.
// It is nil otherwise.
func (f *Facts) AwaitingGate() *rolloutv1alpha1.Gate {
	g := f.gate()
	if g == nil || f.Order.Verdict != nil {
		return nil
	}
	switch rollout.CurrentReady(g, *f.Order).Reason {
	case rolloutv1alpha1.ReasonNoData, rolloutv1alpha1.ReasonMetricsUnavailable, rolloutv1alpha1.ReasonHeld:
		return g
	}
	return nil
}

// Watched is true when the SiteSync looks at every Site that has an engine.
func (f *Facts) Watched() bool {
	for _, t := range f.trees() {
		if _, nobody := f.Unobserved[t.Site]; !nobody && !f.syncs(t.Site) {
			return false
		}
	}
	return true
}

// Remembered is true when the order has a verdict, and every repository remembers it.
func Remembered(f *Facts) bool { return f.Order != nil && f.Order.Verdict != nil && f.recorded() }

// failure is the first reason, in the order of names, for which the revision is rejected, or nil.
func (f *Facts) failure() *rolloutv1alpha1.Verdict {
	if f.Order == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
		if d := f.Observed[name]; d != nil && f.asked(name) {
			if v := rollout.Refused(d, *f.Order); v != nil {
				return v
			}
		}
	}
	if !f.watched() {
		return nil
	}
	return rollout.NotSynced(f.ObservedSync, *f.Order)
}

// live is true when every repository holds what the order's step asks for, and every Site of the step runs it, now.
func (f *Facts) live() bool {
	return f.delivered() && f.synced() && len(f.uncounted()) == 0
}

// synced is true when the Sites that are observed are proven to run the trees of the order's step.
func (f *Facts) synced() bool {
	return f.Sync == nil || f.watched() && rollout.Live(f.ObservedSync, *f.Order)
}

// watched is true when the SiteSync looks for the trees that are desired.
func (f *Facts) watched() bool {
	return f.Sync != nil && f.ObservedSync != nil &&
		slices.Equal(f.Sync.Spec.ForProvider.Sites, f.ObservedSync.Spec.ForProvider.Sites)
}

// uncounted are the Sites of the order's step that nobody observes, and where delivered does not count as live. What was verified before
// the catalog was lost from sight counted.
func (f *Facts) uncounted() []string {
	if f.Unobserved != nil && len(f.Unobserved) == 0 {
		return nil
	}
	var out []string
	for _, t := range f.trees() {
		if f.Order.Attempt > 0 && t.Action == deliveryv1alpha1.ActionKeep {
			continue // The way back does not touch it.
		}
		counts, nobody := f.Unobserved[t.Site]
		if f.Unobserved == nil && !f.syncs(t.Site) {
			counts, nobody = f.Order.Verified(), true
		}
		if nobody && !counts && rollout.Reached(*f.Order, t.Site) {
			out = append(out, t.Site)
		}
	}
	return out
}

// syncs is true for a Site that the SiteSync looks at.
func (f *Facts) syncs(site string) bool {
	return f.Sync != nil && slices.ContainsFunc(f.Sync.Spec.ForProvider.Sites, func(s deliveryv1alpha1.SiteTree) bool { return s.Name == site })
}

// trees that are desired, by the names of deliveries and then in their order.
func (f *Facts) trees() []*deliveryv1alpha1.Tree {
	var out []*deliveryv1alpha1.Tree
	for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
		trees := f.Desired[name].Spec.ForProvider.Trees
		out = slices.Grow(out, len(trees))
		for i := range trees {
			out = append(out, &trees[i])
		}
	}
	return out
}

// delivered is true when every desired delivery proves now that it carried the order out.
func (f *Facts) delivered() bool { return f.every(rollout.Delivered) && !f.waiting() }

// carried is true when every desired delivery carried the order out at some time.
func (f *Facts) carried() bool { return f.every(rollout.Echoes) && !f.waiting() }

// recorded is true when every repository remembers the order, with its verdict.
func (f *Facts) recorded() bool { return f.every(rollout.Recorded) && !f.waiting() }

// succeeded is true for a revision that was verified, and where every repository remembers that.
func (f *Facts) succeeded() bool { return f.atLastStep() && f.Order.Verified() && f.recorded() }

// holds is true when what was asked for succeeded, and runs now.
func (f *Facts) holds() bool { return f.succeeded() && f.live() }

func (f *Facts) every(is func(*deliveryv1alpha1.GitDelivery, rolloutv1alpha1.Order) bool) bool {
	if f.Order == nil || len(f.Desired) == 0 {
		return false
	}
	for name := range f.Desired {
		if f.Observed[name] == nil || !is(f.Observed[name], *f.Order) || !f.asked(name) {
			return false
		}
	}
	return true
}

// asked is true when the observed delivery was asked for the trees that are desired now. The same order can come to ask for more:
// a tree that was kept because its cluster was not ready.
func (f *Facts) asked(name string) bool {
	if sameTrees(f.Desired[name].Spec.ForProvider.Trees, f.Observed[name].Spec.ForProvider.Trees) {
		return true
	}
	one := func(d *deliveryv1alpha1.GitDelivery) map[string]string {
		return compose.TreeIDs(map[string]*deliveryv1alpha1.GitDelivery{name: d})
	}
	return maps.Equal(one(f.Desired[name]), one(f.Observed[name]))
}

// sameTrees is true for the same ones in the same order, which is what they mostly are.
func sameTrees(a, b []deliveryv1alpha1.Tree) bool {
	for i := range a {
		if i >= len(b) || !sameTree(&a[i], &b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

func sameTree(a, b *deliveryv1alpha1.Tree) bool {
	return a.Tree == b.Tree && a.Path == b.Path && a.Branch == b.Branch
}

// waiting is true while some Site receives nothing because its cluster is not ready.
func (f *Facts) waiting() bool {
	for name, d := range f.Desired {
		trees := d.Spec.ForProvider.Trees
		for i := range trees {
			if f.waits(&trees[i], f.Observed[name]) {
				return true
			}
		}
	}
	return false
}

// waits is true for a tree of a Site whose cluster is not ready. A tree can also be kept because its step has not come, because the
// revision was rejected, or, where a renderer is held back, because nobody can render it any more.
func (f *Facts) waits(t *deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) bool {
	if t.Action != deliveryv1alpha1.ActionKeep || f.Order != nil && (f.Order.Rejected() || !rollout.Reached(*f.Order, t.Site)) {
		return false
	}
	served := func(s deliveryv1alpha1.DeliveredTree) bool { return s.Path == t.Path }
	return !f.Held || d == nil || !slices.ContainsFunc(d.Status.AtProvider.Trees, served)
}

// liveRevision is the revision that is known to run at all Sites: the one of the order, once that is remembered to be verified and as
// long as nothing says otherwise, or the one that it went back to, and before that the newest one that was verified. So it is where a rejected
// one touched nothing. 0 means that none is known to.
func (f *Facts) liveRevision() int64 {
	switch {
	case f.Order == nil:
		return 0
	case f.Order.Rejected() && f.Order.Target != nil && rollout.Restored(*f.Order) && f.runs():
		return *f.Order.Target
	case f.Order.Rejected() && (f.Stop != rollout.StopSame || f.targetSeen() && !f.runs()):
		return 0
	case f.Order.Rejected():
		return f.verifiedRevision()
	case !f.succeeded():
		return f.verifiedRevision()
	case f.runs():
		return f.Order.Revision
	}
	return 0
}

// targetSeen is true when the SiteSync looks at the very trees that there is to go back to. One that looks for others says nothing of these.
func (f *Facts) targetSeen() bool {
	if f.Target == nil || f.ObservedSync == nil {
		return false
	}
	return !slices.ContainsFunc(f.ObservedSync.Spec.ForProvider.Sites, func(s deliveryv1alpha1.SiteTree) bool { return f.Target.Trees[s.Name] != s.Tree })
}

// runs is true as long as nothing says that Sites do not run what was carried out. It is less than live: an object whose change was not
// looked at yet does not speak against it.
func (f *Facts) runs() bool {
	d, _ := f.blocked()
	return d == nil && f.carried() && f.synced() && len(f.uncounted()) == 0
}

// verifiedRevision is the newest revision that every repository of the order remembers to be verified.
func (f *Facts) verifiedRevision() int64 {
	var out int64
	for i, name := range slices.Sorted(maps.Keys(f.Desired)) {
		d := f.Observed[name]
		if d == nil {
			return 0
		}
		n := newestVerified(d, f.Order)
		if i == 0 || n < out {
			out = n
		}
	}
	return out
}

func newestVerified(d *deliveryv1alpha1.GitDelivery, now *rolloutv1alpha1.Order) int64 {
	var out int64
	if o := d.Status.AtProvider.Order; o != nil && o.Verified() {
		out = o.Revision
	}
	for _, h := range d.Status.AtProvider.History {
		if h.Verdict != nil && h.Verdict.Result == rolloutv1alpha1.VerdictVerified && !withdrawn(h, now) && h.Revision > out {
			out = h.Revision
		}
	}
	return out
}

// withdrawn is true for a revision that a person took back.
func withdrawn(h deliveryv1alpha1.HistoryEntry, now *rolloutv1alpha1.Order) bool {
	return h.Withdrawn || now != nil && now.TakesBack(h.Revision)
}

func (f *Facts) atLastStep() bool { return f.Order != nil && f.Order.Step+1 >= f.Order.Steps }

// wave says which of several steps goes on, or nothing.
func (f *Facts) wave() string {
	if f.Order == nil || f.Order.Steps < 2 {
		return ""
	}
	return fmt.Sprintf(" This is step %d of %d.", f.Order.Step+1, f.Order.Steps)
}

// unproven says why the Sites are not proven to run what their repositories hold.
func (f *Facts) unproven() string {
	if names := f.uncounted(); len(names) > 0 {
		more := ""
		if len(names) > maxNamed {
			names, more = names[:maxNamed], " and others"
		}
		return "Nobody tells what these Sites run, and they do not say that it counts (unobservedIsLive): " + strings.Join(names, ", ") + more + "."
	}
	if f.watched() && rollout.Speaks(f.ObservedSync, *f.Order) {
		if c := f.ObservedSync.GetCondition("Ready"); c.Message != "" {
			return fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	return "It is not known yet what the Sites run."
}
