package repository

import (
	"sync"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// atOnce is how many operations one host serves for administrators at the same time.
	atOnce = 3

	// tenantsAtOnce is how many operations one host serves for all namespaces that reach it by configurations of their own.
	tenantsAtOnce = 6

	// namespaceAtHost is how many of them one namespace has, and namespaceAtOnce how many at whatever hosts.
	namespaceAtHost = 2
	namespaceAtOnce = 4

	// tenantsTogether is how many operations there are for all namespaces. Each may hold an answer in memory.
	tenantsTogether = 24

	// maxWaiting is how many workers wait for the servers of one namespace's configurations.
	maxWaiting = 20
)

// A commons is what all of one trust use together. What namespaces do to it by configurations of their own harms no administrator's.
type commons struct {
	slots  *shares.Places
	lanes  *shares.Places
	budget *git.Budget
}

// newCommons returns what administrators' configurations use.
func newCommons() commons {
	return commons{
		slots:  shares.NewPlaces(shares.Limits{PerHost: atOnce}),
		lanes:  shares.NewPlaces(shares.Limits{PerHost: 1}),
		budget: git.NewBudget(),
	}
}

// newTenantsCommons returns what configurations of namespaces use.
func newTenantsCommons() commons {
	return commons{
		slots: shares.NewPlaces(shares.Limits{
			PerHost: tenantsAtOnce, PerNamespace: namespaceAtOnce, PerNamespaceAtHost: namespaceAtHost, Together: tenantsTogether,
		}),
		lanes:  shares.NewPlaces(shares.Limits{PerHost: 1}),
		budget: git.NewBudget(),
	}
}

// waiting counts the workers that wait for servers, by the namespaces whose configurations name these.
type waiting struct {
	mu sync.Mutex
	by map[string]int
}

// enter counts a worker until leave is called. It is false, and leave does nothing, if so many wait that others would not get a worker.
// Those who wait for an administrator's server are not counted.
func (w *waiting) enter(namespace string) (leave func(), ok bool) {
	if namespace == "" {
		return func() {}, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by[namespace] >= maxWaiting {
		return func() {}, false
	}
	w.by[namespace]++
	return func() { w.leave(namespace) }, true
}

func (w *waiting) leave(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by[namespace]--; w.by[namespace] == 0 {
		delete(w.by, namespace)
	}
}
