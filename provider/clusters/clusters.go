// Package clusters reads the objects of GitOps engines, and of Cluster API, in many clusters.
//
// Connections are shared by all owners that read from a cluster, and end with the last of them. Objects are watched, and an owner that read one
// is woken when it changes. A cluster that does not answer costs its own readers one short wait, and other readers none.
package clusters

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/shares"
)

// FieldManager is the name under which annotations are written.
const FieldManager = "intentplane-sitesync"

const (
	// homeLink is the key of the cluster that the provider runs in.
	homeLink = ""

	// maxDials is the maximum number of kubeconfigs that are read at once, of which each namespace has one: a tenant may write kubeconfigs that take long to read.
	maxDials = 4
)

// A Pool holds the connections of all who read. It is safe for concurrent use.
type Pool struct {
	dial     Dial
	accounts *account.Accounts
	wake     func(owner types.NamespacedName)
	// patience is how long the first reader of a watch waits for it.
	patience time.Duration
	// timeout ends a list.
	timeout time.Duration
	// now and after are the clock.
	now   func() time.Time
	after func(time.Duration, func())

	pacer *wakePacer
	// dials are the places of the kubeconfigs that are read.
	dials *shares.Places

	mu    sync.Mutex
	links map[string]*link
	// held are the watches that each owner uses.
	held map[types.NamespacedName]map[*watch]bool
}

// A Dial makes a client for the cluster of a kubeconfig, or for the provider's own cluster without a kubeconfig, and a function that closes
// its connections. It opens no connection.
type Dial func(kubeconfig []byte, o Origin) (dynamic.Interface, func(), error)

// An Origin is the author of a kubeconfig, who chooses the reached machine. An Origin other than Administrator is a namespace: a tenant who
// may write in it may name neither a private address nor a machine that trusts each client that reaches it.
type Origin string

// An Access says who wrote the kubeconfig of a cluster, and who pays for reading from it.
type Access struct {
	// Origin decides which addresses the kubeconfig may lead to.
	Origin Origin
	// Tenant is the namespace that published the Site, which has one share for all of its Sites. Empty means that the cluster has a share of its
	// own.
	Tenant string
}

// Administrator is the author of a kubeconfig in a Secret that a Site names. Their clusters may have any address.
const Administrator Origin = ""

// Dialer returns the Dial for real clients. The config leads to the cluster that the provider runs in.
func Dialer(config *rest.Config, limits Limits) Dial {
	return func(kubeconfig []byte, o Origin) (dynamic.Interface, func(), error) {
		if kubeconfig == nil {
			d, err := dynamic.NewForConfig(config)
			return d, func() {}, errors.Wrap(err, "cannot make client")
		}
		cfg, err := Parse(kubeconfig, limits)
		if err != nil {
			return nil, nil, err
		}
		cfg.UserAgent = config.UserAgent
		d, wire, err := newDynamicClient(cfg, o, limits)
		if err != nil {
			return nil, nil, err
		}
		return d, wire.CloseIdleConnections, nil
	}
}

// NewPool returns a Pool, whose connections the accounts pay for. Wake is called when something changed that the owner read, at most once per owner and
// second; it must not wait for a reader.
func NewPool(d Dial, a *account.Accounts, wake func(owner types.NamespacedName)) *Pool {
	return &Pool{
		dial: d, accounts: a, wake: wake, patience: patience, timeout: requestTimeout, now: time.Now, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) },
		pacer: newWakePacer(), dials: shares.NewPlaces(shares.Limits{PerHost: maxDials, PerNamespaceAtHost: 1}), links: map[string]*link{}, held: map[types.NamespacedName]map[*watch]bool{},
	}
}

// wakeOwnerSoon wakes an owner now, or when a second has passed since it was woken last.
func (p *Pool) wakeOwnerSoon(owner types.NamespacedName) {
	wait, planned := p.pacer.planWake(owner, p.now())
	switch {
	case planned:
	case wait == 0:
		p.wake(owner)
	default:
		p.after(wait, func() { p.wake(owner) })
	}
}

// A link is the connection to one cluster.
type link struct {
	key string
	// account of who wrote the kubeconfig. Nil for the provider's own cluster, which is trusted.
	account *account.Account
	client  dynamic.Interface
	close   func()
	watches map[watchKey]*watch
}

