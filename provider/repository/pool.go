// Package repository shares the repositories among all deliveries that use them: one look serves all who ask, and one push carries
// the commits of all who wait.
//
// Whoever asks waits for a bounded time. What was asked for goes on without them, and they are woken when it has ended, so that a
// server which does not answer holds nobody who has to do with another one.
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
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// operation is how long one operation of a server may take.
	operation = time.Minute

	// unused repositories are forgotten after this time.
	unused = 2 * time.Hour

	// maxIdle is how many repositories of one namespace are remembered while nothing happens in them. Those of cluster-scoped
	// configurations are as many as administrators wrote, and have no such bound.
	maxIdle = 256

	// cacheBytes is what snapshots may take together. Those that were not used for the longest time are forgotten first, and
	// read again as a whole.
	cacheBytes = 96 << 20
)

// Options of a Pool. All are required, but for After, Glance and Ended.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// After tells when so much time has passed. Nil means by the clock of the system.
	After func(time.Duration) <-chan time.Time
	// Pause before a push is tried again that lost a race.
	Pause func() time.Duration
	// Wake is called when something has ended that the object no longer waits for. It must not block.
	Wake func(types.NamespacedName)
	// Patience is how long an object waits for an answer.
	Patience time.Duration
	// Glance is how long it waits for one that was slow the last time, or gave none. Zero means a moment.
	Glance time.Duration
	// Ended is called after each operation. It must not block. Nil means that nobody wants to know.
	Ended func(Operation)
}

// Names of operations.
const (
	// OperationLook reads what a repository holds.
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
	o Options

	// administrators use one commons, and namespaces by configurations of their own another one.
	administrators, tenants commons

	mu    sync.Mutex
	repos map[string]*Repository
	// hosts of the repositories.
	hosts map[shares.Place]*host

	underWay underWay

	// ended is closed when nobody may wait any more.
	ended chan struct{}
	end   func()
}

// NewPool returns a pool without repositories.
func NewPool(o Options) *Pool {
	if o.Ended == nil {
		o.Ended = func(Operation) {}
	}
	if o.Glance == 0 {
		o.Glance = glance
	}
	if o.After == nil {
		o.After = time.After
	}
	ended := make(chan struct{})
	return &Pool{
		o: o, administrators: newCommons(), tenants: newTenantsCommons(),
		repos: map[string]*Repository{}, hosts: map[shares.Place]*host{}, underWay: newUnderWay(),
		ended: ended, end: sync.OnceFunc(func() { close(ended) }),
	}
}

// Start lets nobody wait for a pause once the context ends. It returns nil then.
func (p *Pool) Start(ctx context.Context) error {
	<-ctx.Done()
	p.end()
	return nil
}

// pause for some time. It is false if the pool has ended.
func (p *Pool) pause(d time.Duration) bool {
	select {
	case <-p.ended:
		return false
	default:
	}
	select {
	case <-p.ended:
		return false
	case <-p.o.After(d):
		return true
	}
}

// Open returns the repository that the clients speak to, which differ in the form of the state only, the best one first. Whoever
// comes with the same remote and the same credentials gets the same one. It contacts nobody, and returns an error if there is no
// client, or the credentials cannot be told from others.
func (p *Pool) Open(clients ...*git.Client) (*Repository, error) {
	ids := []string{}
	for _, c := range clients {
		one, err := c.Remote().Identity()
		if err != nil {
			return nil, err
		}
		ids = append(ids, one)
	}
	if len(ids) == 0 {
		return nil, errors.New("cannot open repository without a client")
	}
	id := strings.Join(ids, " ")
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.o.Now()
	r, ok := p.repos[id]
	if !ok {
		for _, c := range clients {
			c.UseBudget(p.commonsOf(c.Remote().Namespace).budget)
		}
		p.forget(now)
		r = newRepository(p, clients)
		p.repos[id] = r
	}
	r.touch(now)
	return r, nil
}

// forget what nobody uses any more, and of a namespace with too many repositories what was not used for the longest time.
func (p *Pool) forget(now time.Time) {
	idle := map[string][]string{}
	for id, r := range p.repos {
		switch {
		case r.idle(now, unused):
			p.drop(id)
		case r.namespace != "" && r.idle(now, 0):
			idle[r.namespace] = append(idle[r.namespace], id)
		}
	}
	for _, ids := range idle {
		if len(ids) <= maxIdle {
			continue
		}
		slices.SortFunc(ids, func(a, b string) int { return p.repos[a].lastUsed().Compare(p.repos[b].lastUsed()) })
		for _, id := range ids[:len(ids)-maxIdle] {
			p.drop(id)
		}
	}
}

// drop a repository, and its host if it was the last one there.
func (p *Pool) drop(id string) {
	r := p.repos[id]
	delete(p.repos, id)
	r.close()
	if r.host.users--; r.host.users == 0 {
		delete(p.hosts, r.host.place)
	}
}

func (p *Pool) commonsOf(namespace string) commons {
	if namespace == "" {
		return p.administrators
	}
	return p.tenants
}

// host returns the server that a client really reaches. What a namespace learns of it is for that namespace alone.
func (p *Pool) host(c *git.Client) *host {
	at := shares.Place{Host: c.ServerKey(), Namespace: c.Remote().Namespace}
	h, ok := p.hosts[at]
	if !ok {
		h = &host{slots: p.commonsOf(at.Namespace).slots, place: at, patience: p.o.Patience, glance: p.o.Glance}
		p.hosts[at] = h
	}
	h.users++
	return h
}

// trim forgets snapshots until the others fit.
func (p *Pool) trim() {
	p.mu.Lock()
	all := make([]*Repository, 0, len(p.repos))
	for _, r := range p.repos {
		all = append(all, r)
	}
	p.mu.Unlock()
	trim(all, cacheBytes)
}

// settle waits until nothing of the object is under way, so that what it sees next is how it stays. What has not begun is dropped.
func (p *Pool) settle(ctx context.Context, key types.NamespacedName) error {
	i, ok := p.underWay.get(key)
	if !ok || i.of.withdraw(i) {
		return nil
	}
	return i.wait(ctx, p.o.Patience)
}
