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

// A history is what is known of the past of a branch, as long as each tip came after the one before. It is shared by the snapshots
// of that time, and safe for concurrent use.
type history struct {
	mu sync.Mutex
	// known commits are in the branch, absent ones are not.
	known  map[plumbing.Hash]struct{}
	absent map[plumbing.Hash]struct{}
}

func newHistory(commits ...plumbing.Hash) *history {
	h := &history{known: map[plumbing.Hash]struct{}{}, absent: map[plumbing.Hash]struct{}{}}
	h.add(commits...)
	return h
}

// after returns the history of a new tip: the same one if the commits since the
// old tip are known.
func (h *history) after(tip plumbing.Hash, commits []plumbing.Hash) *history {
	if h == nil || commits == nil {
		return newHistory(tip)
	}
	h.add(commits...)
	return h
}

func (h *history) add(commits ...plumbing.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known) > maxHistory {
		clear(h.known)
	}
	for _, c := range commits {
		h.known[c] = struct{}{}
	}
}

func (h *history) miss(commit plumbing.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.absent) > maxHistory {
		clear(h.absent)
	}
	h.absent[commit] = struct{}{}
}

// has reports whether the commit is in the branch, and whether that is known.
func (h *history) has(commit plumbing.Hash) (is, known bool) {
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
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	past, err := c.past(ctx, s.seen, id)
	if err != nil {
		return false, c.fail(ctx, verbRead, err)
	}
	if !slices.Contains(past, id) {
		s.history.miss(id)
		return false, nil
	}
	s.history.add(past...)
	return true, nil
}

// past fetches the commits from a tip to an older one. If that is none of
// them, they are of no use.
func (c *Client) past(ctx context.Context, tip, until plumbing.Hash) ([]plumbing.Hash, error) {
	session, err := c.uploadSession(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // Everything was read, or failed before.
	adv, err := c.advertised(ctx, session)
	if err != nil {
		return nil, err
	}
	f := fetch{session: session, capabilities: adv.Capabilities, limit: c.inflated, budget: c.budget}
	return f.past(ctx, tip, until)
}

func (f fetch) past(ctx context.Context, tip, until plumbing.Hash) ([]plumbing.Hash, error) {
	objects, err := f.newer(ctx, tip, until)
	return lineage(objects, tip), err
}

// newer are the commits that came after an older one; none if the server does
// not have that, for it would send everything.
func (f fetch) newer(ctx context.Context, tip, old plumbing.Hash) (map[plumbing.Hash]object, error) {
	req, err := f.request(tip, 0, withoutTrees)
	if err != nil {
		return nil, err
	}
	req.Haves = []plumbing.Hash{old}
	return f.answer(ctx, req, func(res *packp.UploadPackResponse) bool { return slices.Contains(res.ACKs, old) })
}

// lineage lists what is reached from a tip: the commits that are there, and the
// first ones that are not.
func lineage(objects map[plumbing.Hash]object, tip plumbing.Hash) []plumbing.Hash {
	out, seen := []plumbing.Hash{tip}, map[plumbing.Hash]bool{tip: true}
	for i := 0; i < len(out); i++ {
		o, ok := objects[out[i]]
		if !ok || o.kind != plumbing.CommitObject {
			continue
		}
		for _, p := range parentsOf(o.data) {
			if !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}
