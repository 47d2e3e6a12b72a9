package repository

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
// contention.go retries it. All concealed errors have one policy: the user sees by the name server or by the proxy when the provider tries again,
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

// A backoff is an error that all callers get until it is time to try again. The wait doubles with each failure.
type backoff struct {
	cause error
	until time.Time
	next  time.Duration

	// failedAt is when the last try failed.
	failedAt time.Time
}

// currentError returns the error, or nil if the last try succeeded or it is time to try again.
func (t *backoff) currentError(now time.Time) error {
	if t.cause == nil || !now.Before(t.until) {
		return nil
	}
	return t.cause
}

// errorSince is currentError, but a failure from before a time is not waited out: a user asked at that time for another try.
func (t *backoff) errorSince(notBefore, now time.Time) error {
	if t.failedAt.Before(notBefore) {
		return nil
	}
	return t.currentError(now)
}

// recordResult records how a try ended.
func (t *backoff) recordResult(err error, now time.Time) {
	if err == nil {
		*t = backoff{}
		return
	}
	p := retryPolicyFor(err)
	wait := min(max(t.next, p.first), p.limit)
	*t = backoff{cause: err, until: now.Add(wait), next: 2 * wait, failedAt: now}
}

// isSharedFailure reports whether the next caller would get the error too, since it is not about one delivery or commit.
func isSharedFailure(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassTransient, failure.ClassAuth, failure.ClassTrust, failure.ClassAddress, failure.ClassNotFound, failure.ClassStateRefused:
		return true
	}
	return false
}
