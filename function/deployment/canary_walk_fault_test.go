package deployment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/test/soak"
)

// Faults of a provider that acts by mandates. It is killed in the first four.
const (
	faultBeforeFetch   = "killed before the fetch"
	faultAfterCommit   = "killed after the commit"
	faultBetweenRefs   = "killed between state and branch"
	faultAfterPush     = "killed after the push"
	faultStaleWitness  = "a cache that is behind"
	faultForeign       = "objects of another controller"
	faultEchoLost      = "the echo is lost"
	faultOldMandate    = "the mandate of an older revision is put back"
	faultSecondLeader  = "a second leader"
	faultSecondOldSpec = "a second leader with an older spec"
)

// killFaults are the faults in which the provider is killed.
func killFaults() []string {
	return []string{faultBeforeFetch, faultAfterCommit, faultBetweenRefs, faultAfterPush}
}

// allFaults are the faults of a provider. Half of them are kills.
func allFaults() []string {
	others := []string{faultStaleWitness, faultForeign, faultEchoLost, faultOldMandate, faultSecondLeader, faultSecondOldSpec}
	return slices.Concat(killFaults(), killFaults(), others)
}

// staleViews is by how many views a cache is behind at most. A round has two.
const staleViews = 6

// minimumKills is how many times a provider that has something to push is killed in all stories of the long form.
const minimumKills = 1_000

// turnsToKeepPromise is in how many turns a provider records an event that its status promises.
const turnsToKeepPromise = 3

// mandateFaults are the faults of a story. A nil pointer has none.
type mandateFaults struct {
	random *rand.Rand
	// fault of this round. Empty means none.
	fault string
	// counts are how often each fault met something to push.
	counts map[string]int
	// mandates are those that the home had, by their revision.
	mandates map[int64]any
}

func newMandateFaults(seed uint64) *mandateFaults {
	return &mandateFaults{random: rand.New(rand.NewPCG(seed, 25)), counts: map[string]int{}, mandates: map[int64]any{}}
}

// is reports whether this round has a fault.
func (f *mandateFaults) is(fault string) bool { return f != nil && f.fault == fault }

// isKilled is true in a round in which the provider is killed.
func (f *mandateFaults) isKilled() bool { return f != nil && slices.Contains(killFaults(), f.fault) }

// isBeforePush is true in a round in which the provider is killed before the server gets anything.
func (f *mandateFaults) isBeforePush() bool {
	return f.is(faultBeforeFetch) || f.is(faultAfterCommit)
}

// beginFault draws the fault of a round. There is none shortly before and after a user acts, so that the user finds the same state, and none while a story
// rests: its last rounds bring the provider to its end.
func (w *canaryWalk) beginFault() {
	w.t.Helper()
	if w.faults == nil {
		return
	}
	w.rememberMandates()
	w.faults.fault = ""
	isCalm := w.quiet >= restRounds-lossRounds || w.isActNear() || w.isUnanswered()
	if len(w.events) > 0 && !isCalm && w.faults.random.IntN(3) == 0 {
		w.faults.fault = allFaults()[w.faults.random.IntN(len(allFaults()))]
		w.notef("fault: %s", w.faults.fault)
		w.countFault()
	}
	for _, r := range w.repositories {
		r.stopsBeforeBranch = w.faults.is(faultBetweenRefs)
	}
	switch w.faults.fault {
	case faultOldMandate:
		w.putOldMandate()
	case faultSecondOldSpec:
		w.deliverOldSpecs()
	}
}

// rememberMandates keeps the mandates that homes have.
func (w *canaryWalk) rememberMandates() {
	for _, o := range w.in.Observed {
		m, isHome, _ := unstructured.NestedFieldCopy(o.Object, "spec", "forProvider", "mandate")
		if revision, _, _ := unstructured.NestedInt64(o.Object, "spec", "forProvider", "mandate", "revision"); isHome {
			w.faults.mandates[revision] = m
		}
	}
}

