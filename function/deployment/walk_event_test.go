package deployment

import (
	"maps"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/ledgerhome"
)

// A judgedCall is the ledger that a call knew, and its proposed events.
type judgedCall struct {
	// seen is the ledger that the call knew, and next the ledger after its events.
	seen, next ledger.State
	// asked is the number of events that were requested before.
	asked int
	// isNew is true if some were not.
	isNew bool
	// provenIn is the epoch in which the steps of the current revision were proven: that of the state which is recovered, where one is.
	provenIn int64
}

// judgeProposal checks the desired resources of a call, by its input.
func (w *walk) judgeProposal(m moment, desired map[string]*deliveryv1alpha1.GitDelivery, fresh bool) {
	name := homeOf(m, desired)
	if name == "" {
		return
	}
	p := judgedCall{seen: seenLedger(m.deliveries[name])}
	p.next, p.provenIn = p.seen, p.seen.Epoch
	update := desired[name].Spec.ForProvider.Ledger
	observed := m.deliveries[name]
	p.asked = countAsked(observed, *update)
	p.isNew = update.After == p.seen.Head && p.asked < len(update.Events)
	if update.After == p.seen.Head {
		p.next = w.judgeEvents(m, p, update.Events, fresh)
	}
	for _, e := range update.Events {
		if e.Recovered != nil {
			p.provenIn = e.Recovered.Copy.Epoch
		}
	}
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		w.judgeTrees(m.deliveries[name], desired[name], p)
	}
	isOutranked := w.truth.isExcused("revision of a newer version in another home", w.isOutranked(m, p.seen))
	if fresh && !isOutranked && (areHomesKnown(m, desired) || p.isNew) && !withdraws(m, desired) && !w.awaitsForcedHome(m, p.seen) {
		w.checkOrderedSpec(m, p)
	}
}

// isOutranked is true while a newer version of the function ordered the current revision of the newest ledger, which another repository has than the home of
// a state: this version leaves it alone.
func (w *walk) isOutranked(m moment, s ledger.State) bool {
	newest := s
	for _, d := range m.deliveries {
		if reported := seenLedger(d); reported.Compare(newest.Head) > 0 {
			newest = reported
		}
	}
	return newest.Head != s.Head && newest.Current != nil && newest.Current.Request.Renderer > w.core.version
}

// withdraws is true for a call that asks a delivery to record nothing any more. Another home begins in the next call.
func withdraws(m moment, desired map[string]*deliveryv1alpha1.GitDelivery) bool {
	for name, d := range desired {
		if observed := m.deliveries[name]; observed != nil && observed.Spec.ForProvider.Ledger != nil && d.Spec.ForProvider.Ledger == nil {
			return true
		}
	}
	return false
}

// areHomesKnown is true if each home that is asked for reported whether it has the ledger: nothing is decided before. Where none has one, any other
// repository may, and has to have reported too.
func areHomesKnown(m moment, desired map[string]*deliveryv1alpha1.GitDelivery) bool {
	isOpen, hasAllReported := false, true
	for name, d := range desired {
		observed := m.deliveries[name]
		hasReported := observed != nil && observed.Status.AtProvider.Ledger != nil
		if hasAllReported = hasAllReported && hasReported; d.Spec.ForProvider.Ledger == nil {
			continue
		}
		if !hasReported {
			return false
		}
		isOpen = isOpen || observed.Status.AtProvider.Ledger.Seq > 0
	}
	return isOpen || hasAllReported
}

// awaitsForcedHome is true while a user wants to force the ledger to a repository that has not reported its ledger yet.
func (w *walk) awaitsForcedHome(m moment, s ledger.State) bool {
	for uid, r := range w.wanted {
		if !ptr.Deref(r.Force, false) || slices.Contains(s.Requests, uid) {
			continue
		}
		hasReported := func(d *deliveryv1alpha1.GitDelivery) bool {
			return d.Spec.ProviderConfigReference.Name == r.ToConfigRef.Name && d.Status.AtProvider.Ledger != nil
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(m.deliveries)), hasReported) {
			return true
		}
	}
	return false
}

// countAsked is how many of the events of an update a delivery asks for already.
func countAsked(observed *deliveryv1alpha1.GitDelivery, update deliveryv1alpha1.LedgerUpdate) int {
	if observed == nil || observed.Spec.ForProvider.Ledger == nil || observed.Spec.ForProvider.Ledger.After != update.After {
		return 0
	}
	events := observed.Spec.ForProvider.Ledger.Events
	for i, e := range update.Events {
		if i >= len(events) || !isSame(&events[i], &e) {
			return i
		}
	}
	return len(update.Events)
}

