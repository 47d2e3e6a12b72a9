package repository

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/shares"
)

// quickPatience is how long an object waits for a host that was slow the last time.
const quickPatience = 100 * time.Millisecond

// A host is a server of repositories, as the configurations of one namespace reach it.
type host struct {
	slots         *shares.Places
	budget        *budget.Budget
	place         shares.Place
	patience      time.Duration
	quickPatience time.Duration
	slow          atomic.Bool
	// makeRoom drops large snapshots of the namespace. It may be nil.
	makeRoom func()

	// users are the repositories that are on the host.
	users int
}

// runOperation runs an operation, and once more if it has to wait for the lane of large answers: meanwhile it has neither a slot, nor a connection, nor memory.
// The lane is the slot of the second run: one that waited for a slot would keep the lane from others.
func (h *host) runOperation(ctx context.Context, fn func(context.Context) error) error {
	return h.budget.RunInTurn(ctx, budget.Operation{
		Run:         func(ctx context.Context) error { return h.runInSlot(ctx, fn) },
		RunWithLane: func(ctx context.Context) error { return h.runWithTimeout(ctx, fn) },
		MakeRoom:    h.makeRoom,
	})
}

// runInSlot runs an operation once the host has a free slot. The time that it waits for the slot does not count as the operation's.
func (h *host) runInSlot(ctx context.Context, fn func(context.Context) error) error {
	free, err := h.acquireSlot(ctx)
	if err != nil {
		return &failure.Error{Class: failure.ClassTransient, Detail: "cannot reach the repository: its host is busy with others that did not get an answer"}
	}
	defer free()
	return h.runWithTimeout(ctx, fn)
}

// runWithTimeout runs an operation within its timeout, and records whether the host is slow.
func (h *host) runWithTimeout(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	timer := time.AfterFunc(h.patience, func() { h.slow.Store(true) })
	err := fn(ctx)
	if timer.Stop() {
		h.slow.Store(false)
	}
	return err
}

func (h *host) acquireSlot(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	return h.slots.Acquire(ctx, h.place)
}

// currentPatience returns how long an object waits for an answer.
func (h *host) currentPatience() time.Duration {
	if h.slow.Load() {
		return min(h.quickPatience, h.patience)
	}
	return h.patience
}
