package git

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
)

// maxStateAhead limits how far the date of the previous state may be ahead of the date of a new commit. A larger difference comes from a wrong clock.
const maxStateAhead = 24 * time.Hour

// A Draft is a snapshot with commits on top that are not pushed yet. It is
// not safe for concurrent use.
type Draft struct {
	before *Snapshot
	at     *Snapshot
	branch []objects.Object
	// commits counts the commits on the branch.
	commits int
	author  objects.Author
	when    time.Time
}

// NewDraft returns a draft without commits.
func NewDraft(s *Snapshot) *Draft {
	return &Draft{before: s, at: s}
}

// Snapshot returns the state of the remote after a push of the draft as it is now.
func (d *Draft) Snapshot() *Snapshot { return d.at }

// Commit adds a change as a commit of its own, and returns its id; nothing if
// the branch has everything. The files of the state go into one commit for the
// whole draft. It returns an *Error if the change is not valid or a directory
// is occupied, and then the draft is as it was.
func (d *Draft) Commit(ctx context.Context, c Change) (string, error) {
	if err := c.validateCommit(); err != nil {
		return "", err
	}
	trees, err := c.branchEdits()
	if err != nil {
		return "", err
	}
	if _, err := c.newStateEdits(); err != nil {
		return "", err
	}
	missing := d.at.branch.Commit.IsZero() && !d.at.empty && !c.MakeBranch
	if missing && !trees.RemovesOnly() {
		return "", failure.Newf(failure.ClassNotFound, "cannot write to the branch: it does not exist, while other branches do")
	}
	c.signer = d.before.signer
	next, created, err := d.at.branch.Apply(ctx, trees, c.commitInfo(c.Message))
	if err != nil {
		return "", err
	}
	id := newCommitID(d.at.branch, next)
	d.advanceSnapshot(next, created, c)
	return id, nil
}

func (d *Draft) advanceSnapshot(branch objects.View, created []objects.Object, c Change) {
	if len(created) == 0 && len(c.State) == 0 && len(c.Retain) == 0 {
		return
	}
	if len(created) > 0 {
		d.branch = append(d.branch, created...)
		d.commits++
	}
	d.author = c.Author
	if c.When.After(d.when) {
		d.when = c.When
	}
	snapshot := *d.at
	snapshot.branch, snapshot.empty = branch, snapshot.empty && branch.Commit.IsZero()
	snapshot.pending = map[string][]byte{}
	maps.Copy(snapshot.pending, d.at.pending)
	maps.Copy(snapshot.pending, c.State)
	snapshot.keeping = mergeRetained(d.at.keeping, c.Retain)
	d.at = &snapshot
}

// AddState adds files and trees of the state that go with the commit that was
// made last. It returns an *Error if a path is refused.
func (d *Draft) AddState(c Change) error {
	if err := c.validateCommit(); err != nil {
		return err
	}
	if _, err := c.newStateEdits(); err != nil {
		return err
	}
	d.advanceSnapshot(d.at.branch, nil, c)
	return nil
}

// Fork returns a copy that goes its own way, and whose reader has a meter of its own.
func (d *Draft) Fork() *Draft {
	fork := *d
	fork.at = d.at.Open()
	fork.branch = slices.Clip(fork.branch)
	return &fork
}

// Size returns how many bytes the new objects of the branch have.
func (d *Draft) Size() int {
	size := 0
	for _, o := range d.branch {
		size += len(o.Data)
	}
	return size
}

// Proposal returns the commits to push.
func (d *Draft) Proposal(ctx context.Context) (*Proposal, error) {
	next := *d.at
	next.pending, next.keeping, next.seen = nil, nil, next.branch.Commit
	p := &Proposal{before: d.before, after: &next, branch: d.branch, commits: d.commits, author: d.author, when: d.when}
	// Of two states the newer state counts, so no state is older than its predecessor, unless the date of the predecessor is wrong.
	date := d.when
	if last := d.before.StateTime(); last.After(date) && last.Before(date.Add(maxStateAhead)) {
		date = last
	}
	c := Change{State: d.at.pending, Retain: d.at.keeping, Author: d.author, When: date, signer: d.before.signer}
	files, err := c.newStateEdits()
	if err != nil {
		return nil, err
	}
	next.state, p.state, err = d.before.state.applyStateEdits(ctx, files, c.commitInfo(d.before.stateMessage()))
	return p, err
}

// A Proposal is a draft that is finished. It is pushed as a whole or not at
// all.
type Proposal struct {
	before  *Snapshot
	after   *Snapshot
	branch  []objects.Object
	state   []objects.Object
	commits int
	author  objects.Author
	when    time.Time
}

// Commit returns the new commit of the branch, or nothing if the branch has
// everything.
func (p *Proposal) Commit() string { return newCommitID(p.before.branch, p.after.branch) }

// StateCommit returns the new commit of the state, or nothing if the state has
// everything.
func (p *Proposal) StateCommit() string { return newCommitID(p.before.state.View, p.after.state.View) }

// After returns the state of the remote after the push of the proposal.
func (p *Proposal) After() *Snapshot { return p.after }

// Empty reports whether there is nothing to push.
func (p *Proposal) Empty() bool { return p.Commit() == "" && p.StateCommit() == "" }

// SplitState splits the proposal in two that are pushed one after the other: the
// state, which is the log, and then the branch.
func (p *Proposal) SplitState() (state, branch *Proposal) {
	intermediate := *p.before
	intermediate.state = p.after.state
	return &Proposal{before: p.before, after: &intermediate, state: p.state}, &Proposal{before: &intermediate, after: p.after, branch: p.branch, commits: p.commits}
}

// recordPushed adds the commits to the history, since the remote has them now.
func (p *Proposal) recordPushed() {
	commits := []plumbing.Hash{}
	for _, o := range p.branch {
		if o.Kind == plumbing.CommitObject {
			commits = append(commits, o.ID)
		}
	}
	if p.before.history == nil || p.before.branch.Commit.IsZero() {
		p.after.history = objects.NewHistory(commits...)
		return
	}
	p.after.history.Add(commits...)
}

func newCommitID(previous, next objects.View) string {
	if previous.Commit == next.Commit {
		return ""
	}
	return next.Commit.String()
}

// mergeRetained returns the trees that the state retains after a second change. Files of the
// first change are not in the snapshot yet.
func mergeRetained(first, second map[string]objects.Trees) map[string]objects.Trees {
	out := map[string]objects.Trees{}
	maps.Copy(out, first)
	for dir, trees := range second {
		trees = maps.Clone(trees)
		for id, files := range trees {
			if files == nil {
				trees[id] = first[dir][id]
			}
		}
		out[dir] = trees
	}
	return out
}
