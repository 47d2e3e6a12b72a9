package gitdelivery

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/delivery/condition"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/delivery/placeholder"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// maxTries limits the deliveries of one reconcile to the queue of the repository: the decision may have changed when the queue starts a delivery.
const maxTries = 5

// Create is never called: a delivery exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.GitDelivery) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update writes the desired trees to the repository in one commit of the branch, and records them in the state.
func (e *external) Update(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalUpdate, error) {
	if e.underWay != nil {
		return managed.ExternalUpdate{}, repository.RetriedFailure(e.underWay)
	}
	err := e.pushDecision(ctx, d)
	failed := repository.RetriedFailure(err)
	switch {
	case err == nil:
		return managed.ExternalUpdate{}, nil
	case failed != nil:
		err = failed // Until it is known how the retry ended, nothing has changed.
	case repository.IsPending(err) && e.decision.Drifted:
		condition.SetReady(d, e.now(), v1alpha1.ReasonRestoringDrift, e.decision.Message)
		return managed.ExternalUpdate{}, nil
	case repository.IsPending(err):
		condition.SetReady(d, e.now(), v1alpha1.ReasonPushing, e.decision.NamingRemoved(""))
		return managed.ExternalUpdate{}, nil
	}
	condition.SetReady(d, e.now(), condition.ReasonOf(err), e.decision.NamingRemoved(remote.MessageOf(err)))
	if len(e.facts.Recording.Mandated) > 0 && e.gatherer.AsRead != nil && mandate.IsDue(e.gatherer.AsRead, e.now()) {
		d.SetConditions(e.readyBefore) // The evidence for the mandate stays valid until its event is recorded. Synced has the error of the recording.
	}
	condition.KeepWording(d, e.readyBefore)
	return managed.ExternalUpdate{}, err
}

// pushDecision applies the decision. If the decision has changed when the queue starts the delivery, an attempt may have to begin first.
func (e *external) pushDecision(ctx context.Context, d *v1alpha1.GitDelivery) error {
	var err error
	for range maxTries {
		if e.decision.Action == decision.ActionCommit {
			if err := e.beginAttempt(ctx, d); err != nil {
				return err
			}
		}
		t := e.newDeliveryTask(d)
		if err = e.repo.Deliver(ctx, t.queuedDelivery(t.planPush)); err != nil && !errors.As(err, new(*unbegunError)) {
			e.recordLedgerAlone(ctx, d, err)
			return err
		}
		e.facts, e.decision = t.facts, t.decision
		if err != nil {
			continue
		}
		e.reportMandated(d, e.facts.Recording.Next, e.facts.Recording.Mandated)
		if e.decision.Action == decision.ActionLedger {
			e.facts = e.facts.AfterRecording()
			e.showRecorded(d)
			return nil
		}
		if e.decision.Action == decision.ActionNone {
			e.showDecision(d) // Another delivery did it, or it may not be done any more.
			return nil
		}
		e.facts = e.facts.AfterRecording()
		e.facts.Ledger.Record = &t.record
		e.logProgress(d, t.record.Commit)
		e.showLedger(d)
		e.showDelivered(d, t.record)
		if t.replaces != "" {
			e.reportRestored(d, t)
		}
		if missing := e.decision.Missing; missing != nil {
			condition.SetReady(d, e.now(), missing.Reason, missing.Message)
		}
		return nil
	}
	return err
}

// reportRestored names, in the condition and as an event, the commit that restored directories, and their Sites.
func (e *external) reportRestored(d *v1alpha1.GitDelivery, t *task) {
	text := fmt.Sprintf("commit %s restored the directories of %s, which other commits up to %s had changed",
		t.record.Commit, message.List(t.decision.Sites), t.replaces)
	condition.SetReady(d, e.now(), v1alpha1.ReasonDriftRestored, text)
	e.recorder.Event(d, event.Warning(event.Reason(v1alpha1.ReasonDriftRestored), errors.New(text)))
}

// recordLedgerAlone records events in the ledger without the trees for which the server refused their push: a revision that no repository accepts has a
// number, and so it can be rejected. An error is ignored: the next reconcile retries.
func (e *external) recordLedgerAlone(ctx context.Context, d *v1alpha1.GitDelivery, refused error) {
	if !isRefusedTree(refused) || e.facts.Recording.IsEmpty() {
		return
	}
	t := e.newDeliveryTask(d)
	t.stateOnly = true
	if err := e.repo.Deliver(ctx, t.queuedDelivery(t.planPush)); err != nil || t.decision.HidesState {
		return
	}
	e.reportMandated(d, t.facts.Recording.Next, t.facts.Recording.Mandated)
	recorded := t.facts.AfterRecording()
	e.facts.Ledger, e.facts.Recording = recorded.Ledger, recorded.Recording
	e.showLedger(d)
}

// isRefusedTree reports whether a server refused a push because of its content.
func isRefusedTree(err error) bool {
	c := failure.ClassOf(err)
	return c == failure.ClassPolicy || c == failure.ClassTooLarge
}

// newDeliveryAge is how long after its creation a delivery counts as new.
const newDeliveryAge = time.Minute

// beginAttempt begins an attempt, and writes it to the status before the push: its start is the date of the commit, so that a repeat after a crash makes
// an identical commit. An attempt that has not ended continues, however often it is tried. The first attempt of a delivery that was just created begins at
// the creation time, which a repeat also reads: the status gets its start together with its end.
func (e *external) beginAttempt(ctx context.Context, d *v1alpha1.GitDelivery) error {
	observed := &d.Status.AtProvider
	if e.facts.IsAttempting() {
		return nil
	}
	observed.Attempt = e.newAttempt()
	if e.isFirstAttempt(d) {
		observed.Attempt.StartedAt = d.GetCreationTimestamp()
		e.facts.LastStatus.Attempt = observed.Attempt.DeepCopy()
		return nil
	}
	if err := e.kube.Status().Update(ctx, d); err != nil {
		return errors.Wrap(err, "cannot record attempt")
	}
	e.facts.LastStatus.Attempt = d.Status.AtProvider.Attempt.DeepCopy()
	return nil
}

