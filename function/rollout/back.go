package rollout

import (
	"fmt"
	"slices"
	"time"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Policy says when and how often a rejected revision is taken back. It is read before each attempt.
type Policy struct {
	// Auto takes it back without being asked.
	Auto bool

	// MaxRetries is how many attempts there are. 0 means that nothing is taken back.
	MaxRetries int32

	// MaxPerHour is how many revisions are taken back within an hour without being asked. 0 means that there is no such limit.
	MaxPerHour int32
}

// A Stop is why a rejected revision is not taken back. None means that it is, or was.
type Stop string

// Stops.
const (
	// StopNone means that nothing speaks against it.
	StopNone Stop = ""

	// StopOff means that nobody asked, and autoRollback or maxRetries says not to.
	StopOff Stop = "RollbackOff"

	// StopUnknown means that a repository did not tell yet what it remembers.
	StopUnknown Stop = "NotRecorded"

	// StopNoTarget means that there is no revision to go back to.
	StopNoTarget Stop = "NoTarget"

	// StopSame means that every directory holds what the target brought there.
	StopSame Stop = "NothingToRestore"

	// StopIrreversible means that the Blueprint marks something that a way back cannot undo.
	StopIrreversible Stop = "Irreversible"

	// StopTooMany means that as many revisions were rejected within an hour as may be taken back.
	StopTooMany Stop = "TooManyRollbacks"

	// StopSpent means that all attempts failed.
	StopSpent Stop = "AttemptsSpent"
)

// A Retreat is all that the way back of a rejected order is decided by.
type Retreat struct {
	// Policy as it is now.
	Policy Policy

	// All deliveries that are observed. Their histories say what there is to go back to.
	All []*deliveryv1alpha1.GitDelivery

	// Parts are those of them that take part in the order.
	Parts []*deliveryv1alpha1.GitDelivery

	// Chosen is true for a Site that the deployment is still for.
	Chosen func(site string) bool

	// Proof of the order's attempt.
	Proof Proof
}

// A Target is a revision to go back to.
type Target struct {
	// Revision of the claim.
	Revision int64

	// Trees of the revision, by Site.
	Trees map[string]string

	// Commit that brought it to a branch. Of several repositories, the first one's.
	Commit string

	// Marked is a digest of what it has of what its Blueprint marks as irreversible. Empty means that nobody knows.
	Marked string
}

// TargetOf an order is the one that it names, or else the newest revision before it that was verified in every repository that took part in
// it, and that nobody took back. It is nil when there is none, or when nobody remembers its trees. One that a person named is judged again
// until the way back begins: a repository that was lost may tell later that it is none.
func TargetOf(o rolloutv1alpha1.Order, all []*deliveryv1alpha1.GitDelivery) *Target {
	if o.Target != nil && o.Attempt == 0 && !slices.Contains(Targets(all), *o.Target) {
		return nil
	}
	if o.Target != nil {
		return target(*o.Target, all)
	}
	for _, n := range Targets(all) {
		if n < o.Revision && !o.TakesBack(n) {
			return target(n, all)
		}
	}
	return nil
}

// Targets are the revisions that there is a way back to, the newest first.
func Targets(all []*deliveryv1alpha1.GitDelivery) []int64 {
	good, bad := map[int64]bool{}, map[int64]bool{}
	var out []int64
	for _, d := range all {
		for _, h := range d.Status.AtProvider.History {
			if !restorable(h) {
				bad[h.Revision] = true
				continue
			}
			if !good[h.Revision] {
				good[h.Revision] = true
				out = append(out, h.Revision)
			}
		}
	}
	out = slices.DeleteFunc(out, func(n int64) bool { return bad[n] })
	slices.Sort(out)
	slices.Reverse(out)
	return out
}

// restorable is true for a revision that was verified in a repository, was not taken back, and whose trees are known.
func restorable(h deliveryv1alpha1.HistoryEntry) bool {
	return h.Verdict != nil && h.Verdict.Result == rolloutv1alpha1.VerdictVerified && !h.Withdrawn && len(h.Trees) > 0
}

func target(n int64, all []*deliveryv1alpha1.GitDelivery) *Target {
	out := &Target{Revision: n, Trees: map[string]string{}, Marked: markedBy(n, all)}
	for _, d := range all {
		for _, h := range d.Status.AtProvider.History {
			if h.Revision != n {
				continue
			}
			if out.Commit == "" {
				out.Commit = h.Commit
			}
			for _, t := range h.Trees {
				if _, told := out.Trees[t.Site]; !told {
					out.Trees[t.Site] = t.Tree // What a Site left comes after what it got.
				}
			}
		}
	}
	if len(out.Trees) == 0 {
		return nil
	}
	return out
}

// Back is the order that follows from a rejected one: the same, its next attempt, or that it is restored. What stops it is said too.
// Attempts are counted before anything is done for them, and an attempt that was begun ends.
func Back(o rolloutv1alpha1.Order, r Retreat) (rolloutv1alpha1.Order, Stop) {
	switch {
	case Restored(o):
		return o, StopNone
	case o.Attempt == 0:
		return first(o, r)
	case r.Proof.Live:
		o.Restored = new(true)
		return o, StopNone
	case r.Proof.Failure == nil:
		return o, StopNone
	case o.Attempt >= r.Policy.MaxRetries:
		return o, StopSpent
	case !wanted(o, r.Policy):
		return o, StopOff
	}
	o.Attempt++
	return o, StopNone
}

// Restored is true for an order whose target was proven to run again.
func Restored(o rolloutv1alpha1.Order) bool { return o.Restored != nil && *o.Restored }

// wanted is true where a policy, or a person, says to go back.
func wanted(o rolloutv1alpha1.Order, p Policy) bool { return p.Auto || Ordered(o) }

// Ordered is true for a way back that a person asked for.
func Ordered(o rolloutv1alpha1.Order) bool { return o.Withdraws != nil }

// first begins the way back, if there is one.
func first(o rolloutv1alpha1.Order, r Retreat) (rolloutv1alpha1.Order, Stop) {
	if !wanted(o, r.Policy) || r.Policy.MaxRetries == 0 {
		return o, StopOff
	}
	to := TargetOf(o, r.All)
	if stop := r.untold(o, to); stop != StopNone {
		return o, stop
	}
	if stop := r.unasked(o, to); stop != StopNone && !Ordered(o) {
		return o, stop
	}
	o.Attempt, o.Target = 1, &to.Revision
	return o, StopNone
}

// untold is why it is not known where to go, or that there is nowhere to go.
func (r Retreat) untold(o rolloutv1alpha1.Order, to *Target) Stop {
	switch {
	case to != nil && r.differs(to):
		return StopNone
	case !r.recorded(o):
		return StopUnknown
	case to == nil:
		return StopNoTarget
	case Ordered(o):
		return StopNone // A person asked before this was known. The attempt changes nothing, and proves that the Sites run the target.
	}
	return StopSame
}

// recorded is true when each delivery that takes part in an order reports that its repository recorded it.
func (r Retreat) recorded(o rolloutv1alpha1.Order) bool {
	unrecorded := func(d *deliveryv1alpha1.GitDelivery) bool { return !Recorded(d, o) }
	return len(r.Parts) > 0 && !slices.ContainsFunc(r.Parts, unrecorded)
}

// differs is true when some directory is known to hold another tree than the target brought there.
func (r Retreat) differs(to *Target) bool {
	for _, d := range r.Parts {
		for _, t := range d.Spec.ForProvider.Trees {
			want, served := to.Trees[t.Site]
			is, known := Held(d, t.Path)
			if served && r.Chosen(t.Site) && known && is.Tree != want {
				return true
			}
		}
	}
	return false
}

// Held is what a delivery last said that a directory holds.
func Held(d *deliveryv1alpha1.GitDelivery, path string) (deliveryv1alpha1.DeliveredTree, bool) {
	for _, t := range d.Status.AtProvider.Trees {
		if t.Path == path {
			return t, true
		}
	}
	return deliveryv1alpha1.DeliveredTree{}, false
}

// InPlace are the targets whose trees all directories hold that deliveries report. It is empty until each of the deliveries that take part
// in the order reports that its repository recorded the order: before, a directory may be about to change.
func InPlace(o rolloutv1alpha1.Order, all, parts []*deliveryv1alpha1.GitDelivery, chosen func(site string) bool) []int64 {
	r := Retreat{All: all, Parts: parts, Chosen: chosen}
	if !r.recorded(o) {
		return nil
	}
	return slices.DeleteFunc(Targets(all), func(n int64) bool {
		to := target(n, all)
		return to == nil || !r.holds(to)
	})
}

// holds is true when all directories that the target brought trees to are known to hold them.
func (r Retreat) holds(to *Target) bool {
	for _, d := range r.Parts {
		for _, t := range d.Spec.ForProvider.Trees {
			want, served := to.Trees[t.Site]
			is, known := Held(d, t.Path)
			if served && r.Chosen(t.Site) && (!known || is.Tree != want) {
				return false
			}
		}
	}
	return true
}

// unasked is what stops a way back that nobody asked for. An abort asks for one: maxPerHour bounds what happens without a person, such as
// one bad version after the other. What cannot be undone is another matter: only RollbackTo says that a person accepts it.
func (r Retreat) unasked(o rolloutv1alpha1.Order, to *Target) Stop {
	if stop := r.irreversible(o, to); stop != StopNone || aborted(o) {
		return stop
	}
	return r.tooMany(o)
}

// aborted is true for an order that a person gave up.
func aborted(o rolloutv1alpha1.Order) bool {
	return o.Rejected() && o.Verdict.Reason == rolloutv1alpha1.RejectedRequested
}

// capWindow is how far back the rejections are counted.
const capWindow = time.Hour

// tooMany counts the rejections within an hour before this one, from the times that repositories recorded: no clock decides. Only where
// there were enough at any time has this one to be recorded first.
func (r Retreat) tooMany(o rolloutv1alpha1.Order) Stop {
	most := int(r.Policy.MaxPerHour)
	before, at := r.rejections(o)
	if most == 0 || len(before) < most {
		return StopNone
	}
	if at.IsZero() {
		return StopUnknown
	}
	n := 0
	for _, t := range before {
		if t.After(at.Add(-capWindow)) && !t.After(at) {
			n++
		}
	}
	if n >= most {
		return StopTooMany
	}
	return StopNone
}

// rejections are when revisions before an order were rejected without being asked, and when it was itself. Of several repositories, the
// first one to record it counts.
func (r Retreat) rejections(o rolloutv1alpha1.Order) (before map[int64]time.Time, at time.Time) {
	before = map[int64]time.Time{}
	for _, d := range r.All {
		for _, h := range d.Status.AtProvider.History {
			if h.EndedAt == nil || h.Verdict == nil || h.Verdict.Result != rolloutv1alpha1.VerdictRejected || h.Verdict.Reason == rolloutv1alpha1.RejectedRequested && h.Revision != o.Revision {
				continue
			}
			if was, ok := before[h.Revision]; !ok || h.EndedAt.Time.Before(was) {
				before[h.Revision] = h.EndedAt.Time
			}
		}
	}
	at = before[o.Revision]
	for n := range before {
		if n >= o.Revision {
			delete(before, n)
		}
	}
	return before, at
}

// Explained says of a stop what it means for an order, and for what it would go back to. Nil means that there is nothing known.
func Explained(o rolloutv1alpha1.Order, to *Target, s Stop) string {
	switch s {
	case StopNone:
		return ""
	case StopOff:
		return "It is not taken back: rollbackConfig says so."
	case StopUnknown:
		return "Not every repository remembers that yet."
	case StopNoTarget:
		return "There is nothing to go back to: no earlier revision was verified everywhere, or its trees are not remembered."
	case StopSame:
		return "There is nothing to take back: every directory holds what the last good revision brought."
	case StopIrreversible:
		return "It is not taken back without being asked: " + whyIrreversible(o, to) + " A RolloutRequest with action RollbackTo takes it back."
	case StopTooMany:
		return "It is not taken back: as many revisions were rejected within the hour before as rollbackConfig.maxPerHour lets be taken back."
	case StopSpent:
		return fmt.Sprintf("All %d attempts to go back failed.", o.Attempt)
	}
	return ""
}
