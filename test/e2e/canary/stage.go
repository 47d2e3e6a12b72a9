// Package canary shows, with real requests through a real gateway in a cluster to which real Flux brings a Git repository, that requests are divided as
// the weights in Git say, and that none fails while weights move, as long as pods come before their requests and go after them.
package canary

import (
	"context"
	"net/netip"
	"sync"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/release"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// configureStories lets Crossplane react to more events of a composite than the 100 at once and one each second of its defaults: the stories of this package have
// pauses of seconds, where users have minutes. Gates may ask the servers of the tests, and another replica may take the provider's place: once a lease is over that
// a busy API server can renew in time, since a provider that loses it ends.
func configureStories(o *controlplane.Options) {
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=5000")
	o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
	o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks", "--leader-election", "--leader-lease=15s")
}

// edge and far are the clusters of this package's tests. Most use the first one alone.
var (
	edge = sync.OnceValues(func() (*release.Cluster, error) { return startCluster("edge", "10.200.0.0/20") })
	far  = sync.OnceValues(func() (*release.Cluster, error) { return startCluster("far", "10.200.16.0/20") })
)

// startCluster starts a cluster whose pods have addresses of a network.
func startCluster(name, network string) (*release.Cluster, error) {
	return release.StartCluster(context.Background(), cp, name, netip.MustParsePrefix(network))
}
