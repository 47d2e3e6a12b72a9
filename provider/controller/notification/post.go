package notification

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/provider/panics"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// busyWait is the delay of a post that could not begin for another reason than its receiver, or because the previous post was given up.
const busyWait = 2 * time.Second

// A turn has the posts to one receiver in one reconcile, with their results.
type turn struct {
	id           notification.ReceiverID
	config       notification.Config
	receiver     *configv1alpha1.Notification
	controlPlane string

	// pending are the notifications after the mark, the oldest first.
	pending []notification.Notification

	// ended has the outcomes that are not posted to the receiver again, and the outcomes that it does not select.
	ended map[string]bool

	// retry is the time to wait for the next post, or 0.
	retry time.Duration
}

// addNotification adds a notification. A notification of an unwanted kind has ended: it is not posted either where the receiver wants such outcomes later.
func (t *turn) addNotification(n notification.Notification) {
	t.pending = append(t.pending, n)
	if !slices.Contains(t.receiver.Events, n.Result) {
		t.ended[n.ID()] = true
	}
}

// newPostAttempt returns the attempt to post a notification.
func (t *turn) newPostAttempt(n *notification.Notification) notification.Attempt {
	return notification.Attempt{ID: n.ID(), Receiver: t.id}
}

// countEndedPrefix returns the number of leading notifications that are not posted again.
func (t *turn) countEndedPrefix() int {
	i := slices.IndexFunc(t.pending, func(n notification.Notification) bool { return !t.ended[n.ID()] })
	if i < 0 {
		return len(t.pending)
	}
	return i
}

// countNotifications returns the number of notifications that receivers have not taken.
func countNotifications(turns []*turn) int {
	n := 0
	for _, t := range turns {
		n += len(t.pending) - len(t.ended)
	}
	return n
}

// postToAllReceivers posts pending notifications, to all receivers at once. It returns the time to wait for the next post, or 0.
func (r *Reconciler) postToAllReceivers(ctx context.Context, backoff *notification.Backoff, turns []*turn) time.Duration {
	var attempts []notification.Attempt
	for _, t := range turns {
		for i := range t.pending {
			attempts = append(attempts, t.newPostAttempt(&t.pending[i]))
		}
	}
	backoff.KeepOnly(attempts)
	all := sync.WaitGroup{}
	for _, t := range turns {
		all.Go(func() { r.postToReceiver(ctx, backoff, t) })
	}
	all.Wait()
	retry := time.Duration(0)
	for _, t := range turns {
		retry = shorterWait(retry, t.retry)
	}
	return retry
}

// postToReceiver posts the due notifications of one receiver, the oldest outcome first. A receiver that does not answer gets nothing else before
// the next try; a receiver that refuses an outcome may take the next one.
func (r *Reconciler) postToReceiver(ctx context.Context, backoff *notification.Backoff, t *turn) {
	isDown := false
	for i := range t.pending {
		a := t.newPostAttempt(&t.pending[i])
		if t.ended[a.ID] {
			continue
		}
		if !isDown && !backoff.HasEnded(a) {
			retry, isOutage := r.tryPostOutcome(ctx, backoff, t, &t.pending[i])
			t.retry, isDown = shorterWait(t.retry, retry), isOutage
		}
		if backoff.HasEnded(a) {
			t.ended[a.ID] = true
		}
	}
}

// tryPostOutcome posts one outcome to one receiver, if it is due. It returns the time to wait for the next post, and whether the receiver gets nothing else until then.
func (r *Reconciler) tryPostOutcome(ctx context.Context, backoff *notification.Backoff, t *turn, n *notification.Notification) (retry time.Duration, isDown bool) {
	a := t.newPostAttempt(n)
	if wait, isOutage := backoff.Remaining(a, r.now()); wait > 0 {
		return wait, isOutage
	}
	host, err := r.postOutcome(ctx, t, n)
	switch {
	case err == nil:
		backoff.End(a)
		r.counter.Notified(telemetry.NotificationDelivered)
		return 0, false
	case ctx.Err() != nil, !isReceiverFailure(err):
		return busyWait, true
	}
	r.counter.Notified(telemetry.NotificationFailed)
	if r.now().Sub(n.At.Time) >= notification.RetryFor {
		backoff.End(a)
		r.giveUpOutcome(ctx, a, n, host, err)
		return busyWait, notification.IsOutage(err) // Later outcomes have not been posted for as long.
	}
	if backoff.Fail(a, err, r.now()) {
		r.reportDelayed(ctx, a, n, host, err)
	}
	return backoff.Remaining(a, r.now())
}

// postOutcome posts one outcome to one receiver. It returns the host of the receiver, where that is known.
func (r *Reconciler) postOutcome(ctx context.Context, t *turn, n *notification.Notification) (host string, err error) {
	err = panics.Recover("post a notification", func() error {
		target, named, err := r.receiverFor(ctx, t)
		if host = named; err != nil {
			return err
		}
		return r.poster.Post(ctx, target, n)
	})
	return host, err
}

// isReceiverFailure is true for an error of a receiver or of its configuration, and for a panic, which either may cause again. Other errors, such as
// errors of the API server, end by themselves.
func isReceiverFailure(err error) bool {
	var (
		panicked   *panics.Error
		unanswered fetch.Error
		rejected   *notification.RejectedError
		config     configError
	)
	return errors.As(err, &panicked) || errors.As(err, &unanswered) || errors.As(err, &rejected) || errors.As(err, &config)
}

// giveUpOutcome reports that an outcome is not posted again to a receiver that did not take it.
func (r *Reconciler) giveUpOutcome(ctx context.Context, a notification.Attempt, n *notification.Notification, host string, cause error) {
	r.counter.Notified(telemetry.NotificationGivenUp)
	r.reportGivenUp(ctx, a, n, host, cause)
	r.logNotification("Notification given up", n, "receiver", string(a.Receiver), "host", host, "error", cause)
}

// logNotification logs an action, or its failure, for the notification of an outcome.
func (r *Reconciler) logNotification(message string, n *notification.Notification, extra ...any) {
	d := n.Deployment
	values := []any{"claim", d.Namespace + "/" + d.Name, "group", r.gvk.Group, "revision", n.Revision, "request", n.Request, "outcome", n.Result}
	r.log.Info(message, append(values, extra...)...)
}
