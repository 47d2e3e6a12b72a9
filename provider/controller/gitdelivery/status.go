package gitdelivery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// showDecision shows the decision in the status.
func (e *external) showDecision(d *v1alpha1.GitDelivery) {
	e.restoreLedgerStatus(d)
	switch {
	case e.decision.drifted && e.decision.action == actionCommit:
		setReady(d, e.now(), v1alpha1.ReasonRestoringDrift, e.decision.message)
	case e.decision.reason != "":
		setReady(d, e.now(), e.decision.reason, e.decision.message)
	case e.decision.action == actionNone:
		e.showDelivered(d, *e.facts.memory)
		keepRestored(d, e.readyBefore)
	case e.decision.action == actionCommit, e.decision.action == actionLedger:
		setReady(d, e.now(), v1alpha1.ReasonPushing, e.decision.namingRemoved(""))
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
	setReady(d, e.now(), v1alpha1.ReasonDelivered, "")
}

// endAttempt ends the attempt. If the status has lost the attempt, it comes from the state.
func (e *external) endAttempt(d *v1alpha1.GitDelivery, r state.RecordFile) {
	observed := &d.Status.AtProvider
	if r.Attempt != nil && (observed.Attempt == nil || !isAttemptAt(*observed.Attempt, e.facts.appliedPosition())) {
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
	setReady(d, e.now(), e.decision.reasonOrPushing(), e.decision.message)
}

// showLedger shows the recorded ledger in the status: a ledger with seq 0 means that the repository has none, and nil means unknown.
func (e *external) showLedger(d *v1alpha1.GitDelivery) {
	l, observed := e.facts.ledger, &d.Status.AtProvider
	observed.Record, observed.Mandate, observed.Follows = l.shownRecord(), e.facts.echoMandate(), e.facts.echoFollowed()
	if e.facts.recording.recovers {
		return
	}
	hadToRecord, s := awaitsRecording(d), l.recorded
	if l.record != nil {
		s.LastNumber = max(s.LastNumber, l.record.HighestNumber())
	}
	observed.Ledger, observed.Taken = s.DeepCopy(), l.taken
	if hadToRecord && !awaitsRecording(d) {
		observed.Waiting = nil // The time before the recording counts against no revision: the timeout of its trees starts now.
	}
}

// restoreLedgerStatus shows the recorded ledger and history in the status, unless the decision hides the state.
func (e *external) restoreLedgerStatus(d *v1alpha1.GitDelivery) {
	if e.decision.hidesState {
		d.Status.AtProvider.Mandate, d.Status.AtProvider.Follows = nil, nil
		return
	}
	r := e.facts.memory
	e.restoreTracks(d)
	if r == nil || e.facts.rebuilt || e.facts.holdsLedger() && r.Head != e.facts.ledger.recorded.Head {
		e.showLedger(d)
		return
	}
	if published := d.Status.AtProvider.Record; published == nil || published.Head != r.Head {
		e.logProgress(d, r.Commit)
		d.Status.AtProvider.History = r.Shown()
	}
	e.showLedger(d)
}

// askedPosition returns the position that a delivery requests, or that its ledger reached by the mandate. For a home without a position it returns the
// position of the ledger.
func askedPosition(d *v1alpha1.GitDelivery) ledger.Position {
	return cmp.Or(mandate.Position(d), ledgerStateOf(d.Status.AtProvider.Ledger).Position())
}

// awaitsRecording reports whether the requested events are not recorded yet, by the status.
func awaitsRecording(d *v1alpha1.GitDelivery) bool {
	requested := d.Spec.ForProvider.Ledger
	return requested != nil && len(requested.Events) > 0 && requested.After == ledgerStateOf(d.Status.AtProvider.Ledger).Head
}

// isApplied reports whether the requested events and position are recorded and applied, by the status, and no attempt at the position is in progress.
func isApplied(d *v1alpha1.GitDelivery) bool {
	observed := d.Status.AtProvider
	if awaitsRecording(d) || observed.Record == nil || observed.Record.Position.Compare(askedPosition(d)) < 0 {
		return false
	}
	return observed.Attempt == nil || observed.Attempt.EndedAt != nil || !isAttemptAt(*observed.Attempt, askedPosition(d))
}

// defaultTimeout is the default in the schema.
const defaultTimeout = 10 * time.Minute

// isAttemptAt is true for an attempt to bring a repository to a position.
func isAttemptAt(a rolloutv1alpha1.Attempt, p ledger.Position) bool {
	return a.Revision == p.Revision && a.Step == p.Step && a.Number == p.Attempt
}

// noteWaiting sets the time since which a delivery waits for its position. It needs no write of its own: the status is written with the reason.
func noteWaiting(d *v1alpha1.GitDelivery, now time.Time) {
	observed, p := &d.Status.AtProvider, askedPosition(d)
	if isApplied(d) {
		observed.Waiting = nil
		return
	}
	if observed.Waiting == nil || !isAttemptAt(*observed.Waiting, p) {
		observed.Waiting = &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt, StartedAt: *instant.Timestamp(now)}
	}
}

// deliveryDeadline returns the time at which a delivery times out. Zero if the delivery does not wait.
func deliveryDeadline(d *v1alpha1.GitDelivery) time.Time {
	w := d.Status.AtProvider.Waiting
	if w == nil || meta.WasDeleted(d) || !isAttemptAt(*w, askedPosition(d)) {
		return time.Time{}
	}
	return w.StartedAt.Add(deliveryTimeout(d))
}

// deliveryTimeout returns the timeout of a delivery, or of the rollback attempt in progress by its mandate. The API server has checked its form.
func deliveryTimeout(d *v1alpha1.GitDelivery) time.Duration {
	if out := mandate.AttemptTimeout(d); out > 0 {
		return out
	}
	out, err := time.ParseDuration(d.Spec.ForProvider.DeliveryTimeout)
	if err != nil {
		return defaultTimeout
	}
	return out
}

// withTimeout returns DeliveryTimedOut, with the reason in its message, for a delivery that takes too long. A refusal is a result already, a delivery that
// is behind waits for a newer spec, and the wait for a missing Site has no limit.
func withTimeout(d *v1alpha1.GitDelivery, now time.Time, reason xpv2.ConditionReason, message string) (xpv2.ConditionReason, string) {
	end := deliveryDeadline(d)
	if end.IsZero() || now.Before(end) || slices.Contains(reasonsWithoutTimeout(d), reason) {
		return reason, message
	}
	if message == "" {
		return v1alpha1.ReasonDeliveryTimedOut, string(reason)
	}
	return v1alpha1.ReasonDeliveryTimedOut, fmt.Sprintf("%s: %s", reason, message)
}

// reasonsWithoutTimeout returns the reasons that never become a timeout. The wait for another claim's objects has no limit, except for a rollback attempt:
// that has to end.
func reasonsWithoutTimeout(d *v1alpha1.GitDelivery) []xpv2.ConditionReason {
	out := []xpv2.ConditionReason{
		v1alpha1.ReasonPolicyDenied, v1alpha1.ReasonNotOwner, v1alpha1.ReasonOwnedElsewhere, v1alpha1.ReasonTooLarge,
		v1alpha1.ReasonOrderBehind, v1alpha1.ReasonIllegal, v1alpha1.ReasonStateNewer, v1alpha1.ReasonSiteMissing,
		v1alpha1.ReasonDelivered, v1alpha1.ReasonDriftRestored,
	}
	if askedPosition(d).Attempt == 0 {
		out = append(out, v1alpha1.ReasonObjectConflict)
	}
	return out
}

// untilDeadline returns the shorter of an interval and the time until the deadline of a delivery.
func untilDeadline(d *v1alpha1.GitDelivery, now time.Time, interval time.Duration) time.Duration {
	end := deliveryDeadline(d)
	if end.IsZero() || !now.Before(end) {
		return interval
	}
	return min(interval, end.Sub(now)+time.Second)
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
	previous, now := d.Status.AtProvider.Record, e.facts.recording.applied
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
	m := e.decision.owner
	if m == nil || m.ClusterUID != e.clusterUID || d.GetCondition(xpv2.TypeReady).Reason == v1alpha1.ReasonNotOwner {
		return nil
	}
	owners, err := e.deliveriesOf(ctx, m.Claim)
	for i := range owners {
		message := errors.Errorf("GitDelivery %s/%s requests a directory of this claim, and is refused: %s", d.GetNamespace(), d.GetName(), e.decision.message)
		e.recorder.Event(&owners[i], event.Warning(event.Reason(v1alpha1.ReasonNotOwner), message))
	}
	return err
}

// warnOfState warns of a state without a trusted signature, which counts as lost, and of a second state. The next delivery fixes both.
func (e *external) warnOfState(d *v1alpha1.GitDelivery) {
	e.reportRival(d)
	if e.facts.forged == "" {
		return
	}
	err := errors.New("the state in the repository counts as lost: " + e.facts.forged)
	e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonStateUntrusted), err))
}

// reportRival reports in a condition that two refs hold a state, and that the newer state is in use, and emits an event when the condition becomes
// false.
func (e *external) reportRival(d *v1alpha1.GitDelivery) {
	previous := d.GetCondition(v1alpha1.TypeStateUnique)
	if e.facts.rival == "" {
		if previous.Status == corev1.ConditionFalse {
			setCondition(d, v1alpha1.TypeStateUnique, corev1.ConditionTrue, v1alpha1.ReasonStateOnce, "")
		}
		return
	}
	message := e.facts.rival + " of the repository holds a state too, which is older than the one in use and does not count. " +
		"The next push retires it. If the server refuses that, delete the ref"
	setCondition(d, v1alpha1.TypeStateUnique, corev1.ConditionFalse, v1alpha1.ReasonStateTwice, message)
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
