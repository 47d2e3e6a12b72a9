package deployment

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// A numbered is one revision of one epoch of a ledger: its record never changes.
type numbered struct {
	ledger        string
	epoch, number int64
}

func numberedOf(s ledger.State) numbered { return numbered{s.Ledger, s.Epoch, s.Current.Number} }

// A goal is the desired revision of a Site, or the target of its rollback.
type goal struct {
	epoch, revision int64
	back            bool
}

func goalOf(p ledger.Position) goal { return goal{p.Epoch, p.Revision, p.Attempt > 0} }

// A run is a tree that a Site ran for a goal. Without a tree it stands for any.
type run struct {
	goal

	site, tree string
}

// A gated is a step that a Gate lets pass.
type gated struct {
	epoch, revision int64
	step            int32
}

func gatedOf(p ledger.Position) gated { return gated{p.Epoch, p.Revision, p.Step} }

// A cause is why a revision may be rejected.
type cause struct {
	revision int64
	reason   string
}

// A visit of a revision to a directory.
type visit struct {
	revision int64
	path     string
}

// The truth is the log of all real events, also of forgotten events.
type truth struct {
	// heads of ledgers that were recorded.
	heads map[ledger.Head]bool
	// verdicts and intents that were recorded.
	verdicts map[numbered]ledger.Result
	intents  map[numbered]ledger.Request
	// verified are the numbers that any ledger recorded to be verified.
	verified map[int64]bool
	// withdrawn are the revisions that a user rolled back past.
	withdrawn map[numbered]bool
	// rejected are the intents of rejected revisions, with the revision, until another intent was ordered.
	rejected map[string]int64
	// taken are the revisions that RolloutRequests took effect on, by uid.
	taken map[string]numbered
	// ran are the trees that Sites ran, and admitted the Sites whose clusters were seen ready.
	ran, admitted map[run]bool
	// passed are the steps that a Gate let pass.
	passed map[gated]bool
	// causes are why revisions may be rejected, and tried the attempts that failed.
	causes map[cause]bool
	tried  map[try]bool
	// forwarded are the directories that a revision was to change.
	forwarded map[visit]bool
	// asked are the trees that revisions brought to places.
	asked map[int64]map[string]string
	// said are the digests of intents, by their text.
	said map[string]string
	// lossy is set if a repository lost its state or was restored, so that recorded events may be decided again in another epoch.
	lossy bool
	// wiped is set if objects were lost, so that their requests are unknown.
	wiped bool
	// sealed are the heads of ledgers that were moved, with the homes that they continue in.
	sealed map[ledger.Head]string
	// newest is the newest head that a push recorded, and home where a user moved the ledger last. It is empty where none did.
	newest ledger.Head
	home   string
	// unseen are the revisions that a repository recorded before the provider stopped, and that no status has shown yet.
	unseen map[int64]bool
	// rebased are the revisions whose request changed on the way.
	rebased map[int64]bool
	// excused are the exceptions that the story made use of.
	excused map[string]bool
	// violations of the invariants.
	violations []string
}

func newTruth() *truth {
	return &truth{
		heads: map[ledger.Head]bool{}, verdicts: map[numbered]ledger.Result{}, intents: map[numbered]ledger.Request{}, verified: map[int64]bool{}, withdrawn: map[numbered]bool{},
		rejected: map[string]int64{}, taken: map[string]numbered{}, ran: map[run]bool{}, admitted: map[run]bool{}, passed: map[gated]bool{},
		causes: map[cause]bool{}, tried: map[try]bool{}, forwarded: map[visit]bool{}, asked: map[int64]map[string]string{}, said: map[string]string{},
		sealed: map[ledger.Head]string{}, unseen: map[int64]bool{}, rebased: map[int64]bool{}, excused: map[string]bool{},
	}
}

// isExcused is true for an exception that holds. It counts in how many stories that is so.
func (t *truth) isExcused(exception string, holds bool) bool {
	if holds {
		t.excused[exception] = true
	}
	return holds
}

func (t *truth) violatedf(format string, args ...any) {
	t.violations = append(t.violations, fmt.Sprintf(format, args...))
}

// live notes that a Site runs a tree.
func (t *truth) live(p ledger.Position, site, tree string) {
	t.ran[run{goalOf(p), site, tree}] = true
	t.ran[run{goalOf(p), site, ""}] = true
}

// fails records the failure of a position. Only a failure before a verdict rejects a revision.
func (t *truth) fails(p ledger.Position, reason string) {
	t.tried[tryOf(p)] = true
	if p.Attempt == 0 {
		t.causes[cause{p.Revision, reason}] = true
	}
}

