// Package memo is a cache of results with a limit in bytes.
package memo

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// entryBytes is the approximate memory of an entry, in bytes, beside its value.
const entryBytes = 512

// A Key is the digest of all that a result depends on.
type Key [sha256.Size]byte

// A Memo remembers values. It may be used by several goroutines.
type Memo[V any] struct {
	maxBytes int

	mu      sync.Mutex
	entries map[Key]*list.Element
	recent  *list.List
	bytes   int
}

type entry[V any] struct {
	key   Key
	value V
	bytes int
}

// New returns a Memo that holds up to about maxBytes. It drops the value that was not used for the longest time first.
func New[V any](maxBytes int) *Memo[V] {
	return &Memo[V]{maxBytes: maxBytes, entries: map[Key]*list.Element{}, recent: list.New()}
}

// Get returns the value that was put under a key, and whether it is still there.
func (m *Memo[V]) Get(k Key) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.entries[k]
	if !ok {
		var zero V
		return zero, false
	}
	m.recent.MoveToFront(found)
	return entryOfElement[V](found).value, true
}

// Put remembers a value of so many bytes. A value that is larger than the whole Memo is not remembered.
func (m *Memo[V]) Put(k Key, value V, bytes int) {
	bytes += entryBytes
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entries[k]; ok || bytes > m.maxBytes {
		return
	}
	m.entries[k] = m.recent.PushFront(&entry[V]{key: k, value: value, bytes: bytes})
	m.bytes += bytes
	for m.bytes > m.maxBytes {
		oldest := entryOfElement[V](m.recent.Back())
		m.recent.Remove(m.recent.Back())
		delete(m.entries, oldest.key)
		m.bytes -= oldest.bytes
	}
}

// Remember returns the cached value for a key, or else the computed value, of so many bytes. It returns the error of compute. A value with an error is not
// cached.
func (m *Memo[V]) Remember(k Key, compute func() (value V, bytes int, err error)) (V, error) {
	if cached, ok := m.Get(k); ok {
		return cached, nil
	}
	value, bytes, err := compute()
	if err == nil {
		m.Put(k, value, bytes)
	}
	return value, err
}

func entryOfElement[V any](e *list.Element) *entry[V] {
	// Nothing else is ever put into the list.
	return e.Value.(*entry[V]) //nolint:forcetypeassert // See above.
}

// KeyOf returns the key of a text that has all that a result depends on.
func KeyOf(text string) Key { return sha256.Sum256([]byte(text)) }
