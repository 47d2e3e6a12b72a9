package gitdelivery

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/repository"
)

// What is logged of a repository, once for each thing that comes true there.
const (
	loggedDelivered = "Repository holds the revision"
	loggedVerdict   = "Repository remembers the verdict"
	loggedRollback  = "Repository holds what the rollback restores"
)

// logProgress logs what a repository holds, or remembers, unless the status says so already: an observation that finds nothing new logs nothing.
func (e *external) logProgress(d *v1alpha1.GitDelivery, commit string) {
	before, now := d.Status.AtProvider.Record, e.facts.ledger.applied
	if now.Current == nil || before != nil && before.Head == now.Head {
		return
	}
	claim, p := d.Spec.ForProvider.ClaimRef, now.Position()
	values := []any{
		"claim", claim.Namespace + "/" + claim.Name, "group", claim.APIGroup, "delivery", d.GetName(),
		"revision", p.Revision, "step", p.Step, "request", now.Current.Request.Digest(), "commit", commit,
	}
	if r := now.Current.RequestRef; r != nil {
		values = append(values, "rolloutRequest", r.Name)
	}
	if now.Verdict != nil {
		values = append(values, "verdict", now.Verdict.Result, "reason", now.Verdict.Reason)
	}
	if p.Attempt > 0 && now.Target != 0 {
		values = append(values, "attempt", p.Attempt, "target", now.Target)
	}
	e.logger.Info(progressMessage(before, now), values...)
}

// logConcealed returns a function that logs what no condition says: why a private address could not be read.
func logConcealed(l logging.Logger) func(repository.ConcealedFailure) {
	return func(f repository.ConcealedFailure) {
		l.Info("Cannot read a repository at a private address", "namespace", f.Namespace, "url", f.URL, "cause", f.Cause)
	}
}

// progressMessage says what came true since.
func progressMessage(before *v1alpha1.LedgerRecord, now ledger.State) string {
	was, is := ledger.Position{}, now.Position()
	if before != nil {
		was = before.Position
	}
	switch {
	case is.Attempt > 0 && (was.Revision != is.Revision || was.Attempt < is.Attempt):
		return loggedRollback
	case now.Verdict != nil:
		return loggedVerdict
	}
	return loggedDelivered
}
