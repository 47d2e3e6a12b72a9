package git

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// modestBytes is what an answer may have on the wire, and its objects in memory, without waiting for others.
	modestBytes = 8 << 20

	// largeTime is how long a large answer may take to arrive while another namespace waits for its turn, and wantedTime how often that is
	// looked at from then on.
	largeTime  = 10 * time.Second
	wantedTime = time.Second
)

// A Budget bounds the memory of all operations that share it: many answers that are modest, and one at a time that is not. Modest ones
// never wait, and of the large ones each namespace has its turn: a slow one is given up while another namespace waits.
type Budget struct {
	large *shares.Places
	// account is who pays.
	account  shares.Place
	patience time.Duration
}

// NewBudget returns a budget that nobody uses yet.
func NewBudget() *Budget {
	return &Budget{large: shares.NewPlaces(shares.Limits{PerHost: 1}), patience: largeTime}
}

// Share makes the client keep to a budget, of which its remote's namespace has its turn. It must be called before the client is used.
func (c *Client) Share(b *Budget) {
	c.budget = &Budget{large: b.large, account: shares.Place{Namespace: c.remote.Namespace}, patience: b.patience}
}

// A share is what one operation has of a budget.
type share struct {
	of *Budget
	// giveUp ends the answer that is read.
	giveUp func() error
	free   func()
}

// grow waits until so many bytes may be used. It returns an error if the context ends before.
func (s *share) grow(ctx context.Context, bytes int64) error {
	if s.of == nil || s.free != nil || bytes <= modestBytes {
		return nil
	}
	var err error
	s.free, err = s.of.large.Acquire(ctx, s.of.account)
	return err
}

func (s *share) release() {
	if s.free != nil {
		s.free()
		s.free = nil
	}
}

// read all of an answer. It returns context.DeadlineExceeded for one that was given up.
func (s *share) read(ctx context.Context, r io.Reader) (*chunks, error) {
	c := &chunks{}
	if err := c.readFrom(io.LimitReader(r, modestBytes)); err != nil || c.size < modestBytes {
		return c, err
	}
	if err := s.grow(ctx, modestBytes+1); err != nil {
		return nil, err
	}
	gaveUp, stop := s.giveUpWhenWanted()
	err := c.readFrom(r)
	stop()
	if gaveUp.Load() {
		return nil, context.DeadlineExceeded
	}
	return c, err
}

// giveUpWhenWanted ends the answer once its patience is over and another namespace waits, until it is stopped.
func (s *share) giveUpWhenWanted() (gaveUp *atomic.Bool, stop func()) {
	gaveUp = &atomic.Bool{}
	ctx, cancel := context.WithCancel(context.Background())
	if s.of == nil || s.giveUp == nil {
		return gaveUp, cancel
	}
	go func() {
		for wait := s.of.patience; ctx.Err() == nil; wait = min(wait, wantedTime) {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
				if s.of.large.IsWanted(s.of.account) {
					gaveUp.Store(true)
					_ = s.giveUp() // Its reader ends with an error.
					return
				}
			}
		}
	}()
	return gaveUp, cancel
}
