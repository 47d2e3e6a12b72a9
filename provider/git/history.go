package git

import (
	"context"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// maxHistory bounds how many commits are remembered of a branch's past. Who asks for an older one makes a request.
const maxHistory = 100_000

// A History is what is known of the past of a branch, as long as each tip came after the one before. It is shared by the snapshots
// of that time, and safe for concurrent use.
type History struct {
	mu sync.Mutex
	// known commits are in the branch, absent ones are not.
	known  map[plumbing.Hash]struct{}
	absent map[plumbing.Hash]struct{}
}

func NewHistory(commits ...plumbing.Hash) *History {
	h := &History{known: map[plumbing.Hash]struct{}{}, absent: map[plumbing.Hash]struct{}{}}
	h.Add(commits...)
	return h
}

// After returns the history of a new tip: the same one if the commits since the
// old tip are known.
func (h *History) After(tip plumbing.Hash, commits []plumbing.Hash) *History {
	if h == nil || commits == nil {
		return NewHistory(tip)
	}
	h.Add(commits...)
	return h
}

func (h *History) Add(commits ...plumbing.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known) > maxHistory {
		clear(h.known)
	}
	for _, c := range commits {
		h.known[c] = struct{}{}
	}
}

func (h *History) AddAbsent(commit plumbing.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.absent) > maxHistory {
		clear(h.absent)
	}
	h.absent[commit] = struct{}{}
}

// Has reports whether the commit is in the branch, and whether that is known.
func (h *History) Has(commit plumbing.Hash) (is, known bool) {
	if h == nil {
		return false, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.known[commit]; ok {
		return true, true
	}
	_, ok := h.absent[commit]
	return false, ok
}

// Contains reports whether a commit is in the history of the branch's tip, as
// the snapshot saw it. The server is asked once for what is not known. It
// returns an *Error.
func (c *Client) Contains(ctx context.Context, s *Snapshot, commit string) (bool, error) {
	if is, known := s.Contains(commit); known {
		return is, nil
	}
	id := plumbing.NewHash(commit)
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	past, err := c.fetchPast(ctx, s.seen, id)
	if err != nil {
		return false, c.Failure(ctx, VerbRead, err)
	}
	if !slices.Contains(past, id) {
		s.history.AddAbsent(id)
		return false, nil
	}
	s.history.Add(past...)
	return true, nil
}

// fetchPast fetches the commits from a tip to an older one. If that is none of
// them, they are of no use.
func (c *Client) fetchPast(ctx context.Context, tip, until plumbing.Hash) ([]plumbing.Hash, error) {
	session, err := c.UploadSession(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.listRefs(ctx, session)
	if err != nil {
		return nil, err
	}
	f := fetcher{session: session, capabilities: adv.Capabilities, limit: c.maxInflated, budget: c.budget}
	return f.fetchPast(ctx, tip, until)
}

func (f fetcher) fetchPast(ctx context.Context, tip, until plumbing.Hash) ([]plumbing.Hash, error) {
	objects, err := f.fetchNewerCommits(ctx, tip, until)
	return Lineage(objects, tip), err
}

// fetchNewerCommits are the commits that came after an older one; none if the server does
// not have that, for it would send everything.
func (f fetcher) fetchNewerCommits(ctx context.Context, tip, old plumbing.Hash) (map[plumbing.Hash]Object, error) {
	req, err := f.newRequest(tip, 0, withoutTrees)
	if err != nil {
		return nil, err
	}
	req.Haves = []plumbing.Hash{old}
	return f.readAnswer(ctx, req, func(res *packp.UploadPackResponse) bool { return slices.Contains(res.ACKs, old) })
}

// Lineage lists what is reached from a tip: the commits that are there, and the
// first ones that are not.
func Lineage(objects map[plumbing.Hash]Object, tip plumbing.Hash) []plumbing.Hash {
	out, seen := []plumbing.Hash{tip}, map[plumbing.Hash]bool{tip: true}
	for i := 0; i < len(out); i++ {
		o, ok := objects[out[i]]
		if !ok || o.Kind != plumbing.CommitObject {
			continue
		}
		for _, p := range CommitParents(o.Data) {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}
