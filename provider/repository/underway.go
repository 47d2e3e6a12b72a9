package repository

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxBytes is what all deliveries that wait may bring together, in whatever repositories. More come again.
	maxBytes = 64 << 20

	// maxBytesPerNamespace is the share of one namespace.
	maxBytesPerNamespace = 16 << 20
)

// underWay has what is being delivered, by object. Its lock is taken last.
type underWay struct {
	mu    sync.Mutex
	items map[types.NamespacedName]*item
	// bytes of all, and those of each namespace.
	bytes int
	by    map[string]int
}

func newUnderWay() underWay {
	return underWay{items: map[types.NamespacedName]*item{}, by: map[string]int{}}
}

func (u *underWay) get(key types.NamespacedName) (*item, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i, ok := u.items[key]
	return i, ok
}

// add an item. It is false if there is no room.
func (u *underWay) add(i *item) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.hasRoom(i) {
		return false
	}
	u.items[i.Object] = i
	u.bytes += i.Size
	u.by[i.Object.Namespace] += i.Size
	return true
}

// hasRoom for an item. The first of a namespace goes however much others wait for, so that no number of namespaces keeps one out.
func (u *underWay) hasRoom(i *item) bool {
	own := u.by[i.Object.Namespace]
	return own == 0 || own+i.Size <= maxBytesPerNamespace && u.bytes+i.Size <= maxBytes
}

func (u *underWay) remove(i *item) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes -= i.Size
	if u.by[i.Object.Namespace] -= i.Size; u.by[i.Object.Namespace] == 0 {
		delete(u.by, i.Object.Namespace)
	}
	if u.items[i.Object] == i {
		delete(u.items, i.Object)
	}
}
