package gitdelivery

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/state"
)

// actsByMandate is true for a home with a mandate that the provider carries out. It is false for a home that may not be written or is being deleted, and
// for a spec that lacks the files to move requests off a track: the function may render these files.
func (e *external) actsByMandate(d *v1alpha1.GitDelivery, f facts) bool {
	return e.mayAct(d) && f.holdsLedger() && mandate.CanMoveRequests(f.spec, f.deliveredByPath())
}

// mayAct is true for a delivery whose repository the provider may write beyond the spec.
func (e *external) mayAct(d *v1alpha1.GitDelivery) bool {
	mayWrite := slices.ContainsFunc(d.GetManagementPolicies(), func(p xpv2.ManagementAction) bool {
		return p == xpv2.ManagementActionAll || p == xpv2.ManagementActionUpdate
	})
	return e.honoursMandates && mayWrite && !meta.WasDeleted(d)
}

// copyHome returns a copy of a delivery with a deep copy of its status, if the delivery has a mandate. Later changes of the original status do not affect
// the copy.
func copyHome(d *v1alpha1.GitDelivery) *v1alpha1.GitDelivery {
	if d.Spec.ForProvider.Mandate == nil {
		return nil
	}
	out := *d
	d.Status.DeepCopyInto(&out.Status)
	return &out
}

// recordEvents returns the recording: the events of the spec, if they are not refused, and then the events by the mandate.
func (f facts) recordEvents() (recording, *decision) {
	r, refused, isOpen := f.fenceMandate()
	if !isOpen {
		return r, refused
	}
	next, events := f.witnesses.Conclude(f.ledger.recorded, r.next)
	if len(events) > 0 && !f.ledger.isBehindKnown(next) {
		r.taken, r.mandated, r.next, r.applied = r.next, events, next, next
	}
	return r, refused
}

// fenceMandate returns the recording that events of the mandate follow, the refusal of the events of the spec, and whether events of a mandate may follow.
func (f facts) fenceMandate() (r recording, refused *decision, isOpen bool) {
	r, refused = f.fenceLedger()
	if f.spec.Mandate == nil || r.recovers {
		return r, refused, false
	}
	if refused != nil {
		r.next, r.applied = f.ledger.recorded, f.ledger.recorded
	}
	return r, refused, true
}

// followLedger returns the facts with the parameters derived from the ledger, if the ledger reached a state by the mandate that the spec does not contain.
func (f facts) followLedger() facts {
	if f.spec.Mandate == nil || checkClaim(f) != nil || checkState(f) != nil {
		return f
	}
	r, _ := f.recordEvents()
	if f.isAhead = mandate.IsAhead(f.spec, r.applied); f.isAhead {
		f.spec = f.witnesses.Follow(f.spec, f.ledger.recorded, r.applied)
	}
	return f
}

// mayFollowHome is true for a follower that may continue by the mandate of the home. It is false for a spec that lacks the files to move requests off a track:
// the function may render these files.
func (e *external) mayFollowHome(d *v1alpha1.GitDelivery, f facts) bool {
	mayFollow := f.spec.Position != nil || len(f.spec.Later) > 0
	return e.mayAct(d) && !f.holdsLedger() && mayFollow && mandate.CanMoveRequests(f.spec, f.deliveredByPath())
}

// followHome returns the facts of a follower with the parameters derived from the ledger in the status of the home, if the home reached a state by its
// mandate that the follower's spec does not contain. It returns an error if the cache cannot be read.
func (e *external) followHome(ctx context.Context, d *v1alpha1.GitDelivery, f facts) (facts, error) {
	if f.holdsLedger() || len(f.siblings) == 0 || checkClaim(f) != nil || checkState(f) != nil {
		return f, nil
	}
	home := mandate.HomeOf(d, f.siblings)
	if home == nil {
		return f, nil
	}
	follower, err := e.gatherFollower(ctx, d, f, home)
	if err != nil {
		return f, err
	}
	f.spec, f.isAhead = follower.FollowHome(f.spec)
	return f, nil
}

// gatherFollower gathers the evidence by which a follower goes to the ledger of its home. In tracks the directories of all repositories and the proofs about
// their Sites decide on the trees.
func (e *external) gatherFollower(ctx context.Context, d *v1alpha1.GitDelivery, f facts, home *v1alpha1.GitDelivery) (mandate.Facts, error) {
	out := mandate.Facts{Home: home, Delivered: f.deliveredByPath()}
	if f.isInState() {
		out.Copy = f.memory.Copy
	}
	if !home.Status.AtProvider.Ledger.HasTracks() {
		return out, nil
	}
	out.Self, out.Followers, out.Tracker = d, f.followersOf(home), e.tracker
	return e.witnesses.Gather(ctx, out)
}

// echoFollowed returns the rollback attempt of a follower's trees, or nil if the trees come from the spec.
func (f facts) echoFollowed() *v1alpha1.FollowStatus {
	if f.holdsLedger() || !f.isAhead {
		return nil
	}
	return &v1alpha1.FollowStatus{Position: *f.spec.Position, AttemptTimeout: f.spec.DeliveryTimeout}
}

// echoMandate returns the kinds of events that the provider may record by the mandate on top of the recorded state, or nil.
func (f facts) echoMandate() *v1alpha1.MandateStatus {
	if f.spec.Mandate == nil || f.ledger.isBehindKnown(f.ledger.recorded) {
		return nil // The provider records no event on top of a superseded state.
	}
	return f.witnesses.Echo(f.ledger.recorded)
}

// withoutMissingSites returns the facts with retained directories for missing Sites, if the trees are derived from the ledger, and the refusal to report
// once the directories of all other Sites have their trees.
func (f facts) withoutMissingSites() (facts, *decision) {
	if !f.isAhead {
		return f, nil
	}
	var missing *decision
	f.spec.Trees = slices.Clone(f.spec.Trees)
	for i, t := range f.spec.Trees {
		if site := f.sites[t.Site]; t.Action != v1alpha1.ActionKeep && (site == nil || policy.CheckSite(site, f.namespace) != nil) {
			f.spec.Trees[i] = directories.Retain(t)
			missing = refuseSite(f, t, fmt.Sprintf("spec.forProvider.trees[%d]", i))
		}
	}
	return f, missing
}

// versionByMandate distinguishes pushes of one spec: a refused push does not hold back a later push by the mandate.
func (f facts) versionByMandate() string {
	if !f.isAhead && len(f.recording.mandated) == 0 {
		return ""
	}
	return fmt.Sprint(f.appliedPosition(), f.recording.next.ID)
}

// mandatedSince returns the events that the repository recorded by the mandate, and that the status does not show yet.
func (f facts) mandatedSince(published *ledger.State) []ledger.Event {
	var out []ledger.Event
	if f.ledger.file == nil || published == nil || published.Seq == 0 || published.Ledger != f.ledger.recorded.Ledger {
		return nil
	}
	for _, e := range f.ledger.file.Events {
		if e.Seq > published.Seq && e.By == state.RecorderMandate {
			out = append(out, e.Event)
		}
	}
	return out
}

// unobservedSites returns the Sites without an engine, and the missing Sites, and whether a delivered tree counts as live there.
func unobservedSites(names []string, sites map[string]*catalogv1alpha1.Site) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		if site := sites[name]; !site.HasEngine() {
			out[name] = site != nil && isTrue(site.Spec.Engine.UnobservedIsLive)
		}
	}
	return out
}
