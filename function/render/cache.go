package render

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// entryBytes is about what an entry needs beside its files.
const entryBytes = 512

// A Builder makes the files of one Site. The same input gives the same bytes.
type Builder interface {
	// Build returns the files, or an error that says what is wrong with the input.
	Build(ctx context.Context, in Input) (tree.Files, error)
}

// A Cache remembers what a Builder built, and what it refused to. Since a rendering is a function of its input, nothing in a Cache
// is ever wrong: it only saves time. It may be used by several goroutines.
type Cache struct {
	builder  Builder
	maxBytes int

	mu      sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	recent  *list.List
	bytes   int
}

// entry is what was built from one input.
type entry struct {
	key   [sha256.Size]byte
	files tree.Files
	err   error
	bytes int
}

// NewCache returns a Cache in front of b that holds up to about maxBytes. What was not asked for the longest goes first.
func NewCache(b Builder, maxBytes int) *Cache {
	return &Cache{builder: b, maxBytes: maxBytes, entries: map[[sha256.Size]byte]*list.Element{}, recent: list.New()}
}

// Build returns what the Builder returned for the same input. The contents of the files must not be changed. An input that cannot
// be encoded is an error.
func (c *Cache) Build(ctx context.Context, in Input) (tree.Files, error) {
	key, err := digest(in)
	if err != nil {
		return nil, err
	}
	if e, ok := c.get(key); ok {
		return maps.Clone(e.files), e.err
	}
	files, err := c.builder.Build(ctx, in)
	if late := (&TimeoutError{}); errors.As(err, &late) {
		return files, err
	}
	c.put(&entry{key: key, files: maps.Clone(files), err: err})
	return files, err
}

func (c *Cache) get(key [sha256.Size]byte) (*entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(found)
	return entryOf(found), true
}

func (c *Cache) put(e *entry) {
	e.bytes = entryBytes
	for name, b := range e.files {
		e.bytes += len(name) + len(b)
	}
	if e.err != nil {
		e.bytes += len(e.err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[e.key]; ok || e.bytes > c.maxBytes {
		return
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.bytes += e.bytes
	for c.bytes > c.maxBytes {
		oldest := entryOf(c.recent.Back())
		c.recent.Remove(c.recent.Back())
		delete(c.entries, oldest.key)
		c.bytes -= oldest.bytes
	}
}

func entryOf(e *list.Element) *entry {
	// Nothing else is ever put into the list.
	return e.Value.(*entry) //nolint:forcetypeassert // See above.
}

// digest is that of all that a rendering depends on.
func digest(in Input) ([sha256.Size]byte, error) {
	spec := catalogv1alpha1.BlueprintSpec{}
	if in.Blueprint != nil {
		spec = in.Blueprint.Spec
	}
	b, err := json.Marshal(struct {
		Version   int32
		Name      string
		Blueprint catalogv1alpha1.BlueprintSpec
		Intent    json.RawMessage
		Site      Site
		Claim     Claim
	}{Version, in.blueprint(), spec, in.Intent.Canonical(), in.Site, in.Claim})
	return sha256.Sum256(b), errors.Wrap(err, "cannot encode what is rendered")
}
