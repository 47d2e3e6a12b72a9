// Package repository shares the repositories among all deliveries that use them: one observation serves all waiting objects, and one push from the queue
// carries the commits of all waiting deliveries. It waits after errors, and repeats a push that lost a race with another writer of the branch.
//
// An object waits for a bounded time. The operation goes on without it, and the object is woken when that has ended, so that a server
// which does not answer delays no object that uses another one.
package repository

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/repository/snapshotcache"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// operationTimeout is how long one operation of a server may take.
	operationTimeout = time.Minute

	// idleTime is after how much time without use a repository is dropped.
	idleTime = 2 * time.Hour

	// maxIdle is how many repositories of one namespace are remembered while nothing happens in them. Cluster-scoped configurations are as
	// many as administrators wrote, and have no such bound.
	maxIdle = 256
)

// Options of a Pool. All are required, but for After, QuickPatience, Ended, Concealed and Budget.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// After sends on its channel when so much time has passed. Nil is time.After.
	After func(time.Duration) <-chan time.Time
	// Pause returns how long to wait before a push is tried again that lost a race.
	Pause func() time.Duration
	// Wake is called when something has ended that the object no longer waits for. It must not block.
	Wake func(types.NamespacedName)
	// Patience is how long an object waits for an answer.
	Patience time.Duration
	// QuickPatience is how long it waits for a server that was slow the last time, or did not answer. Zero is 100 milliseconds.
	QuickPatience time.Duration
	// Ended is called after each operation. It must not block. Nil reports none.
	Ended func(Operation)
	// Concealed is called for each new cause of a failure that its error does not name. It must not block. Nil reports none.
	Concealed func(ConcealedFailure)
	// Budget of the answers that the configurations of namespaces cause, which other readers of their repositories may share. Nil is a budget for the pool alone.
	Budget *budget.Budget
}

// Names of operations.
const (
	// OperationLook reads the state of a repository.
	OperationLook = "look"
	// OperationPush writes to it.
	OperationPush = "push"
)

// An Operation is one conversation with a server.
type Operation struct {
	// Name of the operation.
	Name string
	// Err is how it ended.
	Err error
	// Took is how long it took.
	Took time.Duration
	// Deliveries that a push carried.
	Deliveries int
}

// A Pool has all repositories in use. It is safe for concurrent use.
type Pool struct {
	options Options

	// administrators and tenants are the limits of cluster-scoped configurations, and of namespaced configurations.
	administrators, tenants sharedLimits

	mu    sync.Mutex
	repos map[string]*Repository
	// hosts of the repositories.
	hosts map[shares.Place]*host

	pending pendingItems

	// wakers are called in place of Options.Wake for objects of other controllers, by the prefixes of their names.
	wakers map[string]func(types.NamespacedName)

	// ended is closed when the pool ends: no pause begins after it.
	ended chan struct{}
	end   func()
}

