package gitdelivery

import (
	"context"
	"encoding/json"
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/provider/controller/composite"
)

const (
	// guardAge is the maximum age of an answer about the claim at a push that goes forward.
	guardAge = 10 * time.Second

	// guardTimeout is the timeout of a read of the claim. A rollback waits no longer for a step forward.
	guardTimeout = 5 * time.Second

	// guardRetry is the time until the claim is read again after a read that failed.
	guardRetry = 10 * time.Second

	// pausedRetry is the time until a paused claim is read again.
	pausedRetry = time.Minute
)

// A guardReading is an answer of the API server about a claim.
type guardReading struct {
	// readAt is the time of the read. Zero means that the claim was not read.
	readAt time.Time
	// hold is why the claim lets nothing go forward. Empty if it does.
	hold v1alpha1.MandateHold
}

// guardForward returns the facts with the claim as the API server has it, if an event that advances the revision lacks only this fact. A rollback
// needs no claim. An answer of the same reconcile counts for some time, so that a push reads the claim once.
func (e *external) guardForward(ctx context.Context, d *v1alpha1.GitDelivery, f facts) facts {
	if f.heldForward() != v1alpha1.HoldClaimUnread {
		return f
	}
	now := f.ledger.now
	if e.claimGuard.readAt.IsZero() || now.Sub(e.claimGuard.readAt) > guardAge {
		e.claimGuard = guardReading{readAt: now, hold: e.readClaim(ctx, d)}
	}
	f.witnesses.IsGuardRead, f.witnesses.Guard = true, e.claimGuard.hold
	return f
}

// readClaim reads the claim of a home past the cache, and returns the reason why the claim holds the next step or verdict. An error holds these
// events, and no rollback.
func (e *external) readClaim(ctx context.Context, d *v1alpha1.GitDelivery) v1alpha1.MandateHold {
	ctx, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	subject, err := composite.ReadSubject(ctx, e.live, d, v1alpha1.GroupVersion.WithKind("GitDelivery").GroupKind())
	if err != nil {
		e.logger.Debug("Cannot read the claim before a step", "delivery", d.GetName(), "namespace", d.GetNamespace(), "error", err)
		return v1alpha1.HoldClaimUnread
	}
	return holdOf(subject, d.Spec.ForProvider.Mandate.Spec)
}

// holdOf returns the reason why a claim holds the events that advance a revision by a mandate for the spec with a digest.
func holdOf(s composite.Subject, digestOfSpec string) v1alpha1.MandateHold {
	switch {
	case !s.IsLiving:
		return v1alpha1.HoldClaimDeleted
	case s.IsPaused:
		return v1alpha1.HoldClaimPaused
	case !hasDigest(s.Spec, digestOfSpec):
		return v1alpha1.HoldClaimChanged
	}
	return ""
}

// hasDigest is true for the spec of a claim with a digest. Fields of Crossplane do not count.
func hasDigest(content map[string]any, digestOfSpec string) bool {
	spec := &deploymentv1alpha1.IntentDeploymentSpec{}
	b, err := json.Marshal(content)
	if err == nil {
		err = json.Unmarshal(b, spec)
	}
	if err != nil {
		return false
	}
	got, err := digest.Spec(spec)
	return err == nil && got == digestOfSpec
}

// heldForward returns the reason why the next event by the mandate is held back, or "".
func (f facts) heldForward() v1alpha1.MandateHold {
	if checkClaim(f) != nil || checkState(f) != nil {
		return ""
	}
	r, _, isOpen := f.fenceMandate()
	if !isOpen {
		return ""
	}
	return f.witnesses.Held(f.ledger.recorded, r.next)
}

// nextLook returns the time at which the next event by the mandate may follow without a change: the end of a pause, or the next read of the claim. It
// is zero if that is past, or other evidence is missing.
func (f facts) nextLook() time.Time {
	if f.spec.Mandate == nil {
		return time.Time{}
	}
	switch f.witnesses.Guard {
	case v1alpha1.HoldClaimUnread:
		return f.ledger.now.Add(guardRetry)
	case v1alpha1.HoldClaimPaused:
		return f.ledger.now.Add(pausedRetry)
	}
	if end := f.witnesses.PauseEnd(f.ledger.recorded); end.After(f.ledger.now) {
		return end
	}
	return time.Time{}
}
