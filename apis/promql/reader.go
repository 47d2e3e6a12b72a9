package promql

import "k8s.io/utils/lru"

// A Reader reads queries, and remembers the last ones: to read one takes long, and the same ones are read again and again. It may be
// used by several goroutines.
type Reader struct {
	templates, reaches *lru.Cache
}

// NewReader returns a Reader that remembers so many queries.
func NewReader(queries int) *Reader {
	return &Reader{templates: lru.New(queries), reaches: lru.New(queries)}
}

// Parse a query as Parse does. It returns the error that Parse does.
func (r *Reader) Parse(text string) (*Template, error) { return remember(r.templates, text, Parse) }

// ReachOf a query as ReachOf does. It returns the error that ReachOf does.
func (r *Reader) ReachOf(text string) (Reach, error) { return remember(r.reaches, text, ReachOf) }

// A reading is what was read, and what was wrong with it.
type reading[V any] struct {
	value V
	err   error
}

// remember what was read. What cannot be read costs as much.
func remember[V any](c *lru.Cache, text string, read func(string) (V, error)) (V, error) {
	if known, ok := c.Get(text); ok {
		if r, ok := known.(reading[V]); ok {
			return r.value, r.err
		}
	}
	r := reading[V]{}
	r.value, r.err = read(text)
	c.Add(text, r)
	return r.value, r.err
}