// homeOf returns the name of the delivery that holds the ledger: the delivery with the newest ledger once it has recorded its request. Other deliveries
// were left. Empty means that there is none.
func homeOf(m moment, ds map[string]*deliveryv1alpha1.GitDelivery) string {
	homes := slices.DeleteFunc(slices.Sorted(maps.Keys(ds)), func(name string) bool { return ds[name].Spec.ForProvider.Ledger == nil })
	if len(homes) == 1 {
		return homes[0]
	}
	home, newest := "", ledger.Head{}
	for _, name := range homes {
		l := ds[name].Spec.ForProvider.Ledger
		head := seenLedger(m.deliveries[name]).Head
		if next, err := ledger.Append(seenLedger(m.deliveries[name]), ledgerhome.RecordingTime(), l.Events...); err == nil && l.After == head {
			head = next.Head
		}
		if home == "" || head.Compare(newest) > 0 {
			home, newest = name, head
		}
	}
	return home
}

// seenLedger is the ledger that a delivery shows.
func seenLedger(d *deliveryv1alpha1.GitDelivery) ledger.State {
	if d == nil {
		return ledger.State{}
	}
	return ptr.Deref(d.Status.AtProvider.Ledger, ledger.State{})
}

// judgeEvents checks that a call may propose events. It returns the state after them.
func (w *walk) judgeEvents(m moment, p judgedCall, events []ledger.Event, fresh bool) ledger.State {
	s := p.seen
	for i, e := range events {
		next, err := ledger.Append(s, w.now, e)
		if err != nil {
			if i >= p.asked {
				w.truth.violatedf("a call proposes an illegal event: %s", err)
			}
			return s
		}
		if i >= p.asked {
			w.judgeEvent(m, s, e, next, fresh)
			w.isProven(p.seen, s, e)
		}
		s = next
	}
	return s
}

// judgeEvent checks that a call may propose an event.
func (w *walk) judgeEvent(m moment, s ledger.State, e ledger.Event, next ledger.State, fresh bool) {
	w.followsRequest(s, e)
	switch {
	case e.Ordered != nil:
		if r := next.Current; fresh && s.Current != nil && r.RequestRef == nil && r.Request.Intent == s.Current.Request.Intent && w.flies(m, s) {
			w.truth.violatedf("revision %d does not wait for the verdict on %d", r.Number, s.Current.Number)
		}
	case e.RolledBack != nil:
		w.mayRollBack(m, s, next)
	case e.Restored != nil:
		w.isRestored(m, s)
	case e.Closed != nil:
		w.truth.violatedf("a call closes the ledger")
	}
}

// isProven checks that a decision by a proof is about a recorded position.
func (w *walk) isProven(observed, s ledger.State, e ledger.Event) {
	needsProof := e.Judged != nil && e.Judged.RequestRef == nil || e.Advanced != nil || e.Restored != nil || e.RolledBack != nil && s.Cursor.Attempt > 0
	if needsProof && s.Position() != observed.Position() {
		w.truth.violatedf("%s follows from revision %d, attempt %d, which is not recorded", describeEvent(e), s.Current.Number, s.Cursor.Attempt)
	}
}

// requestOf is the RolloutRequest that an event names. Nil means none.
func requestOf(e ledger.Event) *ledger.RequestReference {
	switch {
	case e.Ordered != nil:
		return e.Ordered.Revision.RequestRef
	case e.Judged != nil:
		return e.Judged.RequestRef
	case e.Withdrawn != nil:
		return &e.Withdrawn.RequestRef
	case e.Promoted != nil:
		return &e.Promoted.RequestRef
	case e.Moved != nil:
		return &e.Moved.RequestRef
	case e.Recovered != nil:
		return e.Recovered.RequestRef
	}
	return nil
}

// followsRequest checks that an event which names a request fulfils it.
func (w *walk) followsRequest(s ledger.State, e ledger.Event) {
	ref := requestOf(e)
	if ref == nil || s.Current == nil {
		return
	}
	r, ok := w.wanted[ref.UID]
	if !ok {
		w.truth.violatedf("request %s was never made", ref.UID)
		return
	}
	if e.Recovered != nil {
		w.followsForcedMove(ref.UID, r)
		return // It moves the ledger whatever the revision is by now.
	}
	if !isAbout(s, r) {
		w.truth.violatedf("request %s means revision %d, and takes effect on %d", ref.UID, r.Revision, s.Current.Number)
	}
	for uid, competing := range w.wanted {
		if slices.Contains(s.Requests, uid) {
			continue // A request is taken once, also if its result was lost.
		}
		if competing.Action == rolloutv1alpha1.ActionAbort && r.Action != competing.Action && s.Verdict == nil && competing.Revision == s.Current.Number {
			w.truth.violatedf("request %s takes effect, and %s asks to abort", ref.UID, uid)
		}
	}
}

