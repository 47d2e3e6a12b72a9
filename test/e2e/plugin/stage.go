// Package plugin shows, on a real API server with the real definitions, the output of kubectl intent about deployments, and about an
// installation. No controller runs: the tests write the objects of one, so that they know the expected output.
package plugin

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// cp is the API server of all tests of this package.
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
	tools, err := toolbox.Find(ctx)
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

// pluginPath is the program that make build left.
func pluginPath() (string, error) {
	root, err := toolbox.Root()
	return filepath.Join(root, "_output", "bin", "kubectl-intent"), err
}
