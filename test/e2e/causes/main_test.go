// Package causes breaks what a deployment needs, in sixteen ways, on a real control plane. Each time kubectl intent why names the cause, who acts and the
// next step, to an administrator and to a user with the role edit in one namespace. Once that step is done, the deployment continues.
package causes

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// cooldown is how long a circuit breaker stays open here. Crossplane's default is five minutes.
	cooldown = 20 * time.Second

	// tokensPerSecond fill the bucket of a circuit breaker within the cooldown, as Crossplane's default does within five minutes.
	tokensPerSecond = "--circuit-breaker-refill-rate=5"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, func(o *controlplane.Options) {
		o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
		o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks", "--leader-election")
		o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-cooldown="+cooldown.String(), tokensPerSecond)
	}))
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
