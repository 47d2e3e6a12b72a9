package connection

import (
	"context"
	"time"
)

// CancelAfter returns a context that is cancelled when the timeout has passed. It has no deadline: the client refuses a request that its rate
// limit would begin after a deadline, with an error that does not say that time is up.
func CancelAfter(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(timeout, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}
