package git

import (
	"bytes"
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/memory"
)

// What to leave out of a fetch, where the server can.
const (
	everything   packp.Filter = ""
	withoutBlobs packp.Filter = "blob:none"
)

// A fetch asks one session of a server for objects.
type fetch struct {
	session      transport.UploadPackSession
	capabilities *capability.List
	limit        int64
}

// view returns the view of a commit: the old one if it has not moved.
func (f fetch) view(ctx context.Context, commit plumbing.Hash, old view, filter packp.Filter) (view, error) {
	if commit.IsZero() || commit == old.commit {
		if commit.IsZero() {
			return view{}, nil
		}
		return old, nil
	}
	objects, err := f.objects(ctx, commit, filter)
	if err != nil {
		return view{}, err
	}
	v := view{commit: commit, objects: objects, live: len(objects)}
	data, err := v.read(plumbing.CommitObject, commit)
	if err != nil {
		return view{}, err
	}
	v.tree, err = treeOf(data)
	return v, err
}

// objects fetches an object, and what hangs on it, without its history.
func (f fetch) objects(ctx context.Context, want plumbing.Hash, filter packp.Filter) (map[plumbing.Hash]object, error) {
	req, err := f.request(want, filter)
	if err != nil {
		return nil, err
	}
	res, err := f.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	defer res.Close() //nolint:errcheck // Everything was read, or failed before.
	pack, err := io.ReadAll(demultiplex(req.Capabilities, res))
	if err != nil {
		return nil, err
	}
	return f.unpack(pack)
}

func (f fetch) request(want plumbing.Hash, filter packp.Filter) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequestFromCapabilities(f.capabilities)
	req.Wants = append(req.Wants, want)
	use := []capability.Capability{capability.NoProgress}
	if f.capabilities.Supports(capability.Shallow) {
		use = append(use, capability.Shallow)
		req.Depth = packp.DepthCommits(1)
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

// unpack decodes a pack after it measured what that will take: some bytes on
// the wire can stand for a thousand times as many in memory.
func (f fetch) unpack(pack []byte) (map[plumbing.Hash]object, error) {
	if err := measure(pack, f.limit); err != nil {
		return nil, err
	}
	store := memory.NewStorage()
	p, err := packfile.NewParserWithStorage(packfile.NewScanner(bytes.NewReader(pack)), store)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read pack")
	}
	if _, err := p.Parse(); err != nil {
		return nil, errors.Wrap(err, "cannot parse pack")
	}
	objects := make(map[plumbing.Hash]object, len(store.Objects))
	for id, encoded := range store.Objects {
		o, err := readObject(encoded)
		if err != nil {
			return nil, err
		}
		objects[id] = o
	}
	return objects, nil
}

// measure returns an error if the objects of the pack take more than limit
// bytes.
func measure(pack []byte, limit int64) error {
	s := packfile.NewScanner(bytes.NewReader(pack))
	_, count, err := s.Header()
	if err != nil {
		return errors.Wrap(err, "cannot read pack")
	}
	for range count {
		h, err := s.NextObjectHeader()
		if err != nil {
			return errors.Wrap(err, "cannot read pack")
		}
		if limit -= h.Length; h.Length < 0 || limit < 0 {
			return tooLargeError{}
		}
		content := &deltaHeader{}
		if _, _, err := s.NextObject(content); err != nil {
			return errors.Wrap(err, "cannot read pack")
		}
		if !h.Type.IsDelta() {
			continue
		}
		size := content.target()
		if limit -= size; size < 0 || limit < 0 {
			return tooLargeError{}
		}
	}
	return nil
}

// A deltaHeader keeps the first bytes of a delta, which say how large the base
// and the result are.
type deltaHeader struct {
	bytes.Buffer
}

// Write keeps what may belong to the header.
func (d *deltaHeader) Write(p []byte) (int, error) {
	const most = 20 // Two numbers of at most ten bytes.
	if room := most - d.Len(); room > 0 {
		d.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// target returns the size of the result.
func (d *deltaHeader) target() int64 {
	data := d.Bytes()
	var size int64
	for range 2 {
		size = 0
		for shift := 0; len(data) > 0; shift += 7 {
			b := data[0]
			data = data[1:]
			size |= int64(b&0x7f) << min(shift, 63)
			if b&0x80 == 0 {
				break
			}
		}
	}
	return size
}
