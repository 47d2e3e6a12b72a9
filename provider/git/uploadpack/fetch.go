package uploadpack

import (
	"context"
	"io"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/pack"
)

// Filters of a fetch, for servers that support them.
const (
	everything   packp.Filter = ""
	withoutBlobs packp.Filter = "blob:none"
	withoutTrees packp.Filter = "tree:0"
)

// window limits the unmanaged commits between two observations that are fetched
// together. Where there are more, only the last commit is fetched.
const window = 64

// maxStateFiles is how many files of the state are fetched by their ids, with one request.
const maxStateFiles = 100_000

// FetchTrees returns the view of a commit with its trees, and without files of the branch: the old view if the commit is the same, else the old view with the
// new objects. The second result lists the commits after the old commit, nil if the old commit is not in their history.
func (s *Session) FetchTrees(ctx context.Context, commit plumbing.Hash, old objects.View) (objects.View, []plumbing.Hash, error) {
	return s.fetchFilteredView(ctx, commit, old, withoutBlobs)
}

// fetchFilteredView does the same as FetchTrees, with the objects that a filter lets pass.
func (s *Session) fetchFilteredView(ctx context.Context, commit plumbing.Hash, old objects.View, filter packp.Filter) (objects.View, []plumbing.Hash, error) {
	if commit.IsZero() || commit == old.Commit {
		if commit.IsZero() {
			return objects.EmptyView(s.budget.Namespace()).Open(s.meter), nil, nil
		}
		return old, []plumbing.Hash{commit}, nil
	}
	if !old.Commit.IsZero() && s.capabilities.Supports(capability.Shallow) {
		v, commits, err := s.fetchNewObjects(ctx, commit, old, filter)
		if err == nil || ctx.Err() != nil {
			return v, commits, err
		}
	}
	fetched, err := s.fetchFiltered(ctx, commit, filter)
	if err != nil {
		return objects.View{}, nil, err
	}
	v, err := objects.NewView(ctx, s.meter, s.budget.Namespace(), commit, fetched)
	return v, nil, err
}

// fetchNewObjects fetches only the objects that the old view lacks. It returns an
// error if objects are missing: a server does not know which of its objects the client
// has dropped.
func (s *Session) fetchNewObjects(ctx context.Context, commit plumbing.Hash, old objects.View, filter packp.Filter) (objects.View, []plumbing.Hash, error) {
	req, err := s.newFetchRequest(commit, window, filter)
	if err != nil {
		return objects.View{}, nil, err
	}
	req.Haves = []plumbing.Hash{old.Commit}
	fetched, err := s.fetchRequested(ctx, req)
	if err != nil {
		return objects.View{}, nil, err
	}
	v, err := old.Extend(ctx, commit, fetched, filter == everything)
	if err != nil {
		return objects.View{}, nil, err
	}
	commits, err := objects.Lineage(ctx, s.meter, fetched, commit)
	if err != nil {
		return objects.View{}, nil, err
	}
	if !slices.Contains(commits, old.Commit) {
		commits = nil
	}
	return v, commits, nil
}

// FetchObject fetches an object and the objects that it refers to, without its history.
func (s *Session) FetchObject(ctx context.Context, want plumbing.Hash) (map[plumbing.Hash]objects.Object, error) {
	return s.fetchFiltered(ctx, want, everything)
}

// fetchFiltered fetches an object, and the objects that it refers to as far as the filter lets them pass, without its history.
func (s *Session) fetchFiltered(ctx context.Context, want plumbing.Hash, filter packp.Filter) (map[plumbing.Hash]objects.Object, error) {
	req, err := s.newFetchRequest(want, 1, filter)
	if err != nil {
		return nil, err
	}
	return s.fetchRequested(ctx, req)
}

func (s *Session) fetchRequested(ctx context.Context, req *packp.UploadPackRequest) (map[plumbing.Hash]objects.Object, error) {
	return s.fetchAnswered(ctx, req, func(*packp.UploadPackResponse) bool { return true })
}

