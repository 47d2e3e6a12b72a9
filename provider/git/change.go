package git

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/signature"
)

// stateMessage is the message of every commit of the state: its files record
// the events.
const stateMessage = "Record what is delivered\n"

// A Change lists the edits of a snapshot. Nothing outside its paths changes.
type Change struct {
	// Put are directories and all files that they hold afterwards, by relative
	// paths. A directory without files is removed.
	Put map[string]map[string][]byte
	// Remove are directories that are not there afterwards.
	Remove []string
	// State are files of the state. Nil removes one.
	State map[string][]byte
	// Retain has the trees that the state retains, so that no server collects
	// them: by their directory, and in it by tree id. Nil files stand for a tree
	// that is already in the directory. A named directory holds no other trees
	// afterwards, and a directory without trees is removed.
	Retain map[string]objects.Trees
	// Message of the commit.
	Message string
	// Author of the commits, and their committer.
	Author objects.Author
	// When is the date of the commits. It must not be the current time: the
	// same change at the same date is the same commit, also after a crash.
	When time.Time
	// MakeBranch makes a branch that does not exist although others do.
	MakeBranch bool

	// signer of the commits. Nil leaves them unsigned.
	signer *signature.Signer
}

// Plan computes the commits that make the change to the snapshot, and opens no
// connection. The same snapshot and change give the same commits. It returns an
// *Error if the change is not valid or a directory is occupied.
func Plan(ctx context.Context, s *Snapshot, c Change) (*Proposal, error) {
	d := NewDraft(s)
	if _, err := d.Commit(ctx, c); err != nil {
		return nil, err
	}
	return d.Proposal(ctx)
}

func (c Change) validateCommit() error {
	switch {
	case strings.ContainsFunc(c.Author.Name+c.Author.Email, isRefusedInAuthor), c.Author.Name == "", c.Author.Email == "":
		return failure.Newf(failure.ClassInvalid, "author needs a name and an email without line breaks and angle brackets")
	case c.When.Unix() <= 0:
		return failure.Newf(failure.ClassInvalid, "commit needs a date")
	case strings.TrimSpace(c.Message) == "" || strings.ContainsRune(c.Message, 0):
		return failure.Newf(failure.ClassInvalid, "commit needs a message without null characters")
	}
	return nil
}

func isRefusedInAuthor(r rune) bool {
	return r == '<' || r == '>' || r < ' '
}

func (c Change) branchEdits() (*objects.Node, error) {
	root := objects.NewRoot()
	for _, path := range slices.Sorted(maps.Keys(c.Put)) {
		dir, err := objects.Directory(c.Put[path])
		if err != nil {
			return nil, err
		}
		if err := root.Place(path, dir); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Sorted(slices.Values(c.Remove)) {
		if err := root.Place(path, objects.EmptyDirectory()); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func (c Change) newStateEdits() (*objects.Node, error) {
	root := objects.NewRoot()
	for _, path := range slices.Sorted(maps.Keys(c.State)) {
		leaf := objects.File(c.State[path])
		if c.State[path] == nil {
			leaf = objects.Removed()
		}
		if err := root.Place(path, leaf); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Retain)) {
		retained, err := objects.RetainedTrees(path, c.Retain[path])
		if err != nil {
			return nil, err
		}
		if err := root.Place(path, retained); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// commitInfo returns the message, author, date and signer of a commit of the change.
func (c Change) commitInfo(message string) objects.CommitInfo {
	return objects.CommitInfo{Author: c.Author, When: c.When, Message: message, Signer: c.signer}
}