// expectObject returns a context for one request that is answered by one object, or by few small ones, and its expectation, whose answer the caller ends.
func (l *link) expectObject(ctx context.Context) (context.Context, *account.Expectation) {
	e := &account.Expectation{Kind: account.ObjectAnswer, Account: l.account}
	return account.WithExpectation(ctx, e), e
}

// A Look is one pass of an owner over the objects that it reads. At its end the pool drops the owner's interest in all other objects. It is
// safe for concurrent use, until it is done.
type Look struct {
	pool  *Pool
	owner types.NamespacedName
	read  map[*watch]bool
}

// Look begins a pass.
func (p *Pool) Look(owner types.NamespacedName) *Look {
	return &Look{pool: p, owner: owner, read: map[*watch]bool{}}
}

// Done ends the pass.
func (l *Look) Done() { l.pool.retainWatches(l.owner, l.read) }

// Forget an owner that was deleted.
func (p *Pool) Forget(owner types.NamespacedName) { p.retainWatches(owner, nil) }

// TryAgain lets clusters that could not be read for an owner be asked now, and not when their next turn comes. The owner's next read returns
// the new answer.
func (p *Pool) TryAgain(owner types.NamespacedName) {
	p.mu.Lock()
	watches := slices.Collect(maps.Keys(p.held[owner]))
	p.mu.Unlock()
	for _, w := range watches {
		w.retryFailedWatch()
	}
}

// retainWatches records which watches an owner read from, and stops watches without an owner.
func (p *Pool) retainWatches(owner types.NamespacedName, read map[*watch]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	previous := p.held[owner]
	delete(p.held, owner)
	if len(read) > 0 {
		p.held[owner] = maps.Clone(read)
	}
	for w := range previous {
		if !read[w] {
			delete(w.owners, owner)
			p.dropUnusedWatch(w)
		}
	}
}

// dropUnusedWatch stops a watch without users, and closes its link if that was the last one.
func (p *Pool) dropUnusedWatch(w *watch) {
	if len(w.owners) > 0 {
		return
	}
	w.stopForGood()
	delete(w.link.watches, w.key)
	if len(w.link.watches) == 0 && p.links[w.link.key] == w.link {
		w.link.close()
		delete(p.links, w.link.key)
	}
}

// Size returns the number of connections and of watches, for tests of their cleanup.
func (p *Pool) Size() (links, watches int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.links {
		watches += len(l.watches)
	}
	return len(p.links), watches
}

// A Cluster is the view that a Look has of one cluster.
type Cluster struct {
	look *Look
	link *link
}

// Home is the cluster that the provider runs in. It returns an error if the provider's own configuration is not valid.
func (l *Look) Home() (*Cluster, error) {
	return l.connectCluster(homeLink, nil, Access{})
}

// Remote is the cluster that a kubeconfig leads to. It opens no connection yet. It returns a RefusedError.
func (l *Look) Remote(kubeconfig []byte, a Access) (*Cluster, error) {
	return l.connectCluster(string(a.Origin)+" "+a.Tenant+" "+kubeconfigDigest(kubeconfig), kubeconfig, a)
}

func (l *Look) connectCluster(key string, kubeconfig []byte, a Access) (*Cluster, error) {
	connection := l.pool.findLink(key)
	if connection == nil {
		var err error
		if connection, err = l.pool.findOrDialLink(key, kubeconfig, a); err != nil {
			return nil, err
		}
	}
	return &Cluster{look: l, link: connection}, nil
}

// findLink returns a connection from which something is read, or nil.
func (p *Pool) findLink(key string) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.links[key]
}

// findOrDialLink returns a connection once the namespace of the kubeconfig has its turn to read one. It reads the kubeconfig without the lock of the pool, which
// all readers of all clusters need. A new connection is one of the pool's once something is read from it.
func (p *Pool) findOrDialLink(key string, kubeconfig []byte, a Access) (*link, error) {
	free, err := p.dials.Acquire(context.Background(), shares.Place{Namespace: cmp.Or(a.Tenant, string(a.Origin))})
	if err != nil {
		return nil, err
	}
	defer free()
	if existing := p.findLink(key); existing != nil {
		return existing, nil
	}
	d, closeFn, err := p.dial(kubeconfig, a.Origin)
	if err != nil {
		return nil, err
	}
	return &link{key: key, account: p.connectionAccount(key, a), client: d, close: closeFn, watches: map[watchKey]*watch{}}, nil
}

