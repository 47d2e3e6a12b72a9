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

	// signed is true for one that is trusted.
	signed bool
}

// A Chronicle is what the last commits of a branch say, up to a tip. It never
// changes.
type Chronicle struct {
	target string
	seen   plumbing.Hash
	words  string
	notes  []Note
}

// Notes that are credible, the newest first. Where commits are signed, those of
// strangers since then are left out.
func (c *Chronicle) Notes() []Note { return credible(c.notes) }

// Tells reports whether that is all there is to tell: what the commits of a
// snapshot say that contain some words.
func (c *Chronicle) Tells(s *Snapshot, words string) bool {
	return c.goesOn(s.target, words) && c.seen == s.seen
}

func (c *Chronicle) goesOn(target, words string) bool {
	return c != nil && c.target == target && c.words == words && !c.seen.IsZero()
}

// Notes returns what the last commits of the branch say whose messages contain
// some words, as far as the server gives them. Where that was told before, up to
// an older tip, only what came since is asked for: in a branch that others push
// to all the time, nobody could read everything before it moves again. It
// returns an *Error.
func (c *Client) Notes(ctx context.Context, s *Snapshot, words string, before *Chronicle) (*Chronicle, error) {
	if before.Tells(s, words) {
		return before, nil
	}
	next := &Chronicle{target: s.target, seen: s.seen, words: words}
	if s.seen.IsZero() {
		return next, nil
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	session, err := c.uploadSession(ctx)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.advertised(ctx, session)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	f := fetch{session: session, capabilities: adv.Capabilities, limit: c.inflated, budget: c.budget}
	if before.goesOn(s.target, words) {
		if commits, ok, err := f.commitsSince(ctx, s.seen, before.seen); err == nil && ok {
			next.notes = append(c.notes(commits, words), before.notes...)
			return next, nil
		}
	}
	commits, err := f.commits(ctx, s.seen)
	if err != nil {
		return nil, c.fail(ctx, verbRead, err)
	}
	next.notes = c.notes(commits, words)
	return next, nil
}

// commits are those up to a tip, the newest first.
func (f fetch) commits(ctx context.Context, tip plumbing.Hash) ([]object, error) {
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
	return commitsOf(objects, lineage(objects, tip)), nil
}

// commitsSince are those that came after an older tip. It is false if that is
// not in the past of the new one.
func (f fetch) commitsSince(ctx context.Context, tip, old plumbing.Hash) ([]object, bool, error) {
	objects, err := f.newer(ctx, tip, old)
	if err != nil {
		return nil, false, err
	}
	ids := lineage(objects, tip)
	return commitsOf(objects, ids), slices.Contains(ids, old), nil
}

func commitsOf(objects map[plumbing.Hash]object, ids []plumbing.Hash) []object {
	out := []object{}
	for _, id := range ids {
		if o, ok := objects[id]; ok && o.kind == plumbing.CommitObject {
			out = append(out, o)
		}
	}
	return out
}

// notes of the commits that contain some words.
func (c *Client) notes(commits []object, words string) []Note {
	out := []Note{}
	for _, commit := range commits {
		if n := noteOf(commit); strings.Contains(n.Message, words) {
			n.signed = c.trusts(commit)
			out = append(out, n)
		}
	}
	return out
}

func noteOf(commit object) Note {
	head, message, _ := strings.Cut(string(commit.data), "\n\n")
	return Note{ID: commit.id.String(), Seconds: dateOf(head), Message: message}
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
