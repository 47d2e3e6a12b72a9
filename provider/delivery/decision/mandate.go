package decision

import (
	"fmt"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/state"
)

const (
	// guardRetry is the time until the claim is read again after a read that failed.
	guardRetry = 10 * time.Second

	// pausedRetry is the time until a paused claim is read again.
	pausedRetry = time.Minute
)

// recordEvents returns the recording: the events of the spec, if they are not refused, and then the events by the mandate.
func (f Facts) recordEvents() (Recording, *Decision) {
	r, refused, isOpen := f.fenceMandate()
	if !isOpen {
		return r, refused
	}
	next, events := f.Witnesses.Conclude(f.Ledger.Recorded, r.Next)
	if len(events) > 0 && !f.Ledger.isBehindKnown(next) {
		r.Taken, r.Mandated, r.Next, r.Applied = r.Next, events, next, next
	}
	return r, refused
}

// fenceMandate returns the recording that events of the mandate follow, the refusal of the events of the spec, and whether events of a mandate may follow.
func (f Facts) fenceMandate() (r Recording, refused *Decision, isOpen bool) {
	r, refused = f.fenceLedger()
	if f.Spec.Mandate == nil || r.Recovers {
		return r, refused, false
	}
	if refused != nil {
		r.Next, r.Applied = f.Ledger.Recorded, f.Ledger.Recorded
	}
	return r, refused, true
}

// FollowLedger returns the facts with the parameters derived from the ledger, if the ledger reached a state by the mandate that the spec does not contain.
func (f Facts) FollowLedger() Facts {
	if f.Spec.Mandate == nil || !f.MayChangeState() {
		return f
	}
	r, _ := f.recordEvents()
	if f.IsAhead = mandate.IsAhead(f.Spec, r.Applied); f.IsAhead {
		f.Spec = f.Witnesses.Follow(f.Spec, f.Ledger.Recorded, r.Applied)
	}
	return f
}

// EchoFollowed returns the rollback attempt of a follower's trees, or nil if the trees come from the spec.
func (f Facts) EchoFollowed() *v1alpha1.FollowStatus {
	if f.HoldsLedger() || !f.IsAhead {
		return nil
	}
	return &v1alpha1.FollowStatus{Position: *f.Spec.Position, AttemptTimeout: f.Spec.DeliveryTimeout}
}

// EchoMandate returns the kinds of events that the provider may record by the mandate on top of the recorded state, or nil.
func (f Facts) EchoMandate() *v1alpha1.MandateStatus {
	if f.Spec.Mandate == nil || f.Ledger.isBehindKnown(f.Ledger.Recorded) {
		return nil // The provider records no event on top of a superseded state.
	}
	return f.Witnesses.Echo(f.Ledger.Recorded)
}

// withoutMissingSites returns the facts with retained directories for missing Sites, if the trees are derived from the ledger, and the refusal to report
// once the directories of all other Sites have their trees.
func (f Facts) withoutMissingSites() (Facts, *Decision) {
	if !f.IsAhead {
		return f, nil
	}
	var missing *Decision
	f.Spec.Trees = slices.Clone(f.Spec.Trees)
	for i, t := range f.Spec.Trees {
		if site := f.Sites[t.Site]; t.Action != v1alpha1.ActionKeep && (site == nil || policy.CheckSite(site, f.Namespace) != nil) {
			f.Spec.Trees[i] = directories.Retain(t)
			missing = refuseSite(f, t, fmt.Sprintf("spec.forProvider.trees[%d]", i))
		}
	}
	return f, missing
}

// VersionByMandate distinguishes pushes of one spec: a refused push does not hold back a later push by the mandate.
func (f Facts) VersionByMandate() string {
	if !f.IsAhead && len(f.Recording.Mandated) == 0 {
		return ""
	}
	return fmt.Sprint(f.AppliedPosition(), f.Recording.Next.ID)
}

// MandatedSince returns the events that the repository recorded by the mandate, and that the status does not show yet.
func (f Facts) MandatedSince(published *ledger.State) []ledger.Event {
	var out []ledger.Event
	if f.Ledger.File == nil || published == nil || published.Seq == 0 || published.Ledger != f.Ledger.Recorded.Ledger {
		return nil
	}
	for _, e := range f.Ledger.File.Events {
		if e.Seq > published.Seq && e.By == state.RecorderMandate {
			out = append(out, e.Event)
		}
	}
	return out
}

// HeldForward returns the reason why the next event by the mandate is held back, or "".
func (f Facts) HeldForward() v1alpha1.MandateHold {
	if !f.MayChangeState() {
		return ""
	}
	r, _, isOpen := f.fenceMandate()
	if !isOpen {
		return ""
	}
	return f.Witnesses.Held(f.Ledger.Recorded, r.Next)
}

// NextLook returns the time at which the next event by the mandate may follow without a change: the end of a pause, or the next read of the claim. It
// is zero if that is past, or other evidence is missing.
func (f Facts) NextLook() time.Time {
	if f.Spec.Mandate == nil {
		return time.Time{}
	}
	switch f.Witnesses.Guard {
	case v1alpha1.HoldClaimUnread:
		return f.Ledger.Now.Add(guardRetry)
	case v1alpha1.HoldClaimPaused:
		return f.Ledger.Now.Add(pausedRetry)
	}
	if end := f.Witnesses.PauseEnd(f.Ledger.Recorded); end.After(f.Ledger.Now) {
		return end
	}
	return time.Time{}
}

// FollowersOf returns the deliveries to other repositories that may be evidence for a home.
func (f Facts) FollowersOf(home *v1alpha1.GitDelivery) []v1alpha1.GitDelivery {
	return slices.DeleteFunc(slices.Clone(f.Siblings), func(d v1alpha1.GitDelivery) bool {
		return d.Spec.ForProvider.Copy == nil || !mandate.IsWitness(&d, d.Spec.ForProvider.ClaimRef, home)
	})
}

// IsInState is true where the state has the record of the repository.
func (f Facts) IsInState() bool { return f.Memory != nil && !f.Rebuilt && !f.Memory.Deleted }

// DeliveredByPath returns the directories of the branch that were delivered, of the present and of later steps.
func (f Facts) DeliveredByPath() map[string]v1alpha1.DeliveredTree {
	out := map[string]v1alpha1.DeliveredTree{}
	for t := range f.Spec.EachTree() {
		if delivered, isKnown := f.deliveredTree(t.Branch, t.Path); isKnown {
			out[t.Path] = delivered.DeliveredTree
		}
	}
	return out
}
