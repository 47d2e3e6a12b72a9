package observation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/delivery/decision"
)

const (
	// guardAge is the maximum age of an answer about the claim at a push that goes forward.
	guardAge = 10 * time.Second

	// guardTimeout is the timeout of a read of the claim. A rollback waits no longer for a step forward.
	guardTimeout = 5 * time.Second
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
func (g *Gatherer) guardForward(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts) decision.Facts {
	if f.HeldForward() != v1alpha1.HoldClaimUnread {
		return f
	}
	now := f.Ledger.Now
	if g.claimGuard.readAt.IsZero() || now.Sub(g.claimGuard.readAt) > guardAge {
		g.claimGuard = guardReading{readAt: now, hold: g.readClaim(ctx, d)}
	}
	f.Witnesses.IsGuardRead, f.Witnesses.Guard = true, g.claimGuard.hold
	return f
}

// readClaim reads the claim of a home past the cache, and returns the reason why the claim holds the next step or verdict. An error holds these
// events, and no rollback.
func (g *Gatherer) readClaim(ctx context.Context, d *v1alpha1.GitDelivery) v1alpha1.MandateHold {
	ctx, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	subject, err := composite.ReadSubject(ctx, g.Live, d, v1alpha1.GroupVersion.WithKind("GitDelivery").GroupKind())
	if err != nil {
		g.Logger.Debug("Cannot read the claim before a step", "delivery", d.GetName(), "namespace", d.GetNamespace(), "error", err)
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
