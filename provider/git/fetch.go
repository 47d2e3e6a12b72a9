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

// A fetcher asks one session of a server for objects.
type fetcher struct {
	session      transport.UploadPackSession
	capabilities *capability.List
	limit        int64
	budget       *Budget
}

// fetchView returns the view of a commit: the old one if it has not moved, else what
// is new on top of it. The commits are those that came after the old one, nil if
// that is not in their past.
func (f fetcher) fetchView(ctx context.Context, commit plumbing.Hash, old View, filter packp.Filter) (View, []plumbing.Hash, error) {
	if commit.IsZero() || commit == old.Commit {
		if commit.IsZero() {
			return View{}, nil, nil
		}
		return old, []plumbing.Hash{commit}, nil
	}
	if !old.Commit.IsZero() && f.capabilities.Supports(capability.Shallow) {
		v, commits, err := f.fetchSince(ctx, commit, old, filter)
		if err == nil || ctx.Err() != nil {
			return v, commits, err
		}
	}
	objects, err := f.fetchObject(ctx, commit, filter)
	if err != nil {
		return View{}, nil, err
	}
	size := sizeOfObjects(objects)
	v, err := NewView(commit, (*Layer[Object])(nil).With(objects))
	v.bytes, v.liveBytes = size, size
	return v, nil, err
}

// fetchSince fetches only what the old view lacks. It returns an error if that is
// not enough: a server knows what it has, and not what we threw away.
func (f fetcher) fetchSince(ctx context.Context, commit plumbing.Hash, old View, filter packp.Filter) (View, []plumbing.Hash, error) {
	req, err := f.newRequest(commit, window, filter)
	if err != nil {
		return View{}, nil, err
	}
	req.Haves = []plumbing.Hash{old.Commit}
	objects, err := f.fetchAll(ctx, req)
	if err != nil {
		return View{}, nil, err
	}
	commits := Lineage(objects, commit)
	added := make(map[plumbing.Hash]Object, len(objects))
	for id, o := range objects {
		if o.Kind != plumbing.CommitObject || id == commit {
			added[id] = o
		}
	}
	v, err := NewView(commit, old.objects.With(maps.Clone(added)))
	if err != nil {
		return View{}, nil, err
	}
	v.live, v.liveBytes, v.bytes = old.live, old.liveBytes, old.bytes+sizeOfObjects(added)
	if err := v.complete(added, filter == everything); err != nil {
		return View{}, nil, err
	}
	if !slices.Contains(commits, old.Commit) {
		commits = nil
	}
	return v, commits, nil
}

func NewView(commit plumbing.Hash, objects *Layer[Object]) (View, error) {
	v := View{Commit: commit, objects: objects, live: objects.Len()}
	data, err := v.Read(plumbing.CommitObject, commit)
	if err != nil {
		return View{}, err
	}
	v.Tree, err = CommitTree(data)
	return v, err
}

// complete returns an error if something is not there that hangs on what was
// added. What was there before is complete.
func (v View) complete(added map[plumbing.Hash]Object, files bool) error {
	if _, err := v.Entries(v.Tree); err != nil {
		return err
	}
	for _, o := range added {
		if o.Kind != plumbing.TreeObject {
			continue
		}
		entries, err := ParseTree(o.Data)
		if err != nil {
			return err
		}
		for _, e := range entries {
			_, ok := v.objects.Get(e.ID)
			if !ok && (e.IsDir() || (files && e.Mode != ModeSubmodule)) {
				return errors.Errorf("cannot read %s: the server did not send it", e.ID)
			}
		}
	}
	return nil
}

// fetchObject fetches an object, and what hangs on it, without its history.
func (f fetcher) fetchObject(ctx context.Context, want plumbing.Hash, filter packp.Filter) (map[plumbing.Hash]Object, error) {
	req, err := f.newRequest(want, 1, filter)
	if err != nil {
		return nil, err
	}
	return f.fetchAll(ctx, req)
}

func (f fetcher) fetchAll(ctx context.Context, req *packp.UploadPackRequest) (map[plumbing.Hash]Object, error) {
	return f.readAnswer(ctx, req, func(*packp.UploadPackResponse) bool { return true })
}

// readAnswer returns the objects of an answer; none if the beginning of the answer
// is not what is wanted.
func (f fetcher) readAnswer(ctx context.Context, req *packp.UploadPackRequest, wanted func(*packp.UploadPackResponse) bool) (map[plumbing.Hash]Object, error) {
	res, err := f.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close() //nolint:errcheck // Everything was read, or failed before.
	if !wanted(res) {
		return map[plumbing.Hash]Object{}, nil
	}
	held := &Share{budget: f.budget, GiveUp: res.Close}
	defer held.Release()
	data, err := held.Read(ctx, Demultiplex(req.Capabilities, res))
	if err != nil {
		return nil, err
	}
	p, size, err := ScanPack(ctx, data, f.limit)
	if err != nil {
		return nil, packError{err}
	}
	if err := held.Grow(ctx, size); err != nil {
		return nil, err
	}
	objects, err := p.Unpack(ctx)
	if err != nil {
		return nil, packError{err}
	}
	return objects, nil
}

// A packError is a pack that arrived and cannot be read.
type packError struct{ error }

// Unwrap returns what is wrong with the pack.
func (e packError) Unwrap() error { return e.error }

// newRequest objects from a commit on, so many commits deep; zero is all of them.
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

func Demultiplex(used *capability.List, r io.Reader) io.Reader {
	if used.Supports(capability.Sideband64k) {
		return sideband.NewDemuxer(sideband.Sideband64k, r)
	}
	if used.Supports(capability.Sideband) {
		return sideband.NewDemuxer(sideband.Sideband, r)
	}
	return r
}
