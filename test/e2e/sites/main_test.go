// Package sites shows, on a real control plane and a second cluster with real Flux in it, what a SiteSync says.
package sites

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, forTrials))
}

// edge is the one other cluster, with Flux in it.
var edge = sync.OnceValues(func() (*controlplane.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	return k, k.StartFlux(ctx)
})

// hub is Flux in the control plane's own cluster.
var hub = sync.OnceValue(func() error { return cp.StartFlux(context.Background()) })
