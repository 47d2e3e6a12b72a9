package git

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// What to leave out of a fetch, where the server can.
const (
	everything   packp.Filter = ""
	withoutBlobs packp.Filter = "blob:none"
	withoutTrees packp.Filter = "tree:0"
)

// window is how many commits of others between two looks are taken at once.
// Where there are more, only the last one is.
const window = 64

// A fetch asks one session of a server for objects.
type fetch struct {
	session      transport.UploadPackSession
	capabilities *capability.List
	limit        int64
	budget       *Budget
}

// view returns the view of a commit: the old one if it has not moved, else what
// is new on top of it. The commits are those that came after the old one, nil if
// that is not in their past.
func (f fetch) view(ctx context.Context, commit plumbing.Hash, old view, filter packp.Filter) (view, []plumbing.Hash, error) {
	if commit.IsZero() || commit == old.commit {
		if commit.IsZero() {
			return view{}, nil, nil
		}
		return old, []plumbing.Hash{commit}, nil
	}
	if !old.commit.IsZero() && f.capabilities.Supports(capability.Shallow) {
		v, commits, err := f.since(ctx, commit, old, filter)
		if err == nil || ctx.Err() != nil {
			return v, commits, err
		}
	}
	objects, err := f.objects(ctx, commit, filter)
	if err != nil {
		return view{}, nil, err
	}
	size := sizeOf(objects)
	v, err := newView(commit, (*layer[object])(nil).with(objects))
	v.bytes, v.liveBytes = size, size
	return v, nil, err
}

// since fetches only what the old view lacks. It returns an error if that is
// not enough: a server knows what it has, and not what we threw away.
func (f fetch) since(ctx context.Context, commit plumbing.Hash, old view, filter packp.Filter) (view, []plumbing.Hash, error) {
	req, err := f.request(commit, window, filter)
	if err != nil {
		return view{}, nil, err
	}
	req.Haves = []plumbing.Hash{old.commit}
	objects, err := f.all(ctx, req)
	if err != nil {
		return view{}, nil, err
	}
	commits := lineage(objects, commit)
	added := make(map[plumbing.Hash]object, len(objects))
	for id, o := range objects {
		if o.kind != plumbing.CommitObject || id == commit {
			added[id] = o
		}
	}
	v, err := newView(commit, old.objects.with(maps.Clone(added)))
	if err != nil {
		return view{}, nil, err
	}
	v.live, v.liveBytes, v.bytes = old.live, old.liveBytes, old.bytes+sizeOf(added)
	if err := v.complete(added, filter == everything); err != nil {
		return view{}, nil, err
	}
	if !slices.Contains(commits, old.commit) {
		commits = nil
	}
	return v, commits, nil
}

func newView(commit plumbing.Hash, objects *layer[object]) (view, error) {
	v := view{commit: commit, objects: objects, live: objects.len()}
	data, err := v.read(plumbing.CommitObject, commit)
	if err != nil {
		return view{}, err
	}
	v.tree, err = treeOf(data)
	return v, err
}

// complete returns an error if something is not there that hangs on what was
// added. What was there before is complete.
func (v view) complete(added map[plumbing.Hash]object, files bool) error {
	if _, err := v.entries(v.tree); err != nil {
		return err
	}
	for _, o := range added {
		if o.kind != plumbing.TreeObject {
			continue
		}
		entries, err := parseTree(o.data)
		if err != nil {
			return err
		}
		for _, e := range entries {
			_, ok := v.objects.get(e.id)
			if !ok && (e.isDir() || (files && e.mode != modeSubmodule)) {
				return errors.Errorf("cannot read %s: the server did not send it", e.id)
			}
		}
	}
	return nil
}

// objects fetches an object, and what hangs on it, without its history.
func (f fetch) objects(ctx context.Context, want plumbing.Hash, filter packp.Filter) (map[plumbing.Hash]object, error) {
	req, err := f.request(want, 1, filter)
	if err != nil {
		return nil, err
	}
	return f.all(ctx, req)
}

func (f fetch) all(ctx context.Context, req *packp.UploadPackRequest) (map[plumbing.Hash]object, error) {
	return f.answer(ctx, req, func(*packp.UploadPackResponse) bool { return true })
}

// answer returns the objects of an answer; none if the beginning of the answer
// is not what is wanted.
func (f fetch) answer(ctx context.Context, req *packp.UploadPackRequest, wanted func(*packp.UploadPackResponse) bool) (map[plumbing.Hash]object, error) {
	res, err := f.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close() //nolint:errcheck // Everything was read, or failed before.
	if !wanted(res) {
		return map[plumbing.Hash]object{}, nil
	}
	held := &share{of: f.budget, giveUp: res.Close}
	defer held.release()
	data, err := held.read(ctx, demultiplex(req.Capabilities, res))
	if err != nil {
		return nil, err
	}
	p, size, err := scanPack(ctx, data, f.limit)
	if err != nil {
		return nil, packError{err}
	}
	if err := held.grow(ctx, size); err != nil {
		return nil, err
	}
	objects, err := p.unpack(ctx)
	if err != nil {
		return nil, packError{err}
	}
	return objects, nil
}

// A packError is a pack that arrived and cannot be read.
type packError struct{ error }

// Unwrap returns what is wrong with the pack.
func (e packError) Unwrap() error { return e.error }

// request objects from a commit on, so many commits deep; zero is all of them.
func (f fetch) request(want plumbing.Hash, depth int, filter packp.Filter) (*packp.UploadPackRequest, error) {
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

func demultiplex(used *capability.List, r io.Reader) io.Reader {
	if used.Supports(capability.Sideband64k) {
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	}
	if used.Supports(capability.Sideband) {
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}