// isAbout is true for a request that means the current revision. A forced move may mean the next one: the status shows a revision before its home records it.
func isAbout(s ledger.State, r rolloutv1alpha1.RolloutRequestSpec) bool {
	if r.Action == rolloutv1alpha1.ActionMoveLedger && ptr.Deref(r.Force, false) && r.Revision == s.LastNumber+1 {
		return true
	}
	return r.Revision == s.Current.Number && (r.Request == "" || r.Request == s.Current.Request.Digest())
}

// followsForcedMove checks that a ledger is recovered because of a request that says so.
func (w *walk) followsForcedMove(uid string, r rolloutv1alpha1.RolloutRequestSpec) {
	if r.Action != rolloutv1alpha1.ActionMoveLedger || !ptr.Deref(r.Force, false) {
		w.truth.violatedf("request %s recovers the ledger, and asks for %s", uid, r.Action)
	}
}

// mayRollBack checks that an attempt may begin, and where it goes.
func (w *walk) mayRollBack(m moment, s, next ledger.State) {
	policy, number, attempt := m.spec.RollbackConfig, next.Current.Number, next.Cursor.Attempt
	isRequested := s.Withdraws != 0
	switch {
	case attempt > *policy.MaxRetries:
		w.truth.violatedf("revision %d has attempt %d of %d", number, attempt, *policy.MaxRetries)
	case !*policy.AutoRollback && !isRequested:
		w.truth.violatedf("revision %d is rolled back, and no user asked for that", number)
	case attempt > 1 && !w.truth.tried[tryOf(s.Position())]:
		w.truth.violatedf("revision %d has attempt %d, and attempt %d did not fail", number, attempt, attempt-1)
	}
	if attempt == 1 && !isRequested {
		w.mayGoTo(s, next)
		w.mayGoAgain(m, s)
	}
}

// isRestored checks that Sites ran the trees that a rollback restores there.
func (w *walk) isRestored(m moment, s ledger.State) {
	position := s.Position()
	for _, d := range m.deliveries {
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Action == deliveryv1alpha1.ActionRestore && askedPosition(d) == position && !w.truth.ran[run{goalOf(position), t.Site, t.Tree}] {
				w.truth.violatedf("revision %d is restored, and %s never ran its tree", position.Revision, t.Site)
			}
		}
	}
}

// mayGoTo checks that a rollback goes to the newest revision before it that was verified and not withdrawn.
func (w *walk) mayGoTo(s, next ledger.State) {
	for _, p := range s.Targets() {
		if p.Number > next.Target && p.Number < next.Current.Number {
			w.truth.violatedf("revision %d is rolled back to %d, and not to %d", next.Current.Number, next.Target, p.Number)
		}
	}
}

// mayGoAgain checks that no more revisions are rolled back within an hour than may be.
func (w *walk) mayGoAgain(m moment, s ledger.State) {
	var latest time.Time
	n, limit := int32(0), *m.spec.RollbackConfig.MaxPerHour
	for _, p := range slices.Backward(s.History) {
		switch {
		case p.Number == s.Current.Number:
			latest = p.EndedAt.Time
		case p.Verdict == nil, p.Verdict.Result != ledger.VerdictRejected, p.Verdict.Reason == ledger.RejectedRequested:
		case p.EndedAt.After(latest.Add(-time.Hour)) && !p.EndedAt.After(latest):
			n++
		}
	}
	if s.Verdict.Reason != ledger.RejectedRequested && limit > 0 && n >= limit {
		w.truth.violatedf("revision %d is rolled back, and %d were rejected within the hour", s.Current.Number, n)
	}
}

