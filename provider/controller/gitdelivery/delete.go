package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// hasLeftovers is true while the repository holds something of a deleted delivery: a directory of ours, or a state that still
// speaks of it.
func (f facts) hasLeftovers() bool {
	return len(f.ownDirectories()) > 0 || f.isRemembered()
}

// ownDirectories are the directories of ours that a deletion removes. Those of others are left, whatever the object says.
func (f facts) ownDirectories() []string {
	out := []string{}
	if f.spec.ClaimRef.Namespace != f.namespace {
		return out
	}
	for _, path := range f.allDirectories() {
		if f.isRemovable(path) {
			out = append(out, path)
		}
	}
	return out
}

// isRemembered is true if the state speaks of a delivery of ours that was not deleted.
func (f facts) isRemembered() bool {
	return checkClaim(f) == nil && checkState(f) == nil && f.ledger.isRemembered()
}

// Delete removes the claim's directories in one commit, and leaves a tombstone in the state. It returns an error, with the way out of
// it, if the repository does not take that.
func (e *external) Delete(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalDelete, error) {
	err := e.underWay
	if err == nil {
		t := e.newTask(d)
		err = e.repo.Deliver(ctx, t.queuedDelivery(t.planRemoval))
	}
	if repository.IsPending(err) {
		err = repository.RetriedFailure(err) // It goes on, and the next look waits for it.
	}
	if err != nil {
		return managed.ExternalDelete{}, errors.Errorf("%w%s", err, wayOut) // Ready says Deleting whatever we say, and Synced this.
	}
	return managed.ExternalDelete{}, nil
}

// planRemoval adds to a draft the removal of what is left of a deleted delivery.
func (t *task) planRemoval(ctx context.Context, draft *git.Draft) error {
	if err := t.evaluateSnapshot(ctx, t.object, draft.Snapshot()); err != nil {
		return err
	}
	// The date of the deletion makes a repeated commit the same.
	c := t.newCommit(commitMessage{removes: true}, metav1.Unix(t.object.GetDeletionTimestamp().Unix(), 0))
	c.Remove = t.facts.ownDirectories()
	if err := t.facts.keepPlaces(draft.Snapshot(), &c); err != nil {
		return err
	}
	if t.facts.isRemembered() {
		if err := t.closeLedger(&c); err != nil {
			return err
		}
	}
	_, err := draft.Commit(c)
	return err
}

// closeLedger adds the end of a deleted delivery to a change: a closed ledger in the home, and what is left of the record elsewhere.
func (t *task) closeLedger(c *git.Change) error {
	l, claim := t.facts.ledger, t.facts.marker.Claim
	c.State = map[string][]byte{}
	c.Retain = map[string]git.Trees{state.TreesPath(claim): nil}
	if next, err := ledger.Append(l.recorded, l.now, ledger.Event{Closed: &ledger.Closed{}}); err == nil {
		if err := t.writeLedgerFile(c, recording{next: next, events: []ledger.Event{{Closed: &ledger.Closed{}}}}); err != nil {
			return err
		}
		c.State[state.RecordPath(claim)] = nil
		return nil
	}
	if l.record == nil {
		return nil
	}
	left := l.record.Tombstone()
	content, err := left.Encode()
	c.State[state.RecordPath(claim)] = content
	return err
}
