package git

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
	gogit "github.com/go-git/go-git/v5/plumbing/transport"

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

// A fetcher asks one session of a server for objects.
type fetcher struct {
	session      gogit.UploadPackSession
	capabilities *capability.List
	// refs of the server that the client reads, and whether it has any branch.
	refs      map[string]plumbing.Hash
	hasBranch bool
	limit     int64
	budget    *budget.Budget
	// meter of the reader that the session is for.
	meter *objects.Meter
}

// fetchView returns the view of a commit: the old view if the commit is the same,
// else the old view with the new objects. The second result lists the commits after
// the old commit, nil if the old commit is not in their history.
func (f fetcher) fetchView(ctx context.Context, commit plumbing.Hash, old objects.View, filter packp.Filter) (objects.View, []plumbing.Hash, error) {
	if commit.IsZero() || commit == old.Commit {
		if commit.IsZero() {
			return objects.EmptyView(f.budget.Namespace()).Open(f.meter), nil, nil
		}
		return old, []plumbing.Hash{commit}, nil
	}
	if !old.Commit.IsZero() && f.capabilities.Supports(capability.Shallow) {
		v, commits, err := f.fetchNewObjects(ctx, commit, old, filter)
		if err == nil || ctx.Err() != nil {
			return v, commits, err
		}
	}
	fetched, err := f.fetchObject(ctx, commit, filter)
	if err != nil {
		return objects.View{}, nil, err
	}
	v, err := objects.NewView(ctx, f.meter, f.budget.Namespace(), commit, fetched)
	return v, nil, err
}

// fetchNewObjects fetches only the objects that the old view lacks. It returns an
// error if objects are missing: a server does not know which of its objects the client
// has dropped.
func (f fetcher) fetchNewObjects(ctx context.Context, commit plumbing.Hash, old objects.View, filter packp.Filter) (objects.View, []plumbing.Hash, error) {
	req, err := f.newRequest(commit, window, filter)
	if err != nil {
		return objects.View{}, nil, err
	}
	req.Haves = []plumbing.Hash{old.Commit}
	fetched, err := f.fetchRequested(ctx, req)
	if err != nil {
		return objects.View{}, nil, err
	}
	v, err := old.Extend(ctx, commit, fetched, filter == everything)
	if err != nil {
		return objects.View{}, nil, err
	}
	commits, err := objects.Lineage(ctx, f.meter, fetched, commit)
	if err != nil {
		return objects.View{}, nil, err
	}
	if !slices.Contains(commits, old.Commit) {
		commits = nil
	}
	return v, commits, nil
}

// fetchObject fetches an object and the objects that it refers to, without its history.
func (f fetcher) fetchObject(ctx context.Context, want plumbing.Hash, filter packp.Filter) (map[plumbing.Hash]objects.Object, error) {
	req, err := f.newRequest(want, 1, filter)
	if err != nil {
		return nil, err
	}
	return f.fetchRequested(ctx, req)
}

func (f fetcher) fetchRequested(ctx context.Context, req *packp.UploadPackRequest) (map[plumbing.Hash]objects.Object, error) {
	return f.fetchAnswered(ctx, req, func(*packp.UploadPackResponse) bool { return true })
}

// fetchAnswered returns the objects of an answer; no objects if wanted refuses the
// beginning of the answer.
func (f fetcher) fetchAnswered(ctx context.Context, req *packp.UploadPackRequest, wanted func(*packp.UploadPackResponse) bool) (map[plumbing.Hash]objects.Object, error) {
	res, err := f.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close() //nolint:errcheck // Everything was read, or failed before.
	if !wanted(res) {
		return map[plumbing.Hash]objects.Object{}, nil
	}
	share := budget.NewShare(f.budget, res.Close)
	defer share.Release()
	data, err := share.Read(ctx, demultiplexPack(req.Capabilities, res))
	if err != nil {
		return nil, err
	}
	p, size, err := pack.Scan(ctx, data, f.limit)
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

// newRequest returns the request for the objects from a commit on, so many commits deep; zero is all of them.
func (f fetcher) newRequest(want plumbing.Hash, depth int, filter packp.Filter) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequestFromCapabilities(f.capabilities)
	req.Wants = append(req.Wants, want)
	use := []capability.Capability{capability.NoProgress}
	if depth > 0 && f.capabilities.Supports(capability.Shallow) {
		use = append(use, capability.Shallow)
		req.Depth = packp.DepthCommits(depth)
	}
	if filter != everything && f.capabilities.Supports(capability.Filter) {
		use = append(use, capability.Filter)
		req.Filter = filter
	}
	for _, u := range use {
		if !f.capabilities.Supports(u) {
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

// fetchStateView returns the view of the state. The trees that it retains may be
// large, and their files are needed for a rollback only.
func (f fetcher) fetchStateView(ctx context.Context, commit plumbing.Hash, old objects.View) (objects.View, error) {
	v, _, err := f.fetchView(ctx, commit, old, withoutBlobs)
	if err != nil {
		return objects.View{}, err
	}
	missing, err := v.MissingFiles(ctx, v.Tree, false, maxStateFiles)
	if err != nil || len(missing) == 0 {
		return v, err
	}
	if files, err := f.fetchObjects(ctx, missing); err == nil {
		v = v.AddLive(files)
		if missing, err := v.MissingFiles(ctx, v.Tree, false, maxStateFiles); err == nil && len(missing) == 0 {
			return v, nil
		}
	}
	if ctx.Err() != nil {
		return objects.View{}, ctx.Err()
	}
	// A server that gives no files by their ids gives all of them.
	v, _, err = f.fetchView(ctx, commit, objects.View{}, everything)
	return v, err
}

// fetchObjects fetches objects and the objects that they refer to.
func (f fetcher) fetchObjects(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]objects.Object, error) {
	req, err := f.newRequest(ids[0], 1, everything)
	if err != nil {
		return nil, err
	}
	req.Wants = append(req.Wants, ids[1:]...)
	fetched, err := f.fetchRequested(ctx, req)
	if err == nil && fetched == nil {
		err = packfile.ErrEmptyPackfile
	}
	return fetched, err
}