// flies is true for a position at its last step that all deliveries applied, for all Sites, and that the SiteSync looks at.
func (w *walk) flies(m moment, s ledger.State) bool {
	position := s.Position()
	if s.Verdict != nil || int(position.Step)+1 < len(s.Current.Plan) || m.sync == nil || *m.sync.Spec.ForProvider.Position != position || len(m.sync.Spec.ForProvider.Sites) < len(w.sites) {
		return false
	}
	served := 0
	for _, d := range m.deliveries {
		r := d.Status.AtProvider.Record
		if r == nil || r.Position != askedPosition(d) || !position.HasReached(askedPosition(d)) || !isReady(d) {
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

// judgeTrees checks the desired trees of a delivery. The trees of a follower belong to a recorded position.
func (w *walk) judgeTrees(observed, d *deliveryv1alpha1.GitDelivery, p judgedCall) {
	s := p.next
	if c := d.Spec.ForProvider.Copy; c != nil {
		if s = *c; !w.truth.heads[s.Head] {
			w.truth.violatedf("a follower is asked for event %d of epoch %d, which was never recorded", s.Seq, s.Epoch)
			return
		}
	}
	if s.Current == nil || askedPosition(d) != s.Position() {
		return
	}
	for _, t := range d.Spec.ForProvider.Trees {
		switch t.Action {
		case deliveryv1alpha1.ActionDesired:
			w.mayDeliver(s, t, p.provenIn)
		case deliveryv1alpha1.ActionRestore:
			w.mayRestore(observed, s, t)
		case deliveryv1alpha1.ActionKeep:
		}
	}
}

// mayDeliver checks that all steps before a Site's step were proven, and that its cluster was. A proof of the previous epoch counts in the next epoch,
// which may not be recorded yet, and may be proven already in its repository.
func (w *walk) mayDeliver(s ledger.State, t deliveryv1alpha1.Tree, provenIn int64) {
	previous := s
	previous.Epoch = provenIn
	isAdmitted := func(s ledger.State) bool { return w.truth.admitted[run{goalOf(s.Position()), t.Site, ""}] }
	if w.sites[t.Site].clustered && !isAdmitted(s) && !isAdmitted(previous) && !w.truth.isExcused("cluster that was ready before a fork", w.wasAdmitted(s, t.Site)) {
		w.truth.violatedf("revision %d is delivered to %s, whose cluster was not ready", s.Current.Number, t.Site)
	}
	for i, step := range s.Current.Plan {
		if slices.Contains(step.Sites, t.Site) {
			return
		}
		if refutation := w.truth.refuteStep(s, int32(i)); refutation != "" && w.truth.refuteStep(previous, int32(i)) != "" {
			w.truth.violatedf("revision %d is delivered to %s, and %s", s.Current.Number, t.Site, refutation)
		}
	}
}

// wasAdmitted is true for a Site whose cluster was ready for a revision of this number in a ledger that went on in two homes: both asked for it.
func (w *walk) wasAdmitted(s ledger.State, site string) bool {
	goal := goalOf(s.Position())
	for goal.epoch--; w.truth.lossy && goal.epoch > 0; goal.epoch-- {
		if w.truth.admitted[run{goal, site, ""}] {
			return true
		}
	}
	return false
}

// mayRestore checks that a directory is restored which the revision changed, or was to.
func (w *walk) mayRestore(observed *deliveryv1alpha1.GitDelivery, s ledger.State, t deliveryv1alpha1.Tree) {
	if w.truth.lossy || w.wiped || observed == nil {
		return
	}
	for _, requested := range observed.Spec.ForProvider.Trees {
		if requested.Path == t.Path && requested.Action == deliveryv1alpha1.ActionRestore && askedPosition(observed).Revision == s.Current.Number {
			return
		}
	}
	heldTree := ""
	for _, delivered := range observed.Status.AtProvider.Trees {
		if delivered.Path == t.Path {
			heldTree = delivered.Tree
		}
	}
	touched := false
	for v := range w.truth.forwarded {
		touched = touched || v.path == t.Path && v.revision > s.Target
	}
	r := observed.Status.AtProvider.Record
	if reported := r != nil && r.Position == askedPosition(observed); !touched && (heldTree == t.Tree || heldTree == "" && reported) {
		w.truth.violatedf("revision %d restores %s, which it never changed", s.Current.Number, t.Path)
	}
}

// checkOrderedSpec checks that the current spec is ordered at once, if the ledger is known and no request takes effect.
func (w *walk) checkOrderedSpec(m moment, p judgedCall) {
	text, current := *m.spec.Intent, p.next.Current
	if text == "{" || current == nil || p.seen.Successor != "" || m.spec.Suspend != nil && *m.spec.Suspend || current.Request.Renderer > w.core.version || len(p.next.Requests) != len(p.seen.Requests) {
		return
	}
	intent := current.Request.Intent
	if recorded, ok := w.truth.said[text]; ok && recorded != intent {
		w.truth.violatedf("%s is said, and another intent is ordered", text)
	}
	for otherText, otherIntent := range w.truth.said {
		if otherText != text && otherIntent == intent {
			w.truth.violatedf("%s is said, and what is ordered is %s", text, otherText)
		}
	}
	w.truth.said[text] = intent
}
