package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/repository"
)

// What is logged of a repository, once for each thing that comes true there.
const (
	loggedDelivered = "Repository holds the revision"
	loggedVerdict   = "Repository has recorded the verdict"
	loggedRollback  = "Repository holds what the rollback restores"
)

// logProgress logs what a repository holds, or remembers, unless the status says so already: an observation that finds nothing new logs nothing.
func (e *external) logProgress(d *v1alpha1.GitDelivery, commit string) {
	before, now := d.Status.AtProvider.Record, e.facts.recording.applied
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

// notifyOwner notifies the owner of a directory, once, that another delivery wants it. The owner keeps the directory, and what it delivers is not
// affected: so it gets an event, and not a condition. An owner in another cluster cannot be notified.
func (e *external) notifyOwner(ctx context.Context, d *v1alpha1.GitDelivery) error {
	m := e.decision.owner
	if m == nil || m.ClusterUID != e.clusterUID || d.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonNotOwner {
		return nil
	}
	owners, err := e.deliveriesOf(ctx, m.Claim)
	for i := range owners {
		message := errors.Errorf("GitDelivery %s/%s wants a directory of this claim, and is refused: %s", d.GetNamespace(), d.GetName(), e.decision.message)
		e.recorder.Event(&owners[i], event.Warning(event.Reason(v1alpha1.ReasonNotOwner), message))
	}
	return err
}

// warnOfState warns of a state that is not signed by a trusted key, which counts as lost, and of two states. What is delivered next makes both right.
func (e *external) warnOfState(d *v1alpha1.GitDelivery) {
	e.reportRival(d)
	if e.facts.forged == "" {
		return
	}
	err := errors.New("the state in the repository counts as lost: " + e.facts.forged)
	e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonStateUntrusted), err))
}

// reportRival says in a condition that two refs hold a state, of which the newer one counts, and as an event when that begins.
func (e *external) reportRival(d *v1alpha1.GitDelivery) {
	before := d.GetCondition(v1alpha1.TypeStateUnique)
	if e.facts.rival == "" {
		if before.Status == corev1.ConditionFalse {
			setCondition(d, v1alpha1.TypeStateUnique, corev1.ConditionTrue, v1alpha1.ReasonStateOnce, "")
		}
		return
	}
	message := e.facts.rival + " of the repository holds a state too, which is older than the one in use and does not count. " +
		"The next push retires it. If the server refuses that, delete the ref"
	setCondition(d, v1alpha1.TypeStateUnique, corev1.ConditionFalse, v1alpha1.ReasonStateTwice, message)
	if before.Status != corev1.ConditionFalse {
		e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonStateTwice), errors.New(message)))
	}
}
