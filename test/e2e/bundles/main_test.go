// Package bundles shows, on a real API server, what becomes of records of bundles.
package bundles

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one API server of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	var err error
	if cp, err = controlplane.StartServer(context.Background()); err != nil {
		return 1, err
	}
	code := m.Run()
	return code, errors.Join(cp.Err(), cp.Stop())
}
