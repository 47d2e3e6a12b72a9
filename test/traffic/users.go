package traffic

import (
	"context"
	"sync"
	"time"
)

// connections is how many of them users keep open.
const connections = 64

// Users send requests at a constant rate, with or without answers.
type Users struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	answers Answers
}

// Start users who send so many requests in a second, until Stop or the end of the context.
func (t Target) Start(ctx context.Context, perSecond int) *Users {
	ctx, cancel := context.WithCancel(ctx)
	u := &Users{cancel: cancel, done: make(chan struct{})}
	go u.sendAtInterval(ctx, t, time.Second/time.Duration(perSecond))
	return u
}

func (u *Users) sendAtInterval(ctx context.Context, t Target, interval time.Duration) {
	hc, tick, requests := newHTTPClient(connections), time.NewTicker(interval), sync.WaitGroup{}
	defer close(u.done)
	defer requests.Wait()
	defer hc.CloseIdleConnections()
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A request that was sent is answered also after the end.
			requests.Go(func() { u.recordAnswer(t.sendRequest(context.WithoutCancel(ctx), hc)) })
		}
	}
}

func (u *Users) recordAnswer(a Answer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answers = append(u.answers, a)
}

// Answers that users got so far.
func (u *Users) Answers() Answers {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append(Answers{}, u.answers...)
}

// Stop the users, and return all answers that they got.
func (u *Users) Stop() Answers {
	u.cancel()
	<-u.done
	return u.Answers()
}
