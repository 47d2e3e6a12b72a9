// Package panics turns panics into errors. The process serves the deployments of all tenants, and Go ends it for a panic in any goroutine:
// each goroutine that works for one tenant runs through this package, so that the panic is the error of that one operation.
package panics

import (
	"runtime/debug"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/intentplane/intentplane/apis/oneline"
)

// maxLogged is how many characters of the value of a panic are logged. A server of a tenant may have sent it.
const maxLogged = 512

// An Error is a panic. It does not hold the value, since that may be a secret: the log has it.
type Error struct{}

// Error says where to look.
func (*Error) Error() string {
	return "panicked: this is a bug of the provider, whose log has the stack"
}

// Recover runs a function and returns its error. It logs a panic with its stack, and returns it as an *Error. The first argument names the
// operation in the log.
func Recover(operation string, fn func() error) (err error) { //nolint:nonamedreturns // A recovered panic is returned.
	defer func() {
		if p := recover(); p != nil {
			err = &Error{}
			value := oneline.Clean(errors.Errorf("%v", p).Error(), maxLogged)
			ctrllog.Log.WithName("panics").Error(err, "Recovered from a panic", "doing", operation, "panic", value, "stack", string(debug.Stack()))
		}
	}()
	return fn()
}

// Go runs a function in a goroutine, and logs a panic of it.
func Go(operation string, fn func()) {
	go func() {
		_ = Recover(operation, func() error {
			fn()
			return nil
		})
	}()
}
