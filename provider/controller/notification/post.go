package notification

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// busyWait is how long a post waits that could not begin, for another reason than its receiver, or because the one before it was given up.
const busyWait = 2 * time.Second

// A turn is what one receiver is posted in one reconcile, and what comes of it.
type turn struct {
	receiver string
	pending  []notification.Pending

	// ended are the ids of the outcomes that are not posted to the receiver again.
	ended []string

	// retry is how long to wait for the next post, or 0.
	retry time.Duration
}

// turnsOf returns the turns of all receivers that outcomes wait for, the oldest outcome of each first.
func turnsOf(all []notification.Pending) []*turn {
	var out []*turn
	for _, p := range all {
		for _, key := range p.Receivers {
			i := slices.IndexFunc(out, func(t *turn) bool { return t.receiver == key })
			if i < 0 {
				i, out = len(out), append(out, &turn{receiver: key})
			}
			out[i].pending = append(out[i].pending, p)
		}
	}
	return out
}

// postPending posts what is pending, to all receivers at once, and writes the record if one of them took something. It returns how long to wait for the
// next post, or 0.
func (r *Reconciler) postPending(ctx context.Context, key types.NamespacedName, rec *storedRecord) (time.Duration, error) {
	turns := turnsOf(rec.Pending)
	all := sync.WaitGroup{}
	for _, t := range turns {
		all.Go(func() { r.takeTurn(ctx, t) })
	}
	all.Wait()
	retry, changed := time.Duration(0), false
	for _, t := range turns {
		retry = soonest(retry, t.retry)
		for _, id := range t.ended {
			rec.Taken(id, t.receiver)
			changed = true
		}
	}
	if !changed {
		return retry, nil
	}
	return retry, r.records.put(ctx, key, rec)
}

// takeTurn posts to one receiver what is due, the oldest outcome first. A receiver that does not answer gets nothing else before the next try; one that
// refuses an outcome may take the next one.
func (r *Reconciler) takeTurn(ctx context.Context, t *turn) {
	for i := range t.pending {
		a := notification.Attempt{ID: t.pending[i].ID(), Receiver: t.receiver}
		if wait, isOutage := r.backoff.Remaining(a, r.now()); wait > 0 {
			t.retry = soonest(t.retry, wait)
			if isOutage {
				return
			}
			continue
		}
		ended, retry, goOn := r.postOne(ctx, a, &t.pending[i])
		if ended {
			t.ended = append(t.ended, a.ID)
		}
		t.retry = soonest(t.retry, retry)
		if !goOn {
			return
		}
	}
}

// postOne posts one outcome to one receiver. It returns whether that has ended, how long to wait for the next post, and whether the receiver may take
// other outcomes now.
func (r *Reconciler) postOne(ctx context.Context, a notification.Attempt, p *notification.Pending) (ended bool, retry time.Duration, goOn bool) {
	var host string
	err := panics.Recover("post a notification", func() error {
		to, at, err := r.receiverFor(ctx, p, a.Receiver)
		if host = at; err != nil {
			return err
		}
		return r.poster.Post(ctx, to, p)
	})
	switch {
	case err == nil:
		r.end(a, telemetry.NotificationDelivered)
		return true, 0, true
	case errors.Is(err, errReceiverGone):
		r.end(a, telemetry.NotificationDropped)
		return true, 0, true
	case ctx.Err() != nil, !isFailure(err):
		return false, busyWait, false
	}
	r.counter.Notified(telemetry.NotificationFailed)
	if r.now().Sub(p.At.Time) >= notification.RetryFor {
		r.giveUp(ctx, a, p, host, err)
		return true, busyWait, !notification.IsOutage(err) // Later outcomes have not been posted for as long.
	}
	if r.backoff.Fail(a, err, r.now()) {
		r.reportDelayed(ctx, a, p, host, err)
	}
	retry, isOutage := r.backoff.Remaining(a, r.now())
	return false, retry, !isOutage
}

// isFailure is true for an error of a receiver or of its configuration, and for a panic, which either may cause again. Others, such as those of the API server,
// end by themselves.
func isFailure(err error) bool {
	var (
		panicked   *panics.Error
		unanswered fetch.Error
		rejected   *notification.RejectedError
		config     configError
	)
	return errors.As(err, &panicked) || errors.As(err, &unanswered) || errors.As(err, &rejected) || errors.As(err, &config)
}

// end records that an outcome is not posted to a receiver again.
func (r *Reconciler) end(a notification.Attempt, result telemetry.NotificationResult) {
	r.backoff.Forget(a)
	r.counter.Notified(result)
}

// giveUp ends the posts of an outcome that a receiver did not take.
func (r *Reconciler) giveUp(ctx context.Context, a notification.Attempt, p *notification.Pending, host string, cause error) {
	r.end(a, telemetry.NotificationGivenUp)
	r.reportGivenUp(ctx, a, p, host, cause)
	r.logOutcome("Notification given up", p, "host", host, "error", cause)
}

// logOutcome logs what was done, or could not be done, about the notification of an outcome.
func (r *Reconciler) logOutcome(said string, p *notification.Pending, more ...any) {
	d := p.Deployment
	values := []any{"claim", d.Namespace + "/" + d.Name, "group", r.gvk.Group, "revision", p.Revision, "request", p.Request, "outcome", p.Result}
	r.log.Info(said, append(values, more...)...)
}
