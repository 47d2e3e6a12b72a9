package repository

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxBytes is what all deliveries that wait may bring together, in whatever repositories. More come again.
const maxBytes = 64 << 20

// underWay has what is being delivered, by object. Its lock is taken last.
type underWay struct {
	mu    sync.Mutex
	items map[types.NamespacedName]*item
	bytes int
}

func newUnderWay() underWay {
	return underWay{items: map[types.NamespacedName]*item{}}
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
	if u.bytes > 0 && u.bytes+i.Size > maxBytes {
		return false
	}
	u.items[i.Object] = i
	u.bytes += i.Size
	return true
}

func (u *underWay) remove(i *item) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes -= i.Size
	if u.items[i.Object] == i {
		delete(u.items, i.Object)
	}
}
