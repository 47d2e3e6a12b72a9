package repository

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/panics"
)

// recoverPanic runs a function and returns its error. A panic is a *failure.Error that is about this operation alone, so that others go on, and that is
// waited out as any other: a server could have it happen again and again.
func recoverPanic(operation string, fn func() error) error {
	err := panics.Recover(operation, fn)
	if p := (*panics.Error)(nil); errors.As(err, &p) {
		return failure.Newf(failure.ClassUnknown, "cannot %s: %s", operation, p)
	}
	return err
}
