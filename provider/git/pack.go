package git

import (
	"bytes"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

func encodePack(objects []object) (io.ReadCloser, error) {
	store := memory.NewStorage()
	ids := []plumbing.Hash{}
	for _, o := range objects {
		m := &plumbing.MemoryObject{}
		m.SetType(o.kind)
		if _, err := m.Write(o.data); err != nil {
			return nil, errors.Wrap(err, "cannot write object")
		}
		id, err := store.SetEncodedObject(m)
		if err != nil {
			return nil, errors.Wrap(err, "cannot store object")
		}
		ids = append(ids, id)
	}
	pack := &bytes.Buffer{}
	_, err := packfile.NewEncoder(pack, store, false).Encode(ids, 0)
	return io.NopCloser(pack), errors.Wrap(err, "cannot encode pack")
}
