package repository

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
)

const (
	// causeInterval is how long a cause is not reported again.
	causeInterval = time.Hour

	// maxCauses is how many causes a repository has reported within that time. Further ones are not reported: a server may choose the words.
	maxCauses = 16
)

// A ConcealedFailure is why a private address could not be read, which the error does not say.
type ConcealedFailure struct {
	// Namespace of the configuration.
	Namespace string
	// URL of the repository, without credentials.
	URL string
	// Cause is the concealed error.
	Cause string
}

// reportedCauses remembers which causes were reported. The zero value is ready to use. It is safe for concurrent use.
type reportedCauses struct {
	mu sync.Mutex
	at map[string]time.Time
}

// shouldReport reports whether a cause is new, and remembers it.
func (c *reportedCauses) shouldReport(cause string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.at, func(_ string, timestamp time.Time) bool { return now.Sub(timestamp) >= causeInterval })
	if _, ok := c.at[cause]; ok || len(c.at) >= maxCauses {
		return false
	}
	if c.at == nil {
		c.at = map[string]time.Time{}
	}
	c.at[cause] = now
	return true
}

// runOperation runs an operation at the repository's host, and reports a new concealed cause. A panic is its error: a message of the server
// may be the cause.
func (r *Repository) runOperation(ctx context.Context, fn func(context.Context) error) error {
	err := r.host.runOperation(ctx, func(ctx context.Context) error {
		return recoverPanic("read or change the repository", func() error { return fn(ctx) })
	})
	cause := failure.CauseOf(err)
	if cause != "" && r.causes.shouldReport(cause, r.pool.options.Now()) {
		r.pool.options.Concealed(ConcealedFailure{Namespace: r.namespace, URL: r.currentClient().Remote().URL, Cause: cause})
	}
	return err
}
