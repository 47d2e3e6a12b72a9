package pack

import (
	"bytes"
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
)

const (
	// maxObjects is how many objects one answer of a server may have.
	maxObjects = 200_000

	// objectOverhead is the approximate memory of one object beside its content: its places in maps, its id and its place in the pack. BenchmarkHostilePack
	// measures the memory of 200,000 objects.
	objectOverhead = 400
)

// A Pack has the bytes that a server sent, and the positions of the objects in them.
type Pack struct {
	scanner *packfile.Scanner
	parts   []packPart
}

// A packPart is one object of a pack, or a delta that makes an object out of another object.
type packPart struct {
	at     int64
	length int64
	kind   plumbing.ObjectType
	// base of a delta, and the size of its result.
	base   deltaBase
	result int64
}

// A deltaBase is the base object of a delta: by its place in the pack, or by its id.
type deltaBase struct {
	at int64
	id plumbing.Hash
}

// Scan finds the objects of a pack. It returns how many bytes they will take, and an error if they are more than limit, or too many: some
// bytes on the wire can stand for a thousand times as many in memory.
func Scan(ctx context.Context, data io.ReadSeeker, limit int64) (*Pack, int64, error) {
	p := &Pack{scanner: packfile.NewScanner(data)}
	_, count, err := p.scanner.Header()
	if err != nil {
		return nil, 0, errors.Wrap(err, "cannot read pack")
	}
	if count > maxObjects {
		return nil, 0, failure.ErrTooLarge
	}
	left := limit
	for range count {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		used, err := p.scanNextObject(left)
		if err != nil {
			return nil, 0, err
		}
		left -= used
	}
	if _, err := p.scanner.Checksum(); err != nil {
		return nil, 0, errors.Wrap(err, "cannot read checksum of pack")
	}
	return p, limit - left, nil
}

// scanNextObject finds the next object, and returns how many bytes it will take: at most left.
func (p *Pack) scanNextObject(left int64) (int64, error) {
	h, err := p.scanner.NextObjectHeader()
	if err != nil {
		return 0, errors.Wrap(err, "cannot read pack")
	}
	if h.Length < 0 || h.Length > left-objectOverhead {
		return 0, failure.ErrTooLarge
	}
	used := h.Length + objectOverhead
	content := &deltaHeader{}
	n, _, err := p.scanner.NextObject(content)
	if err != nil {
		return 0, errors.Wrap(err, "cannot read pack")
	}
	if n != h.Length {
		return 0, errors.New("cannot read pack: an object is shorter than it says")
	}
	size := int64(0)
	if h.Type.IsDelta() {
		if size = content.decodeResultSize(); size < 0 || size > left-used {
			return 0, failure.ErrTooLarge
		}
	}
	p.parts = append(p.parts, packPart{at: h.Offset, length: h.Length, kind: h.Type, base: deltaBase{at: h.OffsetReference, id: h.Reference}, result: size})
	return used + size, nil
}

// Unpack decodes a pack that was scanned. Each object is made once, and nothing calls itself: a chain of deltas costs no more than as many
// objects without one. The parser of go-git makes the objects of a chain again for each link that its cache has lost.
func (p *Pack) Unpack(ctx context.Context) (map[plumbing.Hash]objects.Object, error) {
	u := &unpacker{Pack: p, objects: map[plumbing.Hash]objects.Object{}, waiting: map[deltaBase][]packPart{}}
	for _, part := range p.parts {
		if part.kind.IsDelta() {
			u.waiting[part.base] = append(u.waiting[part.base], part)
		}
	}
	for _, part := range p.parts {
		if part.kind.IsDelta() {
			continue
		}
		if err := u.resolveObject(ctx, part); err != nil {
			return nil, err
		}
	}
	if len(u.waiting) > 0 {
		return nil, errors.New("cannot read pack: an object is missing of which another one is made")
	}
	return u.objects, nil
}

// An unpacker makes the objects of a pack.
type unpacker struct {
	*Pack

	objects map[plumbing.Hash]objects.Object
	// waiting deltas, by their base object.
	waiting map[deltaBase][]packPart
}

// A placedObject is an unpacked object with its place in the pack.
type placedObject struct {
	at int64
	objects.Object
}

// resolveObject makes an object, and all that are made of it.
func (u *unpacker) resolveObject(ctx context.Context, whole packPart) error {
	data, err := u.inflatePart(ctx, whole)
	if err != nil {
		return err
	}
	if whole.kind < plumbing.CommitObject || whole.kind > plumbing.TagObject {
		return errors.New("cannot read pack: an object is of no kind that is known")
	}
	for next := []placedObject{{at: whole.at, Object: objects.NewObject(whole.kind, data)}}; len(next) > 0; {
		object := next[len(next)-1]
		next = next[:len(next)-1]
		u.objects[object.ID] = object.Object
		resolved, err := u.applyWaitingDeltas(ctx, object)
		if err != nil {
			return err
		}
		next = append(next, resolved...)
	}
	return nil
}

// applyWaitingDeltas makes the objects that waited for one.
func (u *unpacker) applyWaitingDeltas(ctx context.Context, base placedObject) ([]placedObject, error) {
	out := []placedObject{}
	for _, b := range []deltaBase{{at: base.at}, {id: base.ID}} {
		for _, waiting := range u.waiting[b] {
			delta, err := u.inflatePart(ctx, waiting)
			if err != nil {
				return nil, err
			}
			data, err := applyDeltaTo(base.Data, delta, waiting.result)
			if err != nil {
				return nil, err
			}
			out = append(out, placedObject{at: waiting.at, Object: objects.NewObject(base.Kind, data)})
		}
		delete(u.waiting, b)
	}
	return out, nil
}

// inflatePart returns the content of a part. Its size was checked.
func (u *unpacker) inflatePart(ctx context.Context, part packPart) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := u.scanner.SeekObjectHeader(part.at); err != nil {
		return nil, errors.Wrap(err, "cannot read pack")
	}
	content := bytes.NewBuffer(make([]byte, 0, part.length))
	if _, _, err := u.scanner.NextObject(content); err != nil {
		return nil, errors.Wrap(err, "cannot read pack")
	}
	return content.Bytes(), nil
}

// BrokenError returns the error for an unreadable pack that arrived. The text of the library is left out: it depends on the bytes of the pack.
func BrokenError(err error) error {
	var classified *failure.ClassifiedError
	if errors.As(err, &classified) {
		return classified
	}
	return &failure.ClassifiedError{Class: failure.ClassTransient, Detail: "the pack that the server sent is broken"}
}
