package catalog

import (
	"crypto/sha256"
	"encoding/json"
	"io"
	"reflect"

	"github.com/intentplane/intentplane/apis/memo"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// decodedFactor is the approximate ratio of the size of a decoded object to the size of its JSON.
const decodedFactor = 3

// A Cache remembers decoded objects of the catalog by their JSON: nearly every call is given the same objects again, and to decode them would take
// most of its time. It may be used by several goroutines. A nil Cache stores nothing.
type Cache struct{ objects *memo.Memo[any] }

// NewCache returns a Cache that holds objects of about maxBytes.
func NewCache(maxBytes int) *Cache { return &Cache{objects: memo.New[any](maxBytes)} }

// Resolve is the function Resolve with a cache.
func (c *Cache) Resolve(q Query, answers Answers) (*Selection, []Need, error) {
	d := &requirements{answers: answers, cache: c, given: sha256.New()}
	s, needs, err := resolveQuery(d, q)
	if s != nil {
		s.Key = memo.Key(d.given.Sum(nil))
	}
	return s, needs, err
}

// Requests returns the open RolloutRequests of a deployment that were given. It returns an error for objects that cannot be decoded.
func (c *Cache) Requests(claimRef rolloutv1alpha1.ClaimReference, answers Answers) ([]rolloutv1alpha1.RolloutRequest, error) {
	return requireObjects[rolloutv1alpha1.RolloutRequest](&requirements{answers: answers, cache: c, given: sha256.New()}, RequestsNeed(claimRef))
}

// decodeCached decodes an object, or returns the cached object of the same JSON. Objects that it refers to are shared: no caller may change them.
func decodeCached[T any](d *requirements, raw json.RawMessage) (T, error) {
	var out T
	if d.cache == nil {
		return out, json.Unmarshal(raw, &out) //nolint:wrapcheck // The caller says what it decodes.
	}
	key := cacheKeyOfObject[T](raw)
	_, _ = d.given.Write(key[:])
	if cached, ok := d.cache.objects.Get(key); ok {
		value, _ := cached.(T) // The key depends on the type.
		return value, nil
	}
	err := json.Unmarshal(raw, &out)
	if err == nil {
		d.cache.objects.Put(key, out, decodedFactor*len(raw))
	}
	return out, err //nolint:wrapcheck // The caller says what it decodes.
}

// cacheKeyOfObject returns the cache key of a decoded object: its JSON and its type, because one object is decoded into several types.
func cacheKeyOfObject[T any](raw json.RawMessage) memo.Key {
	h := sha256.New()
	_, _ = io.WriteString(h, reflect.TypeFor[T]().String())
	_, _ = h.Write(raw)
	return memo.Key(h.Sum(nil))
}