// isFirstAttempt reports whether a delivery that was just created has no attempt yet, and no record in its repository. A provider that crashes again and
// again, for longer than newDeliveryAge, writes the attempt to the status, and with it the start of the wait.
func (e *external) isFirstAttempt(d *v1alpha1.GitDelivery) bool {
	age := e.now().Sub(d.GetCreationTimestamp().Time)
	return d.GetGeneration() == 1 && e.facts.LastStatus.Attempt == nil && e.facts.Memory == nil && age >= 0 && age < newDeliveryAge
}

// currentAttempt returns the attempt at the position. A write to the state alone needs no attempt of its own.
func (e *external) currentAttempt(d *v1alpha1.GitDelivery) *rolloutv1alpha1.Attempt {
	a := d.Status.AtProvider.Attempt
	if a == nil || !condition.IsAttemptAt(*a, e.facts.AppliedPosition()) {
		return e.newAttempt()
	}
	return a
}

// newAttempt continues the attempt of a state that was written ahead of the branch, so that the commit has the ID that the state names.
func (e *external) newAttempt() *rolloutv1alpha1.Attempt {
	if a := e.facts.AttemptOfState(); a != nil {
		return a
	}
	p := e.facts.AppliedPosition()
	return &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt, StartedAt: e.statusTimestamp()}
}

func (e *external) newChange(a *rolloutv1alpha1.Attempt, replaces string) git.Change {
	m := message.Delivery{Sites: e.decision.Sites, Trees: e.decision.PutTrees(), Replaces: replaces}
	c := e.newCommit(m, e.commitDate(a))
	c.Remove = e.decision.Remove
	c.MakeBranch = e.facts.ShouldReapply()
	c.Put = map[string]map[string][]byte{}
	for path, files := range e.decision.Put {
		c.Put[path] = files
	}
	return c
}

// commitDate returns the date of a commit. The start of the attempt makes a repeated commit identical; a write to the state alone makes no commit of the
// branch.
func (e *external) commitDate(a *rolloutv1alpha1.Attempt) metav1.Time {
	if e.decision.Action == decision.ActionCommit {
		return a.StartedAt
	}
	return e.statusTimestamp()
}

// newCommit returns a commit with a message and without changes.
func (e *external) newCommit(m message.Delivery, timestamp metav1.Time) git.Change {
	m.Claim, m.Applied, m.ControlPlane, m.ClusterUID = e.facts.Spec.ClaimRef, e.facts.DescribedState(), e.config.Spec.ControlPlane, e.clusterUID
	author := e.config.Spec.Git.Author
	return git.Change{Message: m.Text(), Author: git.Author{Name: author.Name, Email: author.Email}, When: timestamp.Time}
}

// Delete removes the claim's directories in one commit, and leaves a tombstone in the state. It returns an error, with an action for the user, if the push
// fails.
func (e *external) Delete(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalDelete, error) {
	err := e.underWay
	if err == nil {
		t := e.newDeliveryTask(d)
		err = e.repo.Deliver(ctx, t.queuedDelivery(t.planRemoval))
	}
	if repository.IsPending(err) {
		err = repository.RetriedFailure(err) // The push continues, and the next observation waits for it.
	}
	if err != nil {
		return managed.ExternalDelete{}, errors.Errorf("%w%s", err, wayOut) // Ready has reason Deleting in each case, so the error goes to Synced.
	}
	return managed.ExternalDelete{}, nil
}

// planRemoval adds the removal of a deleted delivery's directories, ledger and record to a draft.
func (t *task) planRemoval(ctx context.Context, draft *git.Draft) error {
	if err := t.evaluateSnapshot(ctx, t.object, draft.Snapshot()); err != nil {
		return err
	}
	// The date of the deletion makes a repeated commit the same.
	c := t.newCommit(message.Delivery{Removes: true}, metav1.Unix(t.object.GetDeletionTimestamp().Unix(), 0))
	c.Remove = t.facts.OwnDirectories()
	if err := placeholder.Keep(ctx, draft.Snapshot(), &c, t.facts.EngineReads); err != nil {
		return err
	}
	if t.facts.IsRemembered() {
		if err := t.closeLedger(&c); err != nil {
			return err
		}
	}
	_, err := draft.Commit(ctx, c)
	return err
}

// closeLedger adds the end of a deleted delivery to a change: a closed ledger in the home, and the tombstone of the record in each other repository.
func (t *task) closeLedger(c *git.Change) error {
	l, claim := t.facts.Ledger, t.facts.Marker.Claim
	c.State = map[string][]byte{}
	c.Retain = map[string]git.Trees{state.TreesPath(claim): nil}
	if next, err := ledger.Append(l.Recorded, l.Now, ledger.Event{Closed: &ledger.Closed{}}); err == nil {
		if err := t.writeLedgerFile(c, decision.Recording{Next: next, Events: []ledger.Event{{Closed: &ledger.Closed{}}}}); err != nil {
			return err
		}
		c.State[state.RecordPath(claim)] = nil
		return nil
	}
	if l.Record == nil {
		return nil
	}
	left := l.Record.Tombstone()
	content, err := left.Encode()
	c.State[state.RecordPath(claim)] = content
	return err
}
