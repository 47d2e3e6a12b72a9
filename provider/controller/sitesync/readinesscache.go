package sitesync

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/instant"
)

// maxClusters is the maximum number of cached clusters. A dropped cluster has to be ready for its stabilization time again.
const maxClusters = 4096

// readinessCache holds the readiness of clusters, shared by all readers with the same policy. They are safe for concurrent use.
type readinessCache struct {
	mu    sync.Mutex
	known *lru.Cache
}

// A readinessKey is a cluster with the policy by which it counts as ready: the policy of one owner does not hold for others.
type readinessKey struct {
	cluster types.NamespacedName
	policy  readinessPolicy
}

type readinessEntry struct {
	// steady says whether it can be delivered to, and well whether all of it is well.
	steady, well readiness.Steady
	// trouble is the last problem of the cluster. It stays until all of it has been well for long enough, so that a cluster which flaps says
	// the same all the time.
	trouble     readiness.Blocker
	initialized readiness.Initialized
	// held is the cached reading of the kubeconfig.
	held clusterapi.Held
}

func newReadinessCache() *readinessCache { return &readinessCache{known: lru.New(maxClusters)} }

// getEntry returns the cached entry of a cluster.
func (t *readinessCache) getEntry(key readinessKey) readinessEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.getEntryLocked(key)
}

func (t *readinessCache) getEntryLocked(key readinessKey) readinessEntry {
	cached, _ := t.known.Get(key)
	out, _ := cached.(readinessEntry)
	return out
}

// observeReport records the report of a cluster.
func (t *readinessCache) observeReport(key readinessKey, r readiness.Report, credentials clusterapi.Held, now time.Time) readinessEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry, long := t.getEntryLocked(key), key.policy.stabilization
	entry.steady = entry.steady.Observe(r, r.Deliverable(), now, long)
	entry.well = entry.well.Observe(r, r.Healthy(), now, long)
	if entry.well.Ready {
		entry.trouble = readiness.Blocker{}
	}
	if !r.Healthy() {
		entry.trouble = r.Trouble()
	}
	entry.initialized, entry.held = r.Initialized, credentials
	t.known.Add(key, entry)
	return entry
}

// nextReadyChange is the time when the cluster counts as ready, or its degradation as ended, without a further change. It is zero if neither happens by
// time alone.
func (t readinessEntry) nextReadyChange(stabilization time.Duration) time.Time {
	out := t.steady.Due(stabilization)
	if t.trouble.Reason != "" {
		out = instant.Earliest(out, t.well.Due(stabilization))
	}
	return out
}
