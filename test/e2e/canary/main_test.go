// Package canary shows, with real requests through a real gateway in a cluster to which real Flux brings a Git repository, that requests are divided as
// the weights in Git say, and that none fails while weights move, as long as pods come before their requests and go after them.
package canary

import (
	"context"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/kubelet"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the one control plane of this package's tests.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(scene.Main(m, &cp, withRoom))
}

// withRoom lets Crossplane react to more events of a composite than the 100 at once and one each second of its defaults: the story of this package has
// pauses of seconds, where users have minutes. How many events pass is logged.
func withRoom(o *controlplane.Options) {
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=1000")
}

// readyAfter is how long pods take until they answer. It is long enough for requests to find a track that is not ready.
const readyAfter = time.Second

// network has the addresses of the pods at the Site.
var network = netip.MustParsePrefix("10.200.0.0/20")

// A site is a cluster with Flux, a gateway, and pods that answer.
type site struct {
	*controlplane.Cluster

	gateway *controlplane.Gateway
	kubelet *kubelet.Kubelet
}

// edge is the one Site of this package's tests.
var edge = sync.OnceValues(func() (*site, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	s := &site{Cluster: k}
	if err := k.StartFlux(ctx); err != nil {
		return nil, err
	}
	if err := k.StartWorkloads(); err != nil {
		return nil, err
	}
	if s.kubelet, err = kubelet.Start(ctx, k.Config, kubelet.Options{Network: network, ReadyAfter: readyAfter}); err != nil {
		return nil, err
	}
	s.gateway, err = k.StartGateway(ctx)
	return s, err
})
