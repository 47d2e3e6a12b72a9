package sitesync

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// maxClusters bounds how many clusters are remembered. One that is forgotten has to be ready for a while again.
const maxClusters = 4096

// tracks are what is remembered of clusters, shared by all who wait for them on the same terms. They are safe for concurrent use.
type tracks struct {
	mu    sync.Mutex
	known *lru.Cache
}

// A trackKey is a cluster, and when it counts as ready: what its owner takes for good is not for others to.
type trackKey struct {
	cluster types.NamespacedName
	terms   terms
}

type track struct {
	// steady says whether it can be delivered to, and well whether all of it is well.
	steady, well readiness.Steady
	// trouble is what was not well last. It stays until all of it has been well for long enough, so that a cluster which flaps says the
	// same all the time.
	trouble     readiness.Blocker
	initialized readiness.Initialized
	// held is what was read of the kubeconfig.
	held clusterapi.Held
}

func newTracks() *tracks { return &tracks{known: lru.New(maxClusters)} }

// of a cluster, what is remembered.
func (t *tracks) of(key trackKey) track {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.get(key)
}

func (t *tracks) get(key trackKey) track {
	known, _ := t.known.Get(key)
	out, _ := known.(track)
	return out
}

// see what a cluster is now.
func (t *tracks) see(key trackKey, r readiness.Report, held clusterapi.Held, now time.Time) track {
	t.mu.Lock()
	defer t.mu.Unlock()
	is, long := t.get(key), key.terms.stabilization
	is.steady = is.steady.Hear(r, r.Deliverable(), now, long)
	is.well = is.well.Hear(r, r.Healthy(), now, long)
	if is.well.Ready {
		is.trouble = readiness.Blocker{}
	}
	if !r.Healthy() {
		is.trouble = r.Trouble()
	}
	is.initialized, is.held = r.Initialized, held
	t.known.Add(key, is)
	return is
}

// due is when it will count as ready, or its trouble as over, if nothing happens. It is zero if neither comes by itself.
func (t track) due(stabilization time.Duration) time.Time {
	out := t.steady.Due(stabilization)
	if t.trouble.Reason != "" {
		out = setup.Earliest(out, t.well.Due(stabilization))
	}
	return out
}
