package git

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// retiredPath is the only file of a state that was retired, because another
// ref holds the state that counts.
const retiredPath = "retired.json"

// retiredState is the content of that file.
type retiredState struct {
	// StateRef is the full name of the ref whose state counts.
	StateRef string `json:"stateRef"`
}

// WatchRefs lets snapshots of the client say where these refs are, by their full
// names. It has to be called before the client is used.
func (c *Client) WatchRefs(names ...string) { c.watched = names }

// WatchedRef returns the commit of a ref that the client was to note, or nothing
// if the remote has no such ref.
func (s *Snapshot) WatchedRef(name string) string { return hexUnlessZero(s.watched[name]) }

// StateTime returns the date of the last commit of the state. It is zero
// without a state, or if the commit is unreadable.
func (s *Snapshot) StateTime() time.Time {
	commit, ok := s.state.Object(s.state.Commit)
	if !ok || commit.Kind != plumbing.CommitObject {
		return time.Time{}
	}
	head, _, _ := bytes.Cut(commit.Data, []byte("\n\n"))
	seconds := commitSeconds(string(head))
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// StateRetired reports whether the state is retired: it names another ref,
// whose state counts.
func (s *Snapshot) StateRetired() bool { return s.state.retired }

// StateRival returns the ref of another state, which does not count because it
// is older, or nothing without such a state.
func (s *Snapshot) StateRival() string { return s.rival }

// WithStateRival returns the snapshot with the ref of another state, which does
// not count. An empty ref means that no other state exists.
func (s *Snapshot) WithStateRival(ref string) *Snapshot {
	next := *s
	next.rival = ref
	return &next
}

// setAsideRetired returns the state without anything in it, if it was retired.
func (v stateView) setAsideRetired(ctx context.Context) (stateView, error) {
	if v.Commit.IsZero() || v.Tree.IsZero() {
		return v, nil
	}
	_, retired, err := v.Find(ctx, retiredPath)
	if concernsReader(err) {
		return v, err
	}
	if v.retired = retired; retired {
		v.Tree = plumbing.ZeroHash
	}
	return v, nil
}

// Retire returns the proposal that retires the state of a snapshot: a commit on
// top of it with nothing but the name of the ref whose state counts. Author and
// date come from another proposal. It returns an *Error if the commit cannot be
// signed.
func (s *Snapshot) Retire(ctx context.Context, stateRef string, like *Proposal) (*Proposal, error) {
	content, err := json.Marshal(retiredState{StateRef: stateRef})
	if err != nil {
		return nil, failure.Newf(failure.ClassInvalid, "cannot encode the name of a ref: %s", err)
	}
	c := Change{State: map[string][]byte{retiredPath: append(content, '\n')}, Author: like.author, When: like.when, signer: s.signer}
	files, err := c.newStateEdits()
	if err != nil {
		return nil, err
	}
	p, next := &Proposal{before: s, author: like.author, when: like.when}, *s
	emptied := s.state
	emptied.Tree = plumbing.ZeroHash
	next.state, p.state, err = emptied.applyStateEdits(ctx, files, c.commitInfo(s.stateMessage()))
	p.after = &next
	return p, err
}

// selectWatched returns where the refs are that the client was to note.
func (c *Client) selectWatched(refs map[string]plumbing.Hash) map[string]plumbing.Hash {
	out := map[string]plumbing.Hash{}
	for _, name := range c.watched {
		if hash, ok := refs[name]; ok {
			out[name] = hash
		}
	}
	return out
}
