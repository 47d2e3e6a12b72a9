// Package backoff has the errors of a repository that all callers get until it is time to try again, and the waits of each class of errors.
package backoff

import (
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// A retryPolicy has the first wait of a backoff, and the limit of its waits.
type retryPolicy struct {
	first time.Duration
	limit time.Duration
}

// retryPolicyFor returns the policy for an error. Transient errors are retried soon, and errors that a user has to repair are not: changed
// credentials or a changed object have another identity, and do not wait. A push that lost a race, which is not a fast-forward, has no backoff:
// package repository retries it. All concealed errors have one policy: the user sees by the name server or by the proxy when the provider tries again,
// and would learn the class from it.
func retryPolicyFor(err error) retryPolicy {
	if failure.IsConcealed(err) {
		return retryPolicy{first: 15 * time.Second, limit: 5 * time.Minute}
	}
	switch failure.ClassOf(err) {
	case failure.ClassAuth, failure.ClassTrust, failure.ClassAddress, failure.ClassNotFound:
		return retryPolicy{first: 15 * time.Second, limit: 5 * time.Minute}
	case failure.ClassPolicy, failure.ClassStateRefused, failure.ClassTooLarge, failure.ClassTooCostly, failure.ClassOccupied, failure.ClassInvalid:
		return retryPolicy{first: 15 * time.Second, limit: 10 * time.Minute}
	}
	return retryPolicy{first: time.Second, limit: time.Minute}
}

// A Backoff is an error that all callers get until it is time to try again. The wait doubles with each failure.
type Backoff struct {
	cause error
	until time.Time
	next  time.Duration

	// failedAt is the time of the last failure.
	failedAt time.Time
}

// Cause returns the error of the last try, also when it is time to try again. It is nil if the last try succeeded.
func (b *Backoff) Cause() error { return b.cause }

// FailedAt returns the time of the last try, if it failed.
func (b *Backoff) FailedAt() time.Time { return b.failedAt }

// CurrentError returns the error, or nil if the last try succeeded or it is time to try again.
func (b *Backoff) CurrentError(now time.Time) error {
	if b.cause == nil || !now.Before(b.until) {
		return nil
	}
	return b.cause
}

// ErrorSince is CurrentError, but a failure from before a time is not waited out: a user asked at that time for another try.
func (b *Backoff) ErrorSince(notBefore, now time.Time) error {
	if b.failedAt.Before(notBefore) {
		return nil
	}
	return b.CurrentError(now)
}

// RecordResult records how a try ended.
func (b *Backoff) RecordResult(err error, now time.Time) {
	if err == nil {
		*b = Backoff{}
		return
	}
	p := retryPolicyFor(err)
	wait := min(max(b.next, p.first), p.limit)
	*b = Backoff{cause: err, until: now.Add(wait), next: 2 * wait, failedAt: now}
}

// IsShared reports whether the next caller would get the error too, since it is not about one delivery or commit.
func IsShared(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassTransient, failure.ClassAuth, failure.ClassTrust, failure.ClassAddress, failure.ClassNotFound, failure.ClassStateRefused:
		return true
	}
	return false
}
