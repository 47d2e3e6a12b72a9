package uploadpack

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/intentplane/intentplane/provider/git/objects"
)

// maxCommitsWithTrees limits the commits of one fetch from a server that sends their trees with them.
const maxCommitsWithTrees = 64

// FetchCommits returns the last commits up to a tip, the newest first, and at most limit.
func (s *Session) FetchCommits(ctx context.Context, tip plumbing.Hash, limit int) ([]objects.Object, error) {
	if !s.capabilities.Supports(capability.Filter) {
		limit = min(limit, maxCommitsWithTrees)
	}
	req, err := s.newFetchRequest(tip, limit, withoutTrees)
	if err != nil {
		return nil, err
	}
	fetched, err := s.fetchRequested(ctx, req)
	if err != nil {
		return nil, err
	}
	ids, err := objects.Lineage(ctx, s.meter, fetched, tip)
	return selectCommits(fetched, ids), err
}

// FetchCommitsSince returns the commits after an older tip. It returns false if
// the older tip is not in the history of the new tip.
func (s *Session) FetchCommitsSince(ctx context.Context, tip, old plumbing.Hash) ([]objects.Object, bool, error) {
	fetched, err := s.fetchNewerCommits(ctx, tip, old)
	if err != nil {
		return nil, false, err
	}
	ids, err := objects.Lineage(ctx, s.meter, fetched, tip)
	return selectCommits(fetched, ids), slices.Contains(ids, old), err
}

func selectCommits(fetched map[plumbing.Hash]objects.Object, ids []plumbing.Hash) []objects.Object {
	out := []objects.Object{}
	for _, id := range ids {
		if o, ok := fetched[id]; ok && o.Kind == plumbing.CommitObject {
			out = append(out, o)
		}
	}
	return out
}

// FetchCommitsUntil returns the ids of the commits from a tip to an older commit. The result is of no use if it lacks the older commit.
func (s *Session) FetchCommitsUntil(ctx context.Context, tip, ancestor plumbing.Hash) ([]plumbing.Hash, error) {
	fetched, err := s.fetchNewerCommits(ctx, tip, ancestor)
	if err != nil {
		return nil, err
	}
	return objects.Lineage(ctx, s.meter, fetched, tip)
}

// fetchNewerCommits returns the commits after an older commit; empty if the server lacks
// the older commit, because it would send the whole history.
func (s *Session) fetchNewerCommits(ctx context.Context, tip, old plumbing.Hash) (map[plumbing.Hash]objects.Object, error) {
	req, err := s.newFetchRequest(tip, 0, withoutTrees)
	if err != nil {
		return nil, err
	}
	req.Haves = []plumbing.Hash{old}
	return s.fetchAnswered(ctx, req, func(res *packp.UploadPackResponse) bool { return slices.Contains(res.ACKs, old) })
}
