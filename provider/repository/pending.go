package repository

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxBytes is how many bytes all deliveries that wait may have, in all repositories. Others are tried again later.
	maxBytes = 64 << 20

	// maxBytesPerNamespace is the share of one namespace.
	maxBytesPerNamespace = 16 << 20
)

// pendingItems has the items under way, by object. Its lock is taken last.
type pendingItems struct {
	mu    sync.Mutex
	items map[types.NamespacedName]*item
	// bytes is the total, and bytesOf the total of each namespace.
	bytes   int
	bytesOf map[string]int
}

func newPendingItems() pendingItems {
	return pendingItems{items: map[types.NamespacedName]*item{}, bytesOf: map[string]int{}}
}

func (u *pendingItems) itemOfObject(key types.NamespacedName) (*item, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i, ok := u.items[key]
	return i, ok
}

// addPendingItem adds an item. It returns false if the item does not fit.
func (u *pendingItems) addPendingItem(i *item) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.hasRoomForItem(i) {
		return false
	}
	u.items[i.Object] = i
	u.bytes += i.Size
	u.bytesOf[i.Object.Namespace] += i.Size
	return true
}

// hasRoomForItem reports whether an item fits. The first one of a namespace always does, so that no number of namespaces keeps one out.
func (u *pendingItems) hasRoomForItem(i *item) bool {
	namespaceBytes := u.bytesOf[i.Object.Namespace]
	return namespaceBytes == 0 || namespaceBytes+i.Size <= maxBytesPerNamespace && u.bytes+i.Size <= maxBytes
}

func (u *pendingItems) removePendingItem(i *item) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.bytes -= i.Size
	if u.bytesOf[i.Object.Namespace] -= i.Size; u.bytesOf[i.Object.Namespace] == 0 {
		delete(u.bytesOf, i.Object.Namespace)
	}
	if u.items[i.Object] == i {
		delete(u.items, i.Object)
	}
}
