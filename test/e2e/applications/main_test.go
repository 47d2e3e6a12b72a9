// Package applications shows, on a real control plane and a second cluster in which real Flux and the Deployment controller of Kubernetes run, what an
// Application says while its pods come, go and fail. The tests play the nodes: they report what pods do.
package applications

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if judges, err = startJudge(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer judges.close()
	root, err := controlplane.Root()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return scene.Main(m, &cp, forStories, trustJudge, openHooks, func(o *controlplane.Options) {
		o.Manifests = append(o.Manifests, filepath.Join(root, "examples", "builds"))
	})
}

// forStories installs Applications, and lets Crossplane react to more events of a composite than the 100 at once and one each second of its defaults: the
// stories of this package change something each second, where users do so each hour. What one change costs is counted.
func forStories(o *controlplane.Options) {
	*o = o.WithApplications()
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=5000")
}

// edge is the one other cluster, with Flux and what makes pods of Deployments.
var edge = sync.OnceValues(func() (*controlplane.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	if err := k.StartFlux(ctx); err != nil {
		return nil, err
	}
	return k, k.StartWorkloads()
})