// putOldMandate gives the home the mandate of an earlier revision again, as a late write does.
func (w *canaryWalk) putOldMandate() {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		o := w.in.Observed[name]
		revision, isHome, _ := unstructured.NestedInt64(o.Object, "spec", "forProvider", "mandate", "revision")
		older := slices.DeleteFunc(slices.Sorted(maps.Keys(w.faults.mandates)), func(n int64) bool { return n >= revision })
		if !isHome || len(older) == 0 {
			continue
		}
		u := o.DeepCopy()
		if err := unstructured.SetNestedField(u.Object, w.faults.mandates[older[len(older)-1]], "spec", "forProvider", "mandate"); err != nil {
			w.t.Fatal(err)
		}
		u.SetGeneration(o.GetGeneration() + 1)
		w.in.Observed[name] = u
	}
}

// deliverOldSpecs lets a provider carry out specs that are older than the present ones. Its statuses are refused.
func (w *canaryWalk) deliverOldSpecs() {
	w.t.Helper()
	view := w.backups[max(0, len(w.backups)-staleViews)]
	for _, name := range slices.Sorted(maps.Keys(view)) {
		if view[name].GetKind() != "GitDelivery" || w.in.Observed[name] == nil {
			continue
		}
		if err := w.repository(w.url(name)).deliver(w.decode(view[name]), ledger.Head{}, w.in.Now.Time, true); err != nil {
			w.t.Errorf("an older spec of %s has an illegal event: %s", name, err)
		}
	}
}

// witnesses are the objects in the cache of the provider, which may be behind.
func (w *canaryWalk) witnesses() map[string]*unstructured.Unstructured {
	if !w.faults.is(faultStaleWitness) {
		return w.in.Observed
	}
	return w.backups[max(0, len(w.backups)-1-w.faults.random.IntN(staleViews))]
}

// addForeign adds the Gates and the SiteSync of another controller, which say the opposite.
func (w *canaryWalk) addForeign(f *mandate.Facts) {
	if !w.faults.is(faultForeign) {
		return
	}
	for _, g := range slices.Clone(f.Gates) {
		foreign := *g.DeepCopy()
		foreign.Name, foreign.OwnerReferences[0].UID = "a-"+g.Name, "another"
		position := foreign.Spec.ForProvider.AskedPosition()
		verdict := rolloutv1alpha1.GateFailed
		if g.Status.AtProvider.Verdict == rolloutv1alpha1.GateFailed {
			verdict = rolloutv1alpha1.GatePassed
		}
		foreign.Status.AtProvider = rolloutv1alpha1.GateObservation{Position: &position, Verdict: verdict, Checks: passedChecks(foreign.Spec.ForProvider.Checks)}
		showVerdict(&foreign)
		f.Gates = append(f.Gates, foreign)
	}
	for _, s := range slices.Clone(f.Syncs) {
		foreign := *s.DeepCopy()
		foreign.Name, foreign.OwnerReferences[0].UID = "a-"+s.Name, "another"
		setReady(&foreign, corev1.ConditionFalse, deliveryv1alpha1.ReasonTimedOut)
		f.Syncs = append(f.Syncs, foreign)
	}
}

// countFault counts the fault of the round, if the provider has something to push.
func (w *canaryWalk) countFault() {
	w.t.Helper()
	for name, o := range w.in.Observed {
		if o.GetKind() == "GitDelivery" && w.awaitsPush(name, w.decode(o)) {
			w.faults.counts[w.faults.fault]++
		}
	}
}

// awaitsPush is true for a home with events to record, or with trees to push that follow from its ledger.
func (w *canaryWalk) awaitsPush(name string, d *deliveryv1alpha1.GitDelivery) bool {
	w.t.Helper()
	p, r := d.Spec.ForProvider, w.repository(w.url(name))
	if p.Ledger == nil || r.memory.record == nil {
		return false
	}
	recorded := r.memory.ledger
	next, events := w.ownFacts(name, d, r).Conclude(recorded, recorded)
	return len(events) > 0 || p.Ledger.After == recorded.Head && len(p.Ledger.Events) > 0 || mandate.IsAhead(p, next)
}

// checkCover checks that the mandate by which events are recorded is for the current revision, or for the revision that a user rolls back.
func (w *canaryWalk) checkCover(d *deliveryv1alpha1.GitDelivery, recorded ledger.State) {
	w.t.Helper()
	m := d.Spec.ForProvider.Mandate
	isOwn := m != nil && recorded.Current != nil && (m.Revision == recorded.Current.Number || m.Revision == recorded.Withdraws)
	if !isOwn || m.Ledger != recorded.Ledger || m.Epoch != recorded.Epoch {
		w.t.Errorf("M2: the provider records events about %+v by mandate %+v", recorded.Position(), m)
	}
}

