// Package plugin shows, on a real API server with the real definitions, what kubectl intent says of deployments, and of an installation. No controller runs: the tests write what one
// would, so that they know what there is to see.
package plugin

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
)

// cp is the one API server of this package's tests.
var cp *controlplane.ControlPlane

func runSuite(m *testing.M) (int, error) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "definitions-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := controlplane.WriteDefinitions(dir); err != nil {
		return 1, err
	}
	tools, err := controlplane.FindTools(ctx)
	if err != nil {
		return 1, err
	}
	cp, err = controlplane.StartServer(ctx, dir, tools.CrossplaneCRDs)
	if err != nil {
		return 1, err
	}
	code := m.Run()
	return code, errors.Join(cp.Err(), cp.Stop())
}

// plugin is the program that make build left.
func plugin() (string, error) {
	root, err := controlplane.Root()
	return filepath.Join(root, "_output", "bin", "kubectl-intent"), err
}
