package repository

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/shares"
)

// glance is how long anybody waits for a host that was slow the last time.
const glance = 100 * time.Millisecond

// A host is a server of repositories, as the configurations of one namespace reach it.
type host struct {
	slots    *shares.Places
	place    shares.Place
	patience time.Duration
	glance   time.Duration
	slow     atomic.Bool

	// users are the repositories that are on the host.
	users int
}

// do an operation when the host has room for one. The time that it waits for that is not the operation's.
func (h *host) do(ctx context.Context, fn func(context.Context) error) error {
	free, err := h.acquireSlot(ctx)
	if err != nil {
		return &failure.Error{Class: failure.ClassTransient, Detail: "cannot reach the repository: its host is busy with others that did not get an answer"}
	}
	defer free()
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	timer := time.AfterFunc(h.patience, func() { h.slow.Store(true) })
	err = fn(ctx)
	if timer.Stop() {
		h.slow.Store(false)
	}
	return err
}

func (h *host) acquireSlot(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	return h.slots.Acquire(ctx, h.place)
}

// wait is how long somebody may wait for an answer.
func (h *host) wait() time.Duration {
	if h.slow.Load() {
		return min(h.glance, h.patience)
	}
	return h.patience
}
