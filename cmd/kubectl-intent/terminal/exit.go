package terminal

import (
	"cmp"
	"fmt"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Exit codes of the program. The last three are exit codes of wait.
const (
	ExitInvalid    = 1
	ExitUsage      = 2
	ExitRolledBack = 3
	ExitTimedOut   = 4
	ExitSuperseded = 5
)

// A UsageError says that the command line is wrong, and nothing was looked at.
type UsageError struct{ Err error }

// Error returns the message.
func (e UsageError) Error() string { return e.Err.Error() }

// A VerdictError says that the examined objects failed a check. The reasons were printed.
type VerdictError struct {
	// Code that the program exits with. 0 stands for ExitInvalid.
	Code int
}

// Error is empty: the findings are printed already.
func (VerdictError) Error() string { return "" }

// An EndError is the end of a wait. A person reads its message, if that was not printed already, and a script its code.
type EndError struct {
	Err error

	// Code that the program exits with.
	Code int
}

// Error returns the message.
func (e EndError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the message.
func (e EndError) Unwrap() error { return e.Err }

// ExitCode prints the error of a command, and returns the exit code of the program.
func ExitCode(err error, errOut io.Writer) int {
	if err == nil {
		return 0
	}
	if e := (VerdictError{}); errors.As(err, &e) {
		return cmp.Or(e.Code, ExitInvalid)
	}
	_, _ = fmt.Fprintf(errOut, "kubectl-intent: error: %s\n", PlainMessage(err.Error()))
	if e := (EndError{}); errors.As(err, &e) {
		return e.Code
	}
	if e := (UsageError{}); errors.As(err, &e) {
		return ExitUsage
	}
	return ExitInvalid
}