// connectionAccount returns the account of a connection, shared with the other connections of the same tenant.
func (p *Pool) connectionAccount(link string, a Access) *account.Account {
	if link == homeLink {
		return nil
	}
	return p.accounts.For(payerAccountKey(link, a))
}

// payerAccountKey returns the key of the account that pays for a connection: the account of the tenant who published the Site, or an own account.
// The provider's own cluster is trusted, and has none.
func payerAccountKey(link string, a Access) string {
	if a.Tenant == "" {
		return link
	}
	return "tenant " + a.Tenant
}

// Get returns an object, or nil if the cluster says that there is none. It must not be changed. It returns an *Error.
func (c *Cluster) Get(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error) {
	return c.readWatchedObject(ctx, ref, watchKey{resource: ref.Resource, namespace: ref.Namespace})
}

// Only does the same as Get, but watches this object alone, for kinds whose other objects are large or not readable for us.
func (c *Cluster) Only(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error) {
	return c.readWatchedObject(ctx, ref, watchKey{resource: ref.Resource, namespace: ref.Namespace, name: ref.Name})
}

// Everywhere returns the objects of that name in all namespaces. It returns an *Error.
func (c *Cluster) Everywhere(ctx context.Context, ref engines.Ref) ([]*unstructured.Unstructured, error) {
	s, err := c.ensureObjectWatch(ref, watchKey{resource: ref.Resource, name: ref.Name}, nil).waitUntilSettled(ctx)
	if err != nil {
		return nil, err
	}
	return s.objectsNamed(ref.Name)
}

// Select returns the objects of a kind in a namespace that match, by their names. They must not be changed. The owner is woken for a change of an object
// that matches, before or after it, and of no other. It returns an *Error.
func (c *Cluster) Select(ctx context.Context, ref engines.Ref, match func(*unstructured.Unstructured) bool) ([]*unstructured.Unstructured, error) {
	s, err := c.ensureObjectWatch(ref, watchKey{resource: ref.Resource, namespace: ref.Namespace}, match).waitUntilSettled(ctx)
	if err != nil {
		return nil, err
	}
	return s.matchingObjects(match)
}

// Fetch returns an object, or nil if the cluster says that there is none. It is read now, and not kept. It returns an *Error.
func (c *Cluster) Fetch(ctx context.Context, ref engines.Ref) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.End()
	o, err := c.link.client.Resource(ref.Resource).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // Nothing is an answer.
	}
	if failure := c.link.classifyError(err); failure != nil {
		return nil, failure
	}
	return o, nil
}

func (c *Cluster) readWatchedObject(ctx context.Context, ref engines.Ref, key watchKey) (*unstructured.Unstructured, error) {
	s, err := c.ensureObjectWatch(ref, key, nil).waitUntilSettled(ctx)
	if err != nil {
		return nil, err
	}
	return s.getObject(ref.Namespace, ref.Name)
}

// ensureObjectWatch returns the watch for the object, and records the owner's interest in the object of that name, or in the objects that match.
func (c *Cluster) ensureObjectWatch(ref engines.Ref, key watchKey, match func(*unstructured.Unstructured) bool) *watch {
	p := c.look.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if current, ok := p.links[c.link.key]; ok {
		c.link = current // Another reader was first.
	}
	p.links[c.link.key] = c.link
	w, ok := c.link.watches[key]
	if !ok {
		w = newWatch(p, c.link, key)
		c.link.watches[key] = w
		w.startRun()
	}
	if w.owners[c.look.owner] == nil || !c.look.read[w] {
		w.owners[c.look.owner] = &interest{names: map[string]bool{}}
	}
	w.owners[c.look.owner].recordInterest(ref.Name, match)
	c.look.read[w] = true
	return w
}

// Annotate sets an annotation of an object that exists. It never makes one. It returns an *Error.
func (c *Cluster) Annotate(ctx context.Context, a engines.Annotation) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{a.Key: a.Value}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode annotation")
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ctx, e := c.link.expectObject(ctx)
	defer e.End()
	_, err = c.link.client.Resource(a.On.Resource).Namespace(a.On.Namespace).
		Patch(ctx, a.On.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	if failure := c.link.classifyError(err); failure != nil {
		return failure
	}
	return nil
}