// fetchAnswered returns the objects of an answer; no objects if wanted refuses the
// beginning of the answer.
func (s *Session) fetchAnswered(
	ctx context.Context, req *packp.UploadPackRequest, wanted func(*packp.UploadPackResponse) bool,
) (map[plumbing.Hash]objects.Object, error) {
	res, err := s.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close() //nolint:errcheck // Everything was read, or failed before.
	if !wanted(res) {
		return map[plumbing.Hash]objects.Object{}, nil
	}
	share := budget.NewShare(s.budget, res.Close)
	defer share.Release()
	data, err := share.Read(ctx, demultiplexPack(req.Capabilities, res))
	if err != nil {
		return nil, err
	}
	p, size, err := pack.Scan(ctx, data, s.limit)
	if err != nil {
		return nil, pack.BrokenError(err)
	}
	if err := share.Grow(ctx, size); err != nil {
		return nil, err
	}
	fetched, err := p.Unpack(ctx)
	if err != nil {
		return nil, pack.BrokenError(err)
	}
	return fetched, nil
}

// newFetchRequest returns the request for the objects from a commit on, so many commits deep; zero is all of them.
func (s *Session) newFetchRequest(want plumbing.Hash, depth int, filter packp.Filter) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequestFromCapabilities(s.capabilities)
	req.Wants = append(req.Wants, want)
	use := []capability.Capability{capability.NoProgress}
	if depth > 0 && s.capabilities.Supports(capability.Shallow) {
		use = append(use, capability.Shallow)
		req.Depth = packp.DepthCommits(depth)
	}
	if filter != everything && s.capabilities.Supports(capability.Filter) {
		use = append(use, capability.Filter)
		req.Filter = filter
	}
	for _, u := range use {
		if !s.capabilities.Supports(u) {
			continue
		}
		if err := req.Capabilities.Set(u); err != nil {
			return nil, errors.Wrapf(err, "cannot ask for %s", u)
		}
	}
	return req, nil
}

// demultiplexPack returns the pack of an answer, without the messages that a server sends beside it.
func demultiplexPack(used *capability.List, r io.Reader) io.Reader {
	if used.Supports(capability.Sideband64k) {
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	}
	if used.Supports(capability.Sideband) {
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}

// FetchState returns the view of a commit of the state. The trees that it retains may be
// large, and their files are needed for a rollback only.
func (s *Session) FetchState(ctx context.Context, commit plumbing.Hash, old objects.View) (objects.View, error) {
	v, _, err := s.fetchFilteredView(ctx, commit, old, withoutBlobs)
	if err != nil {
		return objects.View{}, err
	}
	missing, err := v.MissingFiles(ctx, v.Tree, false, maxStateFiles)
	if err != nil || len(missing) == 0 {
		return v, err
	}
	if files, err := s.FetchObjects(ctx, missing); err == nil {
		v = v.AddLive(files)
		if missing, err := v.MissingFiles(ctx, v.Tree, false, maxStateFiles); err == nil && len(missing) == 0 {
			return v, nil
		}
	}
	if ctx.Err() != nil {
		return objects.View{}, ctx.Err()
	}
	// A server that gives no files by their ids gives all of them.
	v, _, err = s.fetchFilteredView(ctx, commit, objects.View{}, everything)
	return v, err
}

// FetchObjects fetches objects and the objects that they refer to. It needs an id.
func (s *Session) FetchObjects(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]objects.Object, error) {
	req, err := s.newFetchRequest(ids[0], 1, everything)
	if err != nil {
		return nil, err
	}
	req.Wants = append(req.Wants, ids[1:]...)
	fetched, err := s.fetchRequested(ctx, req)
	if err == nil && fetched == nil {
		err = packfile.ErrEmptyPackfile
	}
	return fetched, err
}
