package repository

import (
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// A policy says when to try again.
type policy struct {
	first time.Duration
	most  time.Duration
}

// policyOf a class of errors. What passes by itself is tried again soon, what somebody has to change is not: who changes the
// credentials or the object comes with another identity, and is not held up. A lost race is tried again at once, elsewhere.
func policyOf(c failure.Class) policy {
	switch c {
	case failure.ClassAuth, failure.ClassTrust, failure.ClassAddress, failure.ClassNotFound:
		return policy{first: 15 * time.Second, most: 5 * time.Minute}
	case failure.ClassPolicy, failure.ClassStateRefused, failure.ClassTooLarge, failure.ClassOccupied, failure.ClassInvalid:
		return policy{first: 15 * time.Second, most: 10 * time.Minute}
	}
	return policy{first: time.Second, most: time.Minute}
}

// A trouble is an error that is told to all who ask, until it is time to try again.
type trouble struct {
	err   error
	until time.Time
	next  time.Duration
}

// of returns the error, or nil when there is none or it is time to try again.
func (t *trouble) of(now time.Time) error {
	if t.err == nil || !now.Before(t.until) {
		return nil
	}
	return t.err
}

// note how a try ended.
func (t *trouble) note(err error, now time.Time) {
	if err == nil {
		*t = trouble{}
		return
	}
	p := policyOf(failure.ClassOf(err))
	wait := min(max(t.next, p.first), p.most)
	*t = trouble{err: err, until: now.Add(wait), next: 2 * wait}
}

// common is true for an error that the next one who tries would get too.
func common(err error) bool {
	switch failure.ClassOf(err) {
	case failure.ClassTransient, failure.ClassAuth, failure.ClassTrust, failure.ClassAddress, failure.ClassNotFound, failure.ClassStateRefused:
		return true
	}
	return false
}
