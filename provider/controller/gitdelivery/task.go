package gitdelivery

import (
	"context"
	"fmt"
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// A task is what a reconcile leaves to the queue of the repository. It shares nothing with the reconcile, which may be gone when its
// turn comes.
type task struct {
	external

	object *v1alpha1.GitDelivery
	// replaces is the tip at which somebody else's change was seen. Empty where there was none.
	replaces string
	// alone is true for a verdict that is recorded without removing anything.
	alone bool
	// entry of the state, once it is planned.
	entry state.Entry
	// record of the repository, once it is planned. Only of a delivery with a ledger.
	record state.RecordFile
}

func (e *external) task(d *v1alpha1.GitDelivery) *task {
	t := &task{external: *e, object: d.DeepCopy()}
	t.found, t.open = maps.Clone(e.found), nil
	if e.decision.drifted {
		t.replaces = e.facts.tip
	}
	return t
}

func (t *task) delivery(plan func(context.Context, *git.Draft) error) repository.Delivery {
	size := 0
	for _, tree := range t.object.Spec.ForProvider.Trees {
		size += len(tree.Files)
	}
	return repository.Delivery{
		Size:    size,
		Object:  client.ObjectKeyFromObject(t.object),
		Version: fmt.Sprint(t.object.GetUID(), t.object.GetGeneration(), t.config.generation, t.alone),
		Plan:    plan,
	}
}

// An unbegunError is a commit without an attempt, whose start would be its date.
type unbegunError struct{}

// Error says what is missing.
func (*unbegunError) Error() string { return "cannot commit: no attempt was begun" }

func isUnbegun(err error) bool {
	var u *unbegunError
	return errors.As(err, &u)
}

// plan adds the delivery to a draft, as it follows from what the draft holds.
func (t *task) plan(ctx context.Context, draft *git.Draft) error {
	if err := t.weigh(ctx, t.object, draft.Snapshot()); err != nil {
		return err
	}
	if t.alone && t.facts.ledger != nil {
		t.decision = t.decision.ledgerOnly(t.facts)
	}
	if t.alone && t.facts.ledger == nil {
		t.decision = t.decision.untidied(t.facts)
	}
	if t.decision.action == actionLedger {
		return t.recordLedger(draft)
	}
	if t.decision.action == actionNone {
		return nil
	}
	if t.decision.action == actionCommit && !t.facts.attempting() {
		return &unbegunError{}
	}
	a := t.attempt(t.object)
	c := t.change(a, t.replaces)
	if err := t.facts.keepPlaces(draft.Snapshot(), &c); err != nil {
		return err
	}
	commit, err := draft.Commit(c)
	if err != nil {
		return err
	}
	return t.remember(ctx, draft, c, commit, a)
}

// remember the delivery in the state, whose entry names the commit.
func (t *task) remember(ctx context.Context, draft *git.Draft, c git.Change, commit string, a *rolloutv1alpha1.Attempt) error {
	begun := a.DeepCopy()
	begun.EndedAt = nil
	did := state.Delivery{Order: t.facts.spec.Order, Attempt: begun, Trees: t.decision.trees, Left: t.decision.left, Commit: commit, At: t.date(a)}
	did.Former = t.decision.former
	if t.decision.action == actionCommit {
		did.Base = t.facts.before()
	}
	if commit == "" && t.facts.reapplies() {
		did.Commit = t.facts.tip // The history that somebody made is the one that counts from now on.
	}
	base := t.facts.base()
	if t.facts.ledger != nil {
		base.History = state.NoteVerdicts(base.History, t.facts.ledger.applied)
	}
	t.entry = state.Record(base, did)
	if t.entry.Commit == "" {
		t.entry.Commit = t.facts.tip
	}
	if err := t.write(&c); err != nil {
		return err
	}
	var err error
	if c.Retain, err = t.keep(ctx, draft.Snapshot()); err != nil {
		return err
	}
	return draft.AddState(c)
}

// write the entry, and those of other claims that were lost with it.
func (t *task) write(c *git.Change) error {
	if t.facts.ledger != nil {
		return t.writeLedger(c)
	}
	content, err := t.entry.Encode()
	if err != nil {
		return t.tooLarge(err)
	}
	c.State = map[string][]byte{}
	for path, other := range t.facts.others {
		if c.State[path], err = other.Encode(); err != nil {
			return err
		}
	}
	c.State[state.Path(t.entry.Claim)] = content
	c.State[state.OwnerPath], err = state.EncodeOwner(t.clusterUID)
	return err
}

// tooLarge says what a person can do about an entry that could not be read back, and which is therefore not written, nor what it is about.
func (t *task) tooLarge(err error) error {
	said := err.Error()
	if n := len(t.decision.left); n > 0 {
		said += fmt.Sprintf(". %d directories are left of earlier orders, and go once one is verified: give Sites that moved their spec.repository.path back, "+
			"or choose fewer", n)
	}
	return &failure.Error{Class: failure.ClassTooLarge, Detail: said}
}
