package gitdelivery

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/delivery/condition"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// showDecision shows the decision in the status.
func (e *external) showDecision(d *v1alpha1.GitDelivery) {
	e.restoreLedgerStatus(d)
	switch {
	case e.decision.Drifted && e.decision.Action == decision.ActionCommit:
		condition.SetReady(d, e.now(), v1alpha1.ReasonRestoringDrift, e.decision.Message)
	case e.decision.Reason != "":
		condition.SetReady(d, e.now(), e.decision.Reason, e.decision.Message)
	case e.decision.Action == decision.ActionNone:
		e.showDelivered(d, *e.facts.Memory)
		condition.KeepRestored(d, e.readyBefore)
	case e.decision.Action == decision.ActionCommit, e.decision.Action == decision.ActionLedger:
		condition.SetReady(d, e.now(), v1alpha1.ReasonPushing, e.decision.NamingRemoved(""))
	}
}

// showDelivered reports that the repository has the trees of its record. The status is the evidence for other objects.
func (e *external) showDelivered(d *v1alpha1.GitDelivery, r state.RecordFile) {
	observed := &d.Status.AtProvider
	observed.History = r.Shown()
	observed.Trees = r.ShownTrees()
	e.reportFormer(d, r.ShownFormer())
	observed.Remote = &v1alpha1.Remote{
		URL: e.config.Spec.Git.URL, Branch: e.config.Spec.Git.Branch, Commit: r.Commit, CommitTime: r.CommitTime.DeepCopy(),
	}
	e.endAttempt(d, r)
	condition.SetReady(d, e.now(), v1alpha1.ReasonDelivered, "")
}

// endAttempt ends the attempt. If the status has lost the attempt, it comes from the state.
func (e *external) endAttempt(d *v1alpha1.GitDelivery, r state.RecordFile) {
	observed := &d.Status.AtProvider
	if r.Attempt != nil && (observed.Attempt == nil || !condition.IsAttemptAt(*observed.Attempt, e.facts.AppliedPosition())) {
		observed.Attempt = r.Attempt.DeepCopy()
	}
	if observed.Attempt != nil && observed.Attempt.EndedAt == nil {
		now := e.statusTimestamp()
		observed.Attempt.EndedAt = &now
	}
}

// showRecorded shows a ledger that was recorded without trees, and the reason.
func (e *external) showRecorded(d *v1alpha1.GitDelivery) {
	e.showLedger(d)
	condition.SetReady(d, e.now(), e.decision.ReasonOrPushing(), e.decision.Message)
}

// showLedger shows the recorded ledger in the status: a ledger with seq 0 means that the repository has none, and nil means unknown.
func (e *external) showLedger(d *v1alpha1.GitDelivery) {
	l, observed := e.facts.Ledger, &d.Status.AtProvider
	observed.Record, observed.Mandate, observed.Follows = l.ShownRecord(), e.facts.EchoMandate(), e.facts.EchoFollowed()
	if e.facts.Recording.Recovers {
		return
	}
	hadToRecord, s := condition.AwaitsRecording(d), l.Recorded
	if l.Record != nil {
		s.LastNumber = max(s.LastNumber, l.Record.HighestNumber())
	}
	observed.Ledger, observed.Taken = s.DeepCopy(), l.Taken
	if hadToRecord && !condition.AwaitsRecording(d) {
		observed.Waiting = nil // The time before the recording counts against no revision: the timeout of its trees starts now.
	}
}

// restoreLedgerStatus shows the recorded ledger and history in the status, unless the decision hides the state.
func (e *external) restoreLedgerStatus(d *v1alpha1.GitDelivery) {
	if e.decision.HidesState {
		d.Status.AtProvider.Mandate, d.Status.AtProvider.Follows = nil, nil
		return
	}
	r := e.facts.Memory
	e.restoreTracks(d)
	if r == nil || e.facts.Rebuilt || e.facts.HoldsLedger() && r.Head != e.facts.Ledger.Recorded.Head {
		e.showLedger(d)
		return
	}
	if published := d.Status.AtProvider.Record; published == nil || published.Head != r.Head {
		e.logProgress(d, r.Commit)
		d.Status.AtProvider.History = r.Shown()
	}
	e.showLedger(d)
}

// Log messages about the progress of a repository, each logged once per change.
const (
	loggedDelivered = "Repository holds the revision"
	loggedVerdict   = "Repository has recorded the verdict"
	loggedRollback  = "Repository holds the trees of the rollback's target"
)

