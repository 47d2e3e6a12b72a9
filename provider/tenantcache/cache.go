// Package tenantcache is a cache of values with a bounded memory, which many namespaces share.
package tenantcache

import (
	"container/list"
	"sync"
)

// itemOverhead is the approximate memory of an item beside its key and its value.
const itemOverhead = 256

// A Cache remembers values until they take too many bytes together. Then the namespace that takes the most drops its least recently used
// values, so that no namespace takes the place of others. It is safe for concurrent use.
type Cache[V any] struct {
	mu    sync.Mutex
	limit int
	size  int
	items map[string]*list.Element
	// used are the items of each namespace, the most recently used in front.
	used  map[string]*list.List
	bytes map[string]int
}

type item[V any] struct {
	namespace, key string
	value          V
	size           int
}

// New returns a Cache that holds values of so many bytes together.
func New[V any](limit int) *Cache[V] {
	return &Cache[V]{limit: limit, items: map[string]*list.Element{}, used: map[string]*list.List{}, bytes: map[string]int{}}
}

// Get returns the value of a key, and whether it is remembered.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		var zero V
		return zero, false
	}
	i := itemOfElement[V](e)
	c.used[i.namespace].MoveToFront(e)
	return i.value, true
}

// Put stores a value that takes so many bytes, for which a namespace pays.
func (c *Cache[V]) Put(namespace, key string, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.items[key]; ok {
		c.dropItem(old)
	}
	if c.used[namespace] == nil {
		c.used[namespace] = list.New()
	}
	i := item[V]{namespace: namespace, key: key, value: value, size: size + len(key) + itemOverhead}
	c.items[key] = c.used[namespace].PushFront(i)
	c.size += i.size
	c.bytes[namespace] += i.size
	for c.size > c.limit {
		c.dropItem(c.used[c.largestNamespace()].Back())
	}
}

// Drop drops the value of a key, if it is remembered.
func (c *Cache[V]) Drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		c.dropItem(e)
	}
}

// largestNamespace is the namespace that takes the most.
func (c *Cache[V]) largestNamespace() string {
	out := ""
	for namespace, bytes := range c.bytes {
		if bytes > c.bytes[out] {
			out = namespace
		}
	}
	return out
}

func (c *Cache[V]) dropItem(e *list.Element) {
	i := itemOfElement[V](e)
	c.used[i.namespace].Remove(e)
	delete(c.items, i.key)
	c.size -= i.size
	if c.bytes[i.namespace] -= i.size; c.bytes[i.namespace] == 0 {
		delete(c.bytes, i.namespace)
		delete(c.used, i.namespace)
	}
}

func itemOfElement[V any](e *list.Element) item[V] {
	i, _ := e.Value.(item[V]) // Nothing else is put there.
	return i
}
