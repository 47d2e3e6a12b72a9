package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/state"
)

// maxTries bounds how often one reconcile plans again because somebody else pushed first.
const maxTries = 5

// Create is never called: a delivery exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.GitDelivery) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update makes the repository hold what is ordered, in one commit of the branch, and remembers it in the state.
func (e *external) Update(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalUpdate, error) {
	err := e.retry(ctx, d, e.deliver)
	if err != nil {
		unready(d, reasonOf(err), err.Error())
	}
	return managed.ExternalUpdate{}, err
}

// retry calls fn until it has not lost a race, or there is nothing to do any more.
func (e *external) retry(ctx context.Context, d *v1alpha1.GitDelivery, fn func(context.Context, *v1alpha1.GitDelivery) error) error {
	var err error
	for range maxTries {
		if err = fn(ctx, d); !e.lost(err) {
			return err
		}
		if err := e.see(ctx, d); err != nil {
			return err
		}
	}
	return err
}

// lost is true if the same may succeed after another look: another push was first, or the server wants the state elsewhere.
func (e *external) lost(err error) bool {
	if git.ClassOf(err) == git.ClassStateRefused {
		return e.remote.fallBack()
	}
	return git.IsConflict(err)
}

// deliver carries out the decision once.
func (e *external) deliver(ctx context.Context, d *v1alpha1.GitDelivery) error {
	if e.decision.action == actionNone {
		e.show(d) // Somebody else did it, or it may not be done any more.
		return nil
	}
	if e.decision.action == actionCommit {
		if err := e.begin(ctx, d); err != nil {
			return err
		}
	}
	c, entry, err := e.plan(e.attempt(d))
	if err != nil {
		return err
	}
	if err := e.push(ctx, c); err != nil {
		return err
	}
	e.afterPush()
	e.delivered(d, entry)
	return nil
}

// begin an attempt, and write it down before anything is pushed: its start is the date of the commit, so that a repeat after a
// crash makes the same one. An attempt that has not ended goes on, however often it is tried.
func (e *external) begin(ctx context.Context, d *v1alpha1.GitDelivery) error {
	at := &d.Status.AtProvider
	if at.Attempt != nil && e.facts.attempted(at.Attempt) && at.Attempt.EndedAt == nil {
		return nil
	}
	at.Attempt = e.newAttempt()
	if err := e.kube.Status().Update(ctx, d); err != nil {
		return errors.Wrap(err, "cannot record attempt")
	}
	e.facts.memory.Attempt = d.Status.AtProvider.Attempt.DeepCopy()
	return nil
}

// attempt that carries out the order. What only the state has to learn needs none of its own.
func (e *external) attempt(d *v1alpha1.GitDelivery) *rolloutv1alpha1.Attempt {
	a := d.Status.AtProvider.Attempt
	if a == nil || !e.facts.attempted(a) {
		return e.newAttempt()
	}
	return a
}

// newAttempt goes on where the state was written ahead, so that the commit is the one that it names.
func (e *external) newAttempt() *rolloutv1alpha1.Attempt {
	if a := e.facts.begun(); a != nil {
		return a
	}
	o := e.facts.spec.Order
	return &rolloutv1alpha1.Attempt{Revision: o.Revision, Step: o.Step, Number: o.Attempt, StartedAt: e.timestamp()}
}

// push the change. The first state of a repository goes alone: a server that hides its ref refuses it, and takes the branch all
// the same, atomic or not. What cannot be remembered must not be delivered.
func (e *external) push(ctx context.Context, c git.Change) error {
	if e.snapshot.StateTip() == "" {
		after, err := e.send(ctx, git.Change{State: c.State, Message: c.Message, Author: c.Author, When: c.When})
		if err != nil {
			return err
		}
		e.snapshot = after
	}
	_, err := e.send(ctx, c)
	return err
}

func (e *external) send(ctx context.Context, c git.Change) (*git.Snapshot, error) {
	p, err := git.Plan(e.snapshot, c)
	if err != nil {
		return nil, err
	}
	pushed, err := e.remote.client().Push(ctx, p)
	if err != nil {
		return nil, err
	}
	return pushed.Snapshot, nil
}

// plan the change, and the entry of the state that goes with it. The entry names the commit, which therefore is planned first.
func (e *external) plan(a *rolloutv1alpha1.Attempt) (git.Change, state.Entry, error) {
	c := e.change(a)
	p, err := git.Plan(e.snapshot, c)
	if err != nil {
		return git.Change{}, state.Entry{}, err
	}
	begun := a.DeepCopy()
	begun.EndedAt = nil
	did := state.Delivery{Order: e.facts.spec.Order, Attempt: begun, Trees: e.decision.trees, Commit: p.Commit(), At: e.date(a)}
	if e.decision.action == actionCommit {
		did.Base = e.facts.before()
	}
	entry := state.Record(e.facts.base(), did)
	if entry.Commit == "" {
		entry.Commit = e.facts.tip
	}
	content, err := entry.Encode()
	if err != nil {
		return git.Change{}, state.Entry{}, &git.Error{Class: git.ClassTooLarge, Detail: err.Error()}
	}
	c.State = map[string][]byte{state.Path(entry.Claim, entry.Shard): content}
	return c, entry, nil
}

func (e *external) change(a *rolloutv1alpha1.Attempt) git.Change {
	l := letter{sites: e.decision.sites}
	if e.decision.drifted {
		l.replaces = e.facts.tip
	}
	c := e.commit(l, e.date(a))
	c.Remove = e.decision.remove
	c.Put = map[string]map[string][]byte{}
	for path, files := range e.decision.put {
		c.Put[path] = files
	}
	return c
}

// date of what is written. The start of the attempt makes a repeated commit the same; what the state alone learns is no commit
// of the branch.
func (e *external) date(a *rolloutv1alpha1.Attempt) metav1.Time {
	if e.decision.action == actionCommit {
		return a.StartedAt
	}
	return e.timestamp()
}

// commit with a message, and nothing in it yet.
func (e *external) commit(l letter, when metav1.Time) git.Change {
	l.spec, l.controlPlane = e.facts.spec, e.config.spec.ControlPlane
	author := e.config.spec.Git.Author
	return git.Change{Message: l.text(), Author: git.Author{Name: author.Name, Email: author.Email}, When: when.Time}
}