// record checks events that are recorded on top of a state, all of them in one push. States between them were never visible: after a state was lost, its
// records may be recorded again, from the first event on.
func (t *truth) record(s ledger.State, events []ledger.Event, now time.Time) {
	pushed := map[numbered]ledger.State{}
	for _, e := range events {
		next, err := ledger.Append(s, now, e)
		if err != nil {
			t.violatedf("an illegal event is recorded: %s", err)
			return
		}
		t.noteFork(s, next)
		t.recordEvent(s, e, next)
		t.heads[next.Head] = true
		if s = next; e.Judged != nil {
			t.recordState(s)
		}
		if s.Current != nil {
			pushed[numberedOf(s)] = s
		}
	}
	for _, s := range pushed {
		t.recordState(s)
	}
	if s.Compare(t.newest) > 0 {
		t.newest = s.Head
	}
}

// noteFork records that a ledger which was moved by force while its home exists goes on in both, as long as no object shows the move: the records of one
// of them are lost then. If an object shows it, the repository refuses.
func (t *truth) noteFork(s, next ledger.State) {
	if s.Epoch > 0 && next.Epoch < t.newest.Epoch {
		t.lossy = true
	}
}

// recordState checks that the record of a revision does not change in its epoch.
func (t *truth) recordState(s ledger.State) {
	if t.heads[s.Head] = true; s.Current == nil {
		return
	}
	key, r := numberedOf(s), s.Current.Request
	isOther := func(recorded ledger.Request) bool { return recorded.Scheme == r.Scheme && recorded.Intent != r.Intent }
	if recorded, ok := t.intents[key]; ok && isOther(recorded) && !t.isExcused("order that no status showed, and that was lost", t.lossy && t.unseen[key.number]) {
		t.violatedf("revision %d was another intent in epoch %d", key.number, key.epoch)
	}
	t.intents[key] = r
	recordedResult, judged := t.verdicts[key]
	if judged && (s.Verdict == nil || s.Verdict.Result != recordedResult) {
		t.violatedf("revision %d was %s in epoch %d, and is not", key.number, recordedResult, key.epoch)
	}
	if s.Verdict != nil {
		t.verdicts[key] = s.Verdict.Result
	}
}

// recordEvent checks that the real events justify an event.
func (t *truth) recordEvent(s ledger.State, e ledger.Event, next ledger.State) {
	switch {
	case e.Ordered != nil:
		t.recordOrder(s, next)
	case e.Advanced != nil:
		t.provenStep(s, s.Cursor.Step, "goes on")
	case e.Judged != nil:
		t.recordVerdict(s, *e.Judged)
	case e.RolledBack != nil:
		t.checkTarget(next, e.RolledBack.Target)
	case e.Withdrawn != nil:
		t.checkTarget(next, e.Withdrawn.Target)
		t.withdraw(next, e.Withdrawn.Target)
		t.rejected[next.Current.Request.Intent] = next.Current.Number
	case e.Moved != nil:
		t.recordMove(next)
	case e.Rebased != nil:
		t.rebased[next.Current.Number] = true
	case e.Recovered != nil:
		t.recordRecovery(*e.Recovered, next)
	}
	for _, uid := range next.Requests {
		if !slices.Contains(s.Requests, uid) && e.Recovered == nil {
			t.take(uid, next)
		}
	}
}

// take notes that a RolloutRequest took effect, which happens once.
func (t *truth) take(uid string, s ledger.State) {
	if n, isTaken := t.taken[uid]; isTaken && !t.lossy {
		t.violatedf("request %s took effect on revision %d before", uid, n.number)
	}
	t.taken[uid] = numbered{s.Ledger, s.Epoch, s.LastNumber}
}

// recordOrder checks that a revision may follow the previous revision.
func (t *truth) recordOrder(s, next ledger.State) {
	r := next.Current
	if n, isRejected := t.rejected[r.Request.Intent]; isRejected && r.RequestRef == nil && !t.lossy {
		t.violatedf("revision %d delivers the intent of revision %d, which was rejected", r.Number, n)
	}
	if s.Current != nil && r.Request.Renderer < s.Current.Request.Renderer {
		t.violatedf("revision %d is of an older renderer than %d", r.Number, s.Current.Number)
	}
	for intent := range t.rejected {
		if intent != r.Request.Intent || r.RequestRef != nil {
			delete(t.rejected, intent)
		}
	}
}

// recordVerdict checks that a verified revision ran at every Site, and that there was a reason to reject.
func (t *truth) recordVerdict(s ledger.State, j ledger.Judged) {
	if j.Verdict.Result == ledger.VerdictRejected {
		t.rejected[s.Current.Request.Intent] = s.Current.Number
		if j.Verdict.Reason != ledger.RejectedRequested && !t.causes[cause{s.Current.Number, j.Verdict.Reason}] {
			t.violatedf("revision %d is rejected for %s, which no object said", s.Current.Number, j.Verdict.Reason)
		}
		return
	}
	t.verified[s.Current.Number] = true
	for i := range s.Current.Plan {
		t.provenStep(s, int32(i), "is verified")
	}
	for _, tree := range j.Trees {
		if !t.ran[run{goalOf(s.Position()), tree.Site, tree.ID}] {
			t.violatedf("revision %d is verified with tree %s, which never ran at %s", s.Current.Number, tree.ID, tree.Site)
		}
	}
}

