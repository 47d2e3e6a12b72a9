package phase

import (
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// Problem is the reason why a spec cannot be carried out. It freezes the revision: work that was started goes on.
type Problem struct {
	// Reason is one of the reasons of conditions Valid (when Terminal) and SitesFound.
	Reason string

	// Message for people. It names the field.
	Message string

	// Terminal says that only a person can help. A problem that is not ends when something appears.
	Terminal bool

	// Retried says that the same may succeed another time, and is tried again by itself.
	Retried bool

	// Phase in which the problem was found.
	Phase v1alpha1.Phase
}

// Input is the input of a status and its conditions: values of the stages of a call, none of which is written here.
type Input struct {
	Compilation
	Decision
	evidence.Comparison

	// Claim of the deployment.
	Claim rolloutv1alpha1.ClaimReference

	// Digest of the spec.
	Digest string

	// GatesDisabled says that the spec switches the gates off.
	GatesDisabled bool

	// Policy of rollbacks, as the spec has it now.
	Policy step.Policy

	// Unobserving are the composed resources whose last change the provider has not observed for too long, by kind and name.
	Unobserving []string
}

// Compilation is the result of compiling the spec.
type Compilation struct {
	// Understood is the intent in canonical form. Empty when it cannot be understood.
	Understood string

	// Problem for which nothing new is ordered. Nil means none.
	Problem *Problem

	// Unsupported names the fields that are set and have no effect in this version.
	Unsupported []string
}

// Decision is the result of the decision, with the reason why no other decision was made.
type Decision struct {
	// Holds are why no event follows. HoldOutranked is among them if the revision is, or may be, for another request.
	Holds step.Holds

	// Update that waits.
	Update v1alpha1.UpdateStatus

	// Requests are the results of RolloutRequests.
	Requests []v1alpha1.RequestStatus

	// LedgerUnreachable is the reason why the ledger cannot be read or written. Empty means that it can.
	LedgerUnreachable string

	// IsLedgerOverdue is true if it could not be written for longer than a delivery may take.
	IsLedgerOverdue bool
}

// isTerminalReason is true for the reasons that only a user can remove.
func isTerminalReason(r xpv2.ConditionReason) bool {
	return slices.Contains([]xpv2.ConditionReason{
		deliveryv1alpha1.ReasonPolicyDenied, deliveryv1alpha1.ReasonStateRefused, deliveryv1alpha1.ReasonStateUntrusted,
		deliveryv1alpha1.ReasonNotOwner, deliveryv1alpha1.ReasonOwnedElsewhere, deliveryv1alpha1.ReasonDiverged,
		deliveryv1alpha1.ReasonTooLarge, deliveryv1alpha1.ReasonInvalid, deliveryv1alpha1.ReasonObjectConflict,
		deliveryv1alpha1.ReasonIllegal, deliveryv1alpha1.ReasonStateNewer,
	}, r)
}

// liveRevision is the revision that is known to run at all Sites: the current revision, once it is recorded as verified and as long as no
// observation contradicts that, or the target of its rollback, and before that the newest verified revision. So it is after a rejected revision that
// changed no directory. 0 means that none is known to.
func (f *Input) liveRevision() int64 {
	switch {
	case f.State.Current == nil:
		return 0
	case f.State.IsRejected() && f.State.Target != 0 && f.State.Restored && f.RunsEverywhere():
		return f.State.Target
	case f.State.IsRejected() && (f.Holds.Progress != step.HoldNothingToRestore || f.watchesTarget() && !f.RunsEverywhere()):
		return 0
	case !f.HasSucceeded():
		return f.Recorded.Stable
	case f.RunsEverywhere():
		return f.State.Current.Number
	}
	return 0
}

// watchesTarget is true when the SiteSync observes the very trees that a rollback restores. A SiteSync for other trees proves nothing about these.
func (f *Input) watchesTarget() bool {
	target := step.TargetOf(f.State)
	if target == nil || f.ObservedSync == nil {
		return false
	}
	return !slices.ContainsFunc(f.ObservedSync.Spec.ForProvider.Sites, func(s deliveryv1alpha1.SiteTree) bool {
		return !slices.ContainsFunc(target.Trees, func(t ledger.SiteTree) bool { return t.Site == s.Name && t.ID == s.Tree })
	})
}

// stepMessage says which of several steps goes on, or nothing.
func (f *Input) stepMessage() string {
	if f.State.Current == nil || len(f.State.Current.Plan) < 2 {
		return ""
	}
	return fmt.Sprintf(" This is step %d of %d.", f.State.Cursor.Step+1, len(f.State.Current.Plan))
}

// unprovenMessage says why the Sites are not proven to run the trees in their repositories.
func (f *Input) unprovenMessage() string {
	if names := f.UnprovenSites(); len(names) > 0 {
		suffix := ""
		if len(names) > maxNamed {
			names, suffix = names[:maxNamed], " and others"
		}
		return "No engine reports the running trees of these Sites, and unobservedIsLive of their Site is not true: " + strings.Join(names, ", ") + suffix + "."
	}
	if f.WatchesDesired() && evidence.IsSyncAbout(f.ObservedSync, f.State.Position()) {
		if c := f.ObservedSync.GetCondition("Ready"); c.Message != "" {
			return fmt.Sprintf("%s: %s", c.Reason, c.Message)
		}
	}
	return "The running trees of the Sites are not known yet."
}
