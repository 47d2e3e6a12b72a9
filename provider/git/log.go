package git

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// maxNotes is how many commits of a branch are read at most. They are a few
// hundred bytes each. A server that sends their trees with them gives the last.
const (
	maxNotes      = 50_000
	maxNotesTrees = 64
)

// A Note is what a commit says.
type Note struct {
	// ID of the commit.
	ID string
	// Seconds of its date, since 1970. Zero if it has none.
	Seconds int64
	// Message of the commit.
	Message string

	commit []byte
}

// Notes returns what the last commits of the branch say whose messages contain
// some words, the newest first, as far as the server gives them. Where commits
// are signed, those of strangers since then are left out. It returns an *Error.
func (c *Client) Notes(ctx context.Context, s *Snapshot, words string) ([]Note, error) {
	if s.seen.IsZero() {
		return nil, nil
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	session, err := c.uploadSession(ctx)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	adv, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	f := fetch{session: session, capabilities: adv.Capabilities, limit: c.inflated, budget: c.budget}
	notes, err := f.notes(ctx, s.seen)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	notes = slices.DeleteFunc(notes, func(n Note) bool { return !strings.Contains(n.Message, words) })
	return credible(notes, c.signer), nil
}

func (f fetch) notes(ctx context.Context, tip plumbing.Hash) ([]Note, error) {
	depth := maxNotes
	if !f.capabilities.Supports(capability.Filter) {
		depth = maxNotesTrees
	}
	req, err := f.request(tip, depth, withoutTrees)
	if err != nil {
		return nil, err
	}
	objects, err := f.all(ctx, req)
	if err != nil {
		return nil, err
	}
	out := []Note{}
	for _, id := range lineage(objects, tip) {
		if o, ok := objects[id]; ok && o.kind == plumbing.CommitObject {
			out = append(out, noteOf(o))
		}
	}
	return out, nil
}

func noteOf(commit object) Note {
	head, message, _ := strings.Cut(string(commit.data), "\n\n")
	return Note{ID: commit.id.String(), Seconds: dateOf(head), Message: message, commit: commit.data}
}

// dateOf returns the date that the head of a commit says it was made at.
func dateOf(head string) int64 {
	lines := strings.Split(head, "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "committer ") })
	if i < 0 {
		return 0
	}
	words := strings.Fields(lines[i])
	seconds, err := strconv.ParseInt(words[max(0, len(words)-2)], 10, 64)
	if err != nil {
		return 0
	}
	return seconds
}
