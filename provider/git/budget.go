package git

import (
	"context"
	"io"
)

// modestBytes is what an answer may have on the wire, and its objects in memory, without waiting for others.
const modestBytes = 8 << 20

// A Budget bounds the memory of all operations that share it: many answers that are modest, and one at a time that is not. Modest ones
// never wait, so a large answer of a slow server holds up nothing but other large ones.
type Budget struct {
	large chan struct{}
}

// NewBudget returns a budget that nobody uses yet.
func NewBudget() *Budget {
	return &Budget{large: make(chan struct{}, 1)}
}

// Share makes the client keep to a budget. It must be called before the client is used.
func (c *Client) Share(b *Budget) { c.budget = b }

// A share is what one operation has of a budget.
type share struct {
	of   *Budget
	held bool
}

// grow waits until so many bytes may be used. It returns an error if the context ends before.
func (s *share) grow(ctx context.Context, bytes int64) error {
	if s.of == nil || s.held || bytes <= modestBytes {
		return nil
	}
	select {
	case s.of.large <- struct{}{}:
		s.held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *share) release() {
	if s.held {
		<-s.of.large
		s.held = false
	}
}

// read all of an answer.
func (s *share) read(ctx context.Context, r io.Reader) ([]byte, error) {
	head, err := io.ReadAll(io.LimitReader(r, modestBytes))
	if err != nil || len(head) < modestBytes {
		return head, err
	}
	if err := s.grow(ctx, modestBytes+1); err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(r)
	return append(head, rest...), err
}
