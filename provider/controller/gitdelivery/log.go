package gitdelivery

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// What is logged of a repository, once for each thing that comes true there.
const (
	loggedDelivered = "Repository holds the revision"
	loggedVerdict   = "Repository remembers the verdict"
	loggedRollback  = "Repository holds what the rollback restores"
)

// logProgress logs what a repository holds, or remembers, unless the status says so already: an observation that finds nothing new logs nothing.
func (e *external) logProgress(d *v1alpha1.GitDelivery, entry state.Entry) {
	before, now := d.Status.AtProvider.Order, entry.Order
	if now == nil || equality.Semantic.DeepEqual(before, now) {
		return
	}
	claim := d.Spec.ForProvider.ClaimRef
	values := []any{
		"claim", claim.Namespace + "/" + claim.Name, "group", claim.APIGroup, "delivery", d.GetName(),
		"revision", now.Revision, "step", now.Step, "request", now.Request, "commit", entry.Commit,
	}
	if now.RequestRef != nil {
		values = append(values, "rolloutRequest", now.RequestRef.Name)
	}
	if now.Verdict != nil {
		values = append(values, "verdict", now.Verdict.Result, "reason", now.Verdict.Reason)
	}
	if now.Attempt > 0 && now.Target != nil {
		values = append(values, "attempt", now.Attempt, "target", *now.Target)
	}
	e.logger.Info(progressMessage(before, *now), values...)
}

// logConcealed returns a function that logs what no condition says: why a private address could not be read.
func logConcealed(l logging.Logger) func(repository.ConcealedFailure) {
	return func(f repository.ConcealedFailure) {
		l.Info("Cannot read a repository at a private address", "namespace", f.Namespace, "url", f.URL, "cause", f.Cause)
	}
}

// progressMessage says what came true since.
func progressMessage(before *rolloutv1alpha1.Order, now rolloutv1alpha1.Order) string {
	switch same := before != nil && before.Revision == now.Revision; {
	case now.Attempt > 0 && (!same || before.Attempt < now.Attempt):
		return loggedRollback
	case now.Verdict != nil:
		return loggedVerdict
	}
	return loggedDelivered
}