// provenStep checks that a step of a revision ran at each of its Sites, and passed its Gate.
func (t *truth) provenStep(s ledger.State, step int32, event string) {
	if refutation := t.refuteStep(s, step); refutation != "" {
		t.violatedf("revision %d %s, and %s", s.Current.Number, event, refutation)
	}
}

// refuteStep returns why a step of a revision is not proven. It is empty for a proven step.
func (t *truth) refuteStep(s ledger.State, step int32) string {
	p := s.Position()
	for _, site := range s.Current.Plan[step].Sites {
		if !t.ran[run{goalOf(p), site, ""}] {
			return "it never ran at " + site
		}
	}
	if p.Step = step; s.Current.Plan[step].Gate && !t.passed[gatedOf(p)] {
		return fmt.Sprintf("no Gate let step %d pass", p.Step)
	}
	return ""
}

// checkTarget checks that a target was verified in the ledger, and that no user rolled back past it.
func (t *truth) checkTarget(s ledger.State, target int64) {
	key := numbered{s.Ledger, s.Epoch, target}
	if t.verdicts[key] != ledger.VerdictVerified {
		t.violatedf("revision %d is rolled back to %d, which was not verified", s.Current.Number, target)
	}
	if t.withdrawn[key] && !t.lossy {
		t.violatedf("revision %d is rolled back to %d, which a user withdrew", s.Current.Number, target)
	}
}

// withdraw notes that a user rolled back past each revision between a target and the current one.
func (t *truth) withdraw(s ledger.State, target int64) {
	for number := target + 1; number < s.Current.Number; number++ {
		t.withdrawn[numbered{s.Ledger, s.Epoch, number}] = true
	}
}

// recordRecovery checks that a complete ledger is not recovered, and takes over the recovered state.
func (t *truth) recordRecovery(r ledger.Recovered, next ledger.State) {
	if r.RequestRef != nil {
		t.recordForcedMove(r, next)
	}
	if !t.lossy && r.RequestRef == nil && !t.wasMoved(r, next.Home) {
		t.violatedf("the ledger is recovered from event %d of epoch %d, and was not lost", r.Copy.Seq, r.Copy.Epoch)
	}
	t.rememberHistory(next)
	if t.lossy {
		clear(t.rejected)
	}
	if next.IsRejected() {
		t.rejected[next.Current.Request.Intent] = next.Current.Number
	}
	if next.Current != nil {
		t.inherit(r.Copy.Epoch, next.Current.Number, next.Epoch)
	}
}

// rememberHistory notes the verdicts that the history of a ledger has.
func (t *truth) rememberHistory(s ledger.State) {
	for _, p := range s.History {
		if p.Verdict != nil {
			t.verdicts[numbered{s.Ledger, s.Epoch, p.Number}] = p.Verdict.Result
		}
	}
}

// inherit lets the history of a revision in one epoch count in another.
func (t *truth) inherit(from, revision, epoch int64) {
	for _, all := range []map[run]bool{t.ran, t.admitted} {
		for k := range all {
			if k.epoch == from && k.revision == revision {
				k.epoch = epoch
				all[k] = true
			}
		}
	}
	for k := range t.passed {
		if k.epoch == from && k.revision == revision {
			k.epoch = epoch
			t.passed[k] = true
		}
	}
	for k := range t.tried {
		if k.epoch == from && k.revision == revision {
			k.epoch = epoch
			t.tried[k] = true
		}
	}
}

// bring records that a revision brings a tree to one of its places. A revision with the trees and the intent of the previous revision counts as the same
// revision, unless a user requested it. A call that had ordered another revision under the number of a revision that it could not see does not know the trees
// of that revision.
func (t *truth) bring(s ledger.State, location, tree string, places int) {
	number := s.Current.Number
	if t.asked[number] == nil {
		t.asked[number] = map[string]string{}
	}
	t.asked[number][location] = tree
	last := slices.IndexFunc(s.History, func(p ledger.Past) bool { return p.Number == number-1 })
	if last < 0 || len(t.asked[number]) != places || t.lossy || t.wiped || s.Current.RequestRef != nil {
		return
	}
	previous := s.History[last]
	isRejected := previous.Verdict != nil && previous.Verdict.Result == ledger.VerdictRejected
	isSame := !isRejected && previous.Request.Intent == s.Current.Request.Intent && maps.Equal(t.asked[number], t.asked[number-1])
	if isSame && !t.isExcused("order that no status showed", t.unseen[number-1]) && !t.isExcused("moved back while it was on its way", t.rebased[number]) {
		t.violatedf("revision %d changes nothing", number)
	}
}

// forget drops the records of ledgers that have no copy left.
func (t *truth) forget() {
	clear(t.verdicts)
	clear(t.intents)
	clear(t.rejected)
}
