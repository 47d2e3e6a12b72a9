package server

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// requestsAtOnce is the number of requests that the API server gets from RunTasks at once.
const requestsAtOnce = 16

// A Task sends one request, and notes unreadable objects.
type Task func(ctx context.Context)

// RunTasks runs tasks side by side, and returns after their end.
func RunTasks(ctx context.Context, all ...Task) {
	g := errgroup.Group{}
	g.SetLimit(requestsAtOnce)
	for _, t := range all {
		g.Go(func() error {
			t(ctx)
			return nil
		})
	}
	_ = g.Wait() // No task returns an error.
}
