package promql

import "k8s.io/utils/lru"

// A Reader reads queries, and caches the last results: parsing takes long, and the same queries are read again and again. It may be
// used by several goroutines.
type Reader struct {
	templates, reaches *lru.Cache
}

// NewReader returns a Reader that caches so many queries.
func NewReader(queries int) *Reader {
	return &Reader{templates: lru.New(queries), reaches: lru.New(queries)}
}

// Parse returns the cached result of the function Parse for a query.
func (r *Reader) Parse(text string) (*Template, error) {
	return readThroughCache(r.templates, text, Parse)
}

// ReachOf returns the cached result of the function ReachOf for a query.
func (r *Reader) ReachOf(text string) (Reach, error) {
	return readThroughCache(r.reaches, text, ReachOf)
}

// A cachedResult is a parsed value, or the error of parsing it.
type cachedResult[V any] struct {
	value V
	err   error
}

// readThroughCache returns the cached result of reading a text, or reads it. Errors are cached, too: parsing an invalid text costs as much.
func readThroughCache[V any](c *lru.Cache, text string, read func(string) (V, error)) (V, error) {
	if cached, ok := c.Get(text); ok {
		if r, ok := cached.(cachedResult[V]); ok {
			return r.value, r.err
		}
	}
	r := cachedResult[V]{}
	r.value, r.err = read(text)
	c.Add(text, r)
	return r.value, r.err
}