// NewPool returns a pool without repositories.
func NewPool(o Options) *Pool {
	if o.Ended == nil {
		o.Ended = func(Operation) {}
	}
	if o.Concealed == nil {
		o.Concealed = func(ConcealedFailure) {}
	}
	if o.QuickPatience == 0 {
		o.QuickPatience = quickPatience
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Budget.IsZero() {
		o.Budget = budget.New()
	}
	ended := make(chan struct{})
	return &Pool{
		options: o, administrators: newAdministratorLimits(), tenants: newTenantLimits(o.Budget),
		repos: map[string]*Repository{}, hosts: map[shares.Place]*host{}, pending: newPendingItems(),
		wakers: map[string]func(types.NamespacedName){}, ended: ended, end: sync.OnceFunc(func() { close(ended) }),
	}
}

// WakeWith makes the pool wake the objects of another controller, whose names it gives with a prefix that no name of an object can have. The function gets
// the name without it, and must not block.
func (p *Pool) WakeWith(prefix string, wake func(types.NamespacedName)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wakers[prefix] = wake
}

// wakeObject wakes an object after the end of an operation.
func (p *Pool) wakeObject(key types.NamespacedName) {
	prefix, name, isOther := strings.Cut(key.Name, "/")
	p.mu.Lock()
	wake := p.wakers[prefix+"/"]
	p.mu.Unlock()
	if !isOther || wake == nil {
		p.options.Wake(key)
		return
	}
	wake(types.NamespacedName{Namespace: key.Namespace, Name: name})
}

// Start ends all pauses once the context ends. It returns nil then.
func (p *Pool) Start(ctx context.Context) error {
	<-ctx.Done()
	p.end()
	return nil
}

// pauseUnlessEnded waits for some time. It returns false if the pool has ended.
func (p *Pool) pauseUnlessEnded(d time.Duration) bool {
	select {
	case <-p.ended:
		return false
	default:
	}
	select {
	case <-p.ended:
		return false
	case <-p.options.After(d):
		return true
	}
}

// NewClient returns a client for Open, whose answers the namespace of the remote pays for. It opens no connection, and returns an error if the remote is not
// valid.
func (p *Pool) NewClient(r git.Remote, o ...git.Option) (*git.Client, error) {
	return git.NewClient(r, p.limitsOfNamespace(r.Namespace).budget, o...)
}

// Open returns the repository of the clients, which differ in the form of the state only, the best one first. The same remote with the
// same credentials has the same repository. It opens no connection, and returns an error without a client, or if the identity of the
// credentials cannot be computed.
func (p *Pool) Open(clients ...*git.Client) (*Repository, error) {
	ids := []string{}
	for _, c := range clients {
		identity, err := c.Remote().Identity()
		if err != nil {
			return nil, err
		}
		ids = append(ids, identity)
	}
	if len(ids) == 0 {
		return nil, errors.New("cannot open repository without a client")
	}
	id := strings.Join(ids, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Now()
	r, ok := p.repos[id]
	if !ok {
		p.dropIdleRepositories(now)
		r = newRepository(p, clients)
		p.repos[id] = r
	}
	r.markUsedAt(now)
	return r, nil
}

// dropIdleRepositories drops repositories that were not used for a long time, and the least recently used repositories of a namespace with
// too many.
func (p *Pool) dropIdleRepositories(now time.Time) {
	idle := map[string][]string{}
	for id, r := range p.repos {
		switch {
		case r.isIdleLonger(now, idleTime):
			p.dropRepository(id)
		case r.namespace != "" && r.isIdleLonger(now, 0):
			idle[r.namespace] = append(idle[r.namespace], id)
		}
	}
	for _, ids := range idle {
		if len(ids) <= maxIdle {
			continue
		}
		slices.SortFunc(ids, func(a, b string) int { return p.repos[a].lastUsedAt().Compare(p.repos[b].lastUsedAt()) })
		for _, id := range ids[:len(ids)-maxIdle] {
			p.dropRepository(id)
		}
	}
}

// dropRepository drops a repository, and its host if it was the last one there.
func (p *Pool) dropRepository(id string) {
	r := p.repos[id]
	delete(p.repos, id)
	r.closeForGood()
	if r.host.users--; r.host.users == 0 {
		delete(p.hosts, r.host.place)
	}
}

func (p *Pool) limitsOfNamespace(namespace string) sharedLimits {
	if namespace == "" {
		return p.administrators
	}
	return p.tenants
}

// hostOfClient returns the server that a client really reaches. A namespace's observations of it are for that namespace alone.
func (p *Pool) hostOfClient(c *git.Client) *host {
	place := shares.Place{Host: c.ServerKey(), Namespace: c.Remote().Namespace}
	h, ok := p.hosts[place]
	if !ok {
		limits := p.limitsOfNamespace(place.Namespace)
		h = &host{
			slots: limits.slots, budget: limits.budget.ForNamespace(place.Namespace), place: place,
			patience: p.options.Patience, quickPatience: p.options.QuickPatience, makeRoom: func() { p.dropLargeSnapshots(place.Namespace) },
		}
		p.hosts[place] = h
	}
	h.users++
	return h
}

// trimSnapshotCache drops snapshots until the others fit.
func (p *Pool) trimSnapshotCache() {
	snapshotcache.Trim(p.snapshotHolders(func(*Repository) bool { return true }))
}

// dropLargeSnapshots drops the large snapshots of a namespace, which needs their memory for an answer. Administrators have memory for both.
func (p *Pool) dropLargeSnapshots(namespace string) {
	if namespace == "" {
		return
	}
	snapshotcache.DropLarge(p.snapshotHolders(func(r *Repository) bool { return r.namespace == namespace }))
}

// snapshotHolders returns some repositories, as the cache of snapshots sees them.
func (p *Pool) snapshotHolders(isWanted func(*Repository) bool) []snapshotcache.Holder {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]snapshotcache.Holder, 0, len(p.repos))
	for _, r := range p.repos {
		if isWanted(r) {
			out = append(out, snapshotHolder{r})
		}
	}
	return out
}

// awaitPending waits until no delivery of the object is under way, so that the next look sees its result. A delivery that no batch has
// yet is dropped.
func (p *Pool) awaitPending(ctx context.Context, key types.NamespacedName) error {
	i, ok := p.pending.itemOfObject(key)
	if !ok || i.repo.withdrawItem(i) {
		return nil
	}
	return i.awaitResult(ctx, p.options.Patience)
}
