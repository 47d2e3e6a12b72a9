// Package memory has the account of the memory that peers cause in the process: answers of servers that are being read, and decoded objects for as long as
// caches and reconciles hold them.
//
// The process has one account, and each use of it names the namespace that pays, or has a bound of its own. So no caller can leave the account out or have a
// second one, and its bounds hold for Git servers, API servers and web servers together, however many of them are hostile at once.
package memory

import (
	"context"
	"runtime"
	"sync/atomic"
)

const (
	mebibyte = 1 << 20

	// namespaceBytes limits the memory of one namespace: it has room for a large answer beside the snapshot that a reconcile of it reads. sharedBytes limits
	// the memory of all namespaces together beyond guaranteedBytes of each: beside one that uses all of its share there is room for a large answer to another one.
	namespaceBytes = 64*mebibyte + largeBytes
	sharedBytes    = namespaceBytes - guaranteedBytes + largeBytes

	// guaranteedBytes is the memory that a namespace has for itself: neither do others use it, nor does it delay others. The places for operations bound how many
	// namespaces need it.
	guaranteedBytes = 24 * mebibyte

	// administratorBytes limits the answers to configurations of administrators, which no namespace delays.
	administratorBytes = 2 * (sharedBytes + guaranteedBytes)

	// largeBytes is the memory of the largest answer of a Git server with its objects.
	largeBytes = 112 * mebibyte
)

// bounded is the number of bytes in memory that has its own bound.
var bounded atomic.Int64 //nolint:gochecknoglobals // A part of the account of the process.

// process has the two pools of the process.
var process = struct{ administrators, tenants *pool }{ //nolint:gochecknoglobals // One account for the process: no caller can have another one.
	administrators: newPool(limits{
		namespace: administratorBytes, guaranteed: guaranteedBytes, shared: administratorBytes - guaranteedBytes, large: largeBytes,
	}, collectGarbage),
	tenants: newPool(limits{namespace: namespaceBytes, guaranteed: guaranteedBytes, shared: sharedBytes, large: largeBytes}, collectGarbage),
}

// poolOfNamespace returns the pool that a namespace shares. An empty namespace stands for administrators.
func poolOfNamespace(namespace string) *pool {
	if namespace == "" {
		return process.administrators
	}
	return process.tenants
}

// Reserve waits until a namespace has room for some bytes, at most a few MiB, and returns the function that releases them, which may be called more than
// once. The reservations of a namespace get room in their order. It returns the error of the context if that ends before.
func Reserve(ctx context.Context, namespace string, bytes int64) (release func(), err error) {
	return poolOfNamespace(namespace).reserveMemory(ctx, newReservation(namespace, bytes))
}

// TryReserve reserves bytes without a wait. It returns false if the namespace has no room for them.
func TryReserve(namespace string, bytes int64) (release func(), ok bool) {
	return poolOfNamespace(namespace).tryReserveMemory(newReservation(namespace, bytes))
}

// ReserveLarge waits until a namespace has its turn with the memory for a large answer, of which all namespaces read one at a time, as administrators do. It
// does the same as Reserve. A namespace that waits for its own memory keeps no other namespace waiting.
func ReserveLarge(ctx context.Context, namespace string) (release func(), err error) {
	return poolOfNamespace(namespace).reserveMemory(ctx, newLargeReservation(namespace))
}

// TryReserveLarge reserves the memory for a large answer without a wait. It returns false if it is not free: then the namespace has its turn from then on, as
// if it waited.
func TryReserveLarge(namespace string) (release func(), ok bool) {
	return poolOfNamespace(namespace).tryReserveMemory(newLargeReservation(namespace))
}

// IsLargeWanted reports whether another namespace waits for the memory for a large answer that one has.
func IsLargeWanted(namespace string) bool { return poolOfNamespace(namespace).isLargeWanted(namespace) }

// AwaitsLarge reports whether a namespace waits for the memory for a large answer.
func AwaitsLarge(namespace string) bool { return poolOfNamespace(namespace).awaitsLarge(namespace) }

// Hold counts bytes that are in memory already, or gives them back if they are negative. They are counted although the namespace has no room: then its next
// reservation waits.
func Hold(namespace string, bytes int64) {
	poolOfNamespace(namespace).holdMemoryBytes(namespace, bytes)
}

// HoldWhile counts bytes until the garbage collector finds that nothing refers to an object any more.
func HoldWhile[T any](object *T, namespace string, bytes int64) {
	if bytes == 0 {
		return
	}
	Hold(namespace, bytes)
	runtime.AddCleanup(object, func(held int64) { Hold(namespace, -held) }, bytes)
}

// CountBounded counts bytes that stay in memory and have a bound of their own, or gives them back if they are negative. No reservation waits for them: they
// would be in its way for ever.
func CountBounded(bytes int64) { bounded.Add(bytes) }

// Used returns the bytes that administrators and all namespaces use, and the memory that has its own bound.
func Used() int64 {
	return process.administrators.usedBytes() + process.tenants.usedBytes() + bounded.Load()
}
