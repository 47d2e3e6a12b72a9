package budget

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/memory"
)

const (
	// largeList is from which size on a list of refs needs a place, in bytes, and decodedPerListByte how much it takes decoded.
	largeList          = 256 << 10
	decodedPerListByte = 4

	// listsAtOnce is how many large lists of all namespaces are read at once, one of each namespace.
	listsAtOnce = 4

	// listTime is how long a large list may take from when it has its place.
	listTime = 20 * time.Second
)

// A ListMeter counts the bytes of one list of refs, and holds the place of a large list.
type ListMeter struct {
	budget *Budget
	read   int64
	until  time.Time
	leave  func()
}

type listMeterKey struct{}

// WithListMeter returns the context of a request for a list of refs, which the budget pays for, and its meter.
func WithListMeter(ctx context.Context, b *Budget) (context.Context, *ListMeter) {
	m := &ListMeter{budget: b, leave: func() {}}
	return context.WithValue(ctx, listMeterKey{}, m), m
}

// Free gives the place and the memory of the list back.
func (m *ListMeter) Free() {
	m.leave()
	memory.Hold(m.budget.account.Namespace, -m.read*decodedPerListByte)
	m.read = 0
}

// CountOf returns the function that counts bytes of the answer to a request. It is nil for a request that is not for a list of refs.
func CountOf(ctx context.Context) func(bytes int) error {
	m, ok := ctx.Value(listMeterKey{}).(*ListMeter)
	if !ok {
		return nil
	}
	return func(bytes int) error { return m.countListBytes(ctx, bytes) }
}

// countListBytes counts bytes. A large list waits for its place. It returns the error of the context, or context.DeadlineExceeded for a list that takes too long.
func (m *ListMeter) countListBytes(ctx context.Context, bytes int) error {
	m.read += int64(bytes)
	memory.Hold(m.budget.account.Namespace, int64(bytes)*decodedPerListByte)
	switch {
	case m.read <= largeList:
		return nil
	case m.until.IsZero():
		free, err := m.budget.lists.Acquire(ctx, m.budget.account)
		if err != nil {
			return err
		}
		m.leave, m.until = free, time.Now().Add(listTime)
	case time.Now().After(m.until):
		return context.DeadlineExceeded
	}
	return nil
}
