package render

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/tree"
)

// A Builder makes the files of one Site. The same input gives the same bytes.
type Builder interface {
	// Build returns the files, or an error that describes the problem of the input.
	Build(ctx context.Context, in Input) (tree.Files, error)
}

// A Cache remembers the results and the errors of a Builder. Since a rendering is a function of its input, a cached result is
// never wrong: it only saves time. It may be used by several goroutines.
type Cache struct {
	builder Builder
	results *memo.Memo[result]
}

// result of a Builder.
type result struct {
	files tree.Files
	err   error
}

// NewCache returns a Cache in front of b that holds up to about maxBytes. It drops the least recently used entries first.
func NewCache(b Builder, maxBytes int) *Cache {
	return &Cache{builder: b, results: memo.New[result](maxBytes)}
}

// Build returns the Builder's result for the same input. The contents of the files must not be changed. An input that cannot be encoded is an error.
func (c *Cache) Build(ctx context.Context, in Input) (tree.Files, error) {
	key, err := digestInput(in)
	if err != nil {
		return nil, err
	}
	if r, ok := c.results.Get(key); ok {
		return maps.Clone(r.files), r.err
	}
	files, err := c.builder.Build(ctx, in)
	if late := (&TimeoutError{}); !errors.As(err, &late) {
		r := result{files: maps.Clone(files), err: err}
		c.results.Put(key, r, r.sizeInBytes())
	}
	return files, err
}

func (r result) sizeInBytes() int {
	n := 0
	for name, b := range r.files {
		n += len(name) + len(b)
	}
	if r.err != nil {
		n += len(r.err.Error())
	}
	return n
}

// digestInput returns the digest of everything that a rendering depends on.
func digestInput(in Input) (memo.Key, error) {
	spec := catalogv1alpha1.BlueprintSpec{}
	if in.Blueprint != nil {
		spec = in.Blueprint.Spec
	}
	//nolint:musttag // The JSON is only digested.
	b, err := json.Marshal(struct {
		Version   int32
		Name      string
		Blueprint catalogv1alpha1.BlueprintSpec
		Intent    json.RawMessage
		Site      Site
		Claim     Claim
		Track     string
	}{Version, in.blueprintName(), spec, in.Intent.Canonical(), in.Site, in.Claim, in.Track})
	return sha256.Sum256(b), errors.Wrap(err, "cannot encode the input of the renderer")
}
