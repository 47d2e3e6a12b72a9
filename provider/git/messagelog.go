package git

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/memory"
)

const (
	// maxNotes is how many commits of a branch are read at most. Ours have messages of a few hundred bytes.
	maxNotes = 50_000

	// maxLogBytes is the limit of the messages in one log: other writers choose the length of theirs. A cache of a namespace has room for a snapshot beside a
	// log. noteOverhead is the memory of a message beside its text.
	maxLogBytes  = 16 << 20
	noteOverhead = 150
)

// A Message is the message of a commit.
type Message struct {
	// ID of the commit.
	ID string
	// Seconds of its date, since 1970. Zero without a date.
	Seconds int64
	// Message of the commit.
	Message string

	// signed is true for a commit with a trusted signature.
	signed bool
}

// A MessageLog has the messages of the last commits of a branch, up to a tip.
// It never changes.
type MessageLog struct {
	target string
	seen   plumbing.Hash
	words  string
	notes  []Message
}

// Size returns the approximate memory of the log in bytes.
func (c *MessageLog) Size() int {
	if c == nil {
		return 0
	}
	size := 0
	for i := range c.notes {
		size += c.notes[i].messageSize()
	}
	return size
}

// messageSize returns the approximate memory of a message in bytes.
func (m *Message) messageSize() int { return len(m.Message) + noteOverhead }

// withNewestNotes returns the log with the newest messages that fit, at the cost of a namespace.
func (c *MessageLog) withNewestNotes(payer string, notes []Message) *MessageLog {
	left := maxLogBytes
	for i := range notes {
		if left -= notes[i].messageSize(); left < 0 || i == maxNotes {
			notes = slices.Clone(notes[:i]) // The rest is garbage.
			break
		}
	}
	c.notes = notes
	memory.HoldWhile(c, payer, int64(c.Size()))
	return c
}

// Messages returns the trusted messages, the newest first. Once a commit is
// signed, later commits without a trusted signature are left out.
func (c *MessageLog) Messages() []Message { return selectTrusted(c.notes) }

// Covers reports whether the log is complete for a snapshot: whether it has all
// commits up to the snapshot's tip whose messages contain some words.
func (c *MessageLog) Covers(s *Snapshot, words string) bool {
	return c.continuesFrom(s.target, words) && c.seen == s.seen
}

func (c *MessageLog) continuesFrom(target, words string) bool {
	return c != nil && c.target == target && c.words == words && !c.seen.IsZero()
}

// ReadMessages returns the messages of the last commits of the branch that contain
// some words, as far as the server gives them. Where an earlier log ends at an older
// tip, only the commits since then are asked for: a branch that others push to all
// the time moves again before everything can be read. It returns an *Error.
func (c *Client) ReadMessages(ctx context.Context, s *Snapshot, words string, previous *MessageLog) (*MessageLog, error) {
	if previous.Covers(s, words) {
		return previous, nil
	}
	next := &MessageLog{target: s.target, seen: s.seen, words: words}
	if s.seen.IsZero() {
		return next, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	f, err := c.openFetchSession(ctx, s.branch.Meter())
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	defer f.Close()
	if previous.continuesFrom(s.target, words) {
		if commits, ok, err := f.FetchCommitsSince(ctx, s.seen, previous.seen); err == nil && ok {
			return next.withNewestNotes(c.budget.Namespace(), append(c.selectMessages(commits, words), previous.notes...)), nil
		}
	}
	commits, err := f.FetchCommits(ctx, s.seen, maxNotes)
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	return next.withNewestNotes(c.budget.Namespace(), c.selectMessages(commits, words)), nil
}

// ReadMessagesBetween returns the messages of the commits after an older commit, up to a newer commit, that contain some words, the newest first. The result is
// empty if the newer commit is the older commit or in its history, and if the server does not have the older commit any more. It returns an *Error.
func (c *Client) ReadMessagesBetween(ctx context.Context, newer, older, words string) ([]Message, error) {
	for _, id := range []string{newer, older} {
		if !plumbing.IsHash(id) {
			return nil, failure.Newf(failure.ClassInvalid, "cannot read messages: %q is not a commit id", failure.Shorten(id))
		}
	}
	if newer == older {
		return nil, nil
	}
	ctx, cancel := c.startOperation(ctx)
	defer cancel()
	f, err := c.openFetchSession(ctx, objects.NewMeter())
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	defer f.Close()
	tip := plumbing.NewHash(newer)
	commits, _, err := f.FetchCommitsSince(ctx, tip, plumbing.NewHash(older))
	if err != nil {
		return nil, c.conn.Failure(ctx, transport.VerbRead, err)
	}
	return c.selectMessages(commits, words), nil
}

// selectMessages returns the messages of the commits that contain some words.
func (c *Client) selectMessages(commits []objects.Object, words string) []Message {
	out := []Message{}
	for _, commit := range commits {
		if n := parseMessage(commit); strings.Contains(n.Message, words) {
			n.signed = c.hasTrustedSignature(commit)
			out = append(out, n)
		}
	}
	return out
}

func parseMessage(commit objects.Object) Message {
	head, message, _ := strings.Cut(string(commit.Data), "\n\n")
	return Message{ID: commit.ID.String(), Seconds: commitSeconds(head), Message: strings.Clone(message)} // The head may be far larger.
}

// commitSeconds returns the committer's date in the head of a commit.
func commitSeconds(head string) int64 {
	for line := range strings.SplitSeq(head, "\n") {
		if !strings.HasPrefix(line, "committer ") {
			continue
		}
		// The seconds are the last word but one.
		rest, _ := cutLastWord(line)
		_, seconds := cutLastWord(rest)
		n, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}

// cutLastWord splits a text before its last word.
func cutLastWord(text string) (rest, word string) {
	text = strings.TrimRight(text, " \t\r")
	i := strings.LastIndexAny(text, " \t") + 1
	return text[:i], text[i:]
}
