// Package failure has the errors of everything that reads and writes Git repositories, with a class that selects the caller's reaction to each.
package failure

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Class selects the caller's reaction to an error.
type Class string

// Classes of errors.
const (
	// ClassUnknown is an error that no rule classifies: tried again, and shown.
	ClassUnknown Class = "Unknown"
	// ClassInvalid is a mistake of the caller: a path, a ref, a message.
	ClassInvalid Class = "Invalid"
	// ClassOccupied is something of another kind where a directory or a file has to be.
	ClassOccupied Class = "Occupied"
	// ClassConflict is a lost race: look and plan again.
	ClassConflict Class = "Conflict"
	// ClassPolicy is a refusal by a rule of the server.
	ClassPolicy Class = "Policy"
	// ClassStateRefused is a refusal of the state ref, while the branch alone
	// would have been taken.
	ClassStateRefused Class = "StateRefused"
	// ClassNotAtomic is a server that does not apply several deliveries
	// atomically: push each of them separately.
	ClassNotAtomic Class = "NotAtomic"
	// ClassAuth is a refusal of the credentials.
	ClassAuth Class = "Auth"
	// ClassNotFound is a repository or a branch that does not exist, or that
	// these credentials may not see.
	ClassNotFound Class = "NotFound"
	// ClassTrust is a server that cannot be trusted: its certificate, or a
	// redirect to another host.
	ClassTrust Class = "Trust"
	// ClassAddress is an address that the configuration may not lead to.
	ClassAddress Class = "Address"
	// ClassTooLarge is an answer or a change beyond the limits.
	ClassTooLarge Class = "TooLarge"
	// ClassTooCostly is a repository that needs more reading than one plan may do. It concerns the whole repository, and no single directory or file.
	ClassTooCostly Class = "TooCostly"
	// ClassTransient is a temporary failure: try again later.
	ClassTransient Class = "Transient"
)

// Classes returns all classes.
func Classes() []Class {
	return []Class{
		ClassUnknown, ClassInvalid, ClassOccupied, ClassConflict, ClassPolicy, ClassStateRefused, ClassNotAtomic, ClassAuth, ClassNotFound, ClassTrust, ClassAddress,
		ClassTooLarge, ClassTooCostly, ClassTransient,
	}
}

// An Error is a failed operation. Its text is stable and holds no credential.
type Error struct {
	// Class selects the caller's reaction.
	Class Class
	// Detail describes the failure.
	Detail string
	// Remote is the server's message to users, if it sent one: one line without
	// control characters and without credentials, of at most 515 bytes. It may
	// be another text each time, with the number of a request, say.
	Remote string
	// Cause describes the failure for the provider's log alone, where Detail conceals it. Empty means that Detail is complete.
	Cause string

	// context is set if the caller's context ended. Nothing else is unwrapped,
	// for an error of a library may hold secrets or addresses that Detail
	// leaves out.
	context error
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// Unwrap returns the error of the context, if it ended.
func (e *Error) Unwrap() error { return e.context }

// ClassOf returns the class of the error, ClassUnknown for an error without a
// class, and an empty class for nil.
func ClassOf(err error) Class {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ClassUnknown
}

// CauseOf returns the cause that the error's text conceals, or "".
func CauseOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return ""
}

// IsConcealed reports whether the error's text conceals its cause.
func IsConcealed(err error) bool { return CauseOf(err) != "" }

// IsConflict reports whether the error is a lost race.
func IsConflict(err error) bool { return ClassOf(err) == ClassConflict }

// IsTransient reports whether the same call may succeed later.
func IsTransient(err error) bool { return ClassOf(err) == ClassTransient }

// Newf returns an Error of a class.
func Newf(class Class, format string, args ...any) *Error {
	return &Error{Class: class, Detail: errors.Errorf(format, args...).Error()}
}

// EndedBy returns the Error with the error of the context that ended the operation.
func (e *Error) EndedBy(context error) *Error {
	e.context = context
	return e
}

// A ClassifiedError is an error whose class is known at its origin. The client converts it to an Error before it returns it.
type ClassifiedError struct {
	// Class selects the caller's reaction.
	Class Class
	// Detail describes the failure.
	Detail string
	// Said is the server's message to users, unchanged.
	Said string
}

// Error returns the detail, without the server's message.
func (e *ClassifiedError) Error() string { return e.Detail }

// ErrTooLarge is an answer beyond the limits. It is the same for every server.
var ErrTooLarge error = &ClassifiedError{Class: ClassTooLarge, Detail: "the server sent more than fits"}

// Shorten cuts text that a message repeats.
func Shorten(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}