// logProgress logs the applied revision, verdict or rollback of a repository, unless the status has the same head already: an unchanged observation logs
// nothing.
func (e *external) logProgress(d *v1alpha1.GitDelivery, commit string) {
	previous, now := d.Status.AtProvider.Record, e.facts.Recording.Applied
	if now.Current == nil || previous != nil && previous.Head == now.Head {
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
	e.logger.Info(progressMessage(previous, now), values...)
}

// logConcealed returns a function that logs the error of reading a private address, which no condition shows.
func logConcealed(l logging.Logger) func(repository.ConcealedFailure) {
	return func(f repository.ConcealedFailure) {
		l.Info("Cannot read a repository at a private address", "namespace", f.Namespace, "url", f.URL, "cause", f.Cause)
	}
}

// progressMessage returns the message for the change since the previous record.
func progressMessage(record *v1alpha1.LedgerRecord, now ledger.State) string {
	previous, current := ledger.Position{}, now.Position()
	if record != nil {
		previous = record.Position
	}
	switch {
	case current.Attempt > 0 && (previous.Revision != current.Revision || previous.Attempt < current.Attempt):
		return loggedRollback
	case now.Verdict != nil:
		return loggedVerdict
	}
	return loggedDelivered
}

// notifyOwner notifies the owner of a directory, once, that another delivery requests it. The owner keeps the directory, and its own delivery is not
// affected: so it gets an event, and not a condition. An owner in another cluster cannot be notified.
func (e *external) notifyOwner(ctx context.Context, d *v1alpha1.GitDelivery) error {
	m := e.decision.Owner
	if m == nil || m.ClusterUID != e.clusterUID || d.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonNotOwner {
		return nil
	}
	owners, err := e.gatherer.DeliveriesOf(ctx, m.Claim)
	for i := range owners {
		message := errors.Errorf("GitDelivery %s/%s requests a directory of this claim, and is refused: %s", d.GetNamespace(), d.GetName(), e.decision.Message)
		e.recorder.Event(&owners[i], event.Warning(event.Reason(v1alpha1.ReasonNotOwner), message))
	}
	return err
}

// warnOfState warns of a state without a trusted signature, which counts as lost, and of a second state. The next delivery fixes both.
func (e *external) warnOfState(d *v1alpha1.GitDelivery) {
	e.reportRival(d)
	if e.facts.Forged == "" {
		return
	}
	err := errors.New("the state in the repository counts as lost: " + e.facts.Forged)
	e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonStateUntrusted), err))
}

// reportRival reports in a condition that two refs hold a state, and that the newer state is in use, and emits an event when the condition becomes
// false.
func (e *external) reportRival(d *v1alpha1.GitDelivery) {
	previous := d.GetCondition(v1alpha1.TypeStateUnique)
	if e.facts.Rival == "" {
		if previous.Status == corev1.ConditionFalse {
			condition.Set(d, v1alpha1.TypeStateUnique, corev1.ConditionTrue, v1alpha1.ReasonStateOnce, "")
		}
		return
	}
	message := e.facts.Rival + " of the repository holds a state too, which is older than the one in use and does not count. " +
		"The next push retires it. If the server refuses that, delete the ref"
	condition.Set(d, v1alpha1.TypeStateUnique, corev1.ConditionFalse, v1alpha1.ReasonStateTwice, message)
	if previous.Status != corev1.ConditionFalse {
		e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonStateTwice), errors.New(message)))
	}
}

// reportFormer shows the former branches in the status, and emits an event with the action for the user for each new former branch.
func (e *external) reportFormer(d *v1alpha1.GitDelivery, former []v1alpha1.FormerBranch) {
	observed := &d.Status.AtProvider
	for _, b := range former {
		if slices.ContainsFunc(observed.FormerBranches, func(o v1alpha1.FormerBranch) bool { return o.Branch == b.Branch }) {
			continue
		}
		text := fmt.Sprintf("branch %q does not get the deliveries any more, and keeps directories of the claim: %s. Remove them once no engine reads that branch, "+
			"then annotate the GitDelivery with %s=%s", b.Branch, message.List(b.Paths), v1alpha1.AnnotationForgetBranches, b.Branch)
		e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonBranchLeft), errors.New(text)))
	}
	observed.FormerBranches = former
}