// checkPromise checks that the provider records an event that its status promises within a few turns, if it has no faults. The function says which event follows.
func (w *canaryWalk) checkPromise() {
	w.t.Helper()
	kind := step.Kind("")
	if w.faults != nil && w.faults.fault == "" {
		kind = w.promisedKind()
	}
	if w.overdue++; kind == "" {
		w.overdue = 0
	}
	if w.overdue > turnsToKeepPromise {
		w.t.Errorf("the provider does not record the event %s at %+v, which its status promises", kind, w.ledger().Position())
	}
}

// promisedKind returns the kind of the event that the function would record now, if the status of the home promises such events, and nothing of a spec waits to
// be recorded. A rollback ends once the spec names its position.
func (w *canaryWalk) promisedKind() step.Kind {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		o := w.in.Observed[name]
		if o.GetKind() != "GitDelivery" {
			continue
		}
		d := w.decode(o)
		echo, s := d.Status.AtProvider.Mandate, d.Status.AtProvider.Ledger
		if echo == nil || s == nil || s.Current == nil || echo.Revision != s.Current.Number {
			continue
		}
		e := w.proposedWithoutEcho(name, s.Head)
		isEnd := e != nil && e.Restored != nil && askedPosition(d) != s.Position()
		if e == nil || isEnd || !slices.Contains(echo.May, step.KindOf(*s, *e)) {
			return ""
		}
		return step.KindOf(*s, *e)
	}
	return ""
}

// proposedWithoutEcho returns the next event on top of a head that the function proposes where the status of the home promises nothing, or nil.
func (w *canaryWalk) proposedWithoutEcho(home string, head ledger.Head) *ledger.Event {
	w.t.Helper()
	now := w.in.Observed
	defer func() { w.in.Observed = now }()
	w.in.Observed = maps.Clone(now)
	u := now[home].DeepCopy()
	unstructured.RemoveNestedField(u.Object, "status", "atProvider", "mandate")
	w.in.Observed[home] = u
	out := w.run()
	for range 5 {
		if !w.answer(out.Needs) {
			break
		}
		out = w.run()
	}
	r, ok := out.Resources[home]
	if !ok {
		return nil
	}
	l := w.decode(r.Object).Spec.ForProvider.Ledger
	if l == nil || l.After != head || len(l.Events) == 0 {
		return nil
	}
	return &l.Events[0]
}

// A branchCommit is a position whose commits change a directory.
type branchCommit struct {
	revision             int64
	attempt, step, stage int32
	path                 string
}

// noteBranch notes a commit of the branch.
func (w *canaryWalk) noteBranch(p ledger.Position, path string) {
	w.branched[branchCommit{p.Revision, p.Attempt, p.Step, p.Stage, path}]++
}

// checkBranch checks that no position has more commits in a directory than in a story without faults.
func (w *canaryWalk) checkBranch(calm *canaryWalk) string {
	for c, n := range w.branched {
		if n > max(1, calm.branched[c]) {
			return fmt.Sprintf("position %+v has %d commits, and %d without faults", c, n, calm.branched[c])
		}
	}
	return ""
}

// checkFaults checks that many stories have each fault while there is something to push, and that enough providers are killed.
func checkFaults(t *testing.T, stories []*mandateFaults) {
	t.Helper()
	counts, kills := map[string]int{}, 0
	for _, f := range stories {
		if f == nil {
			continue // The story failed, or has two repositories.
		}
		for fault, n := range f.counts {
			counts[fault] += n
		}
	}
	for _, fault := range allFaults() {
		if counts[fault] == 0 && soak.Long() {
			t.Errorf("no story has something to push while there is the fault: %s", fault)
		}
	}
	for _, fault := range killFaults() {
		kills += counts[fault]
	}
	t.Logf("faults: %v", counts)
	minimum := 1
	if soak.Long() {
		minimum = minimumKills
	}
	if kills < minimum {
		t.Errorf("The provider is killed at least %d times around a push: got %d", minimum, kills)
	}
}
