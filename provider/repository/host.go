package repository

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/intentplane/intentplane/provider/git"
)

const (
	// atOnce is how many operations one host has to serve at the same time.
	atOnce = 3

	// glance is how long anybody waits for a host that was slow the last time.
	glance = 100 * time.Millisecond
)

// A host is a server of repositories.
type host struct {
	slots    chan struct{}
	patience time.Duration
	glance   time.Duration
	slow     atomic.Bool
}

func newHost(patience, glance time.Duration) *host {
	return &host{slots: make(chan struct{}, atOnce), patience: patience, glance: glance}
}

// do an operation when the host has room for one.
func (h *host) do(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, operation)
	defer cancel()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return &git.Error{Class: git.ClassTransient, Detail: "cannot reach the repository: its host is busy with others that did not get an answer"}
	}
	timer := time.AfterFunc(h.patience, func() { h.slow.Store(true) })
	err := fn(ctx)
	if timer.Stop() {
		h.slow.Store(false)
	}
	return err
}

// wait is how long somebody may wait for an answer.
func (h *host) wait() time.Duration {
	if h.slow.Load() {
		return min(h.glance, h.patience)
	}
	return h.patience
}
