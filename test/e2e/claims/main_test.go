// Package claims shows, on a real control plane, what becomes of a claim.
package claims

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	o, err := controlplane.Product()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	o.KeepDirOnFailure = true
	if cp, err = controlplane.Start(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := cp.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "a component ended by itself:", err)
		code = 1
	}
	if err := cp.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	return code
}
