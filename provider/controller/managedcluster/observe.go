package managedcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// FieldOwner is the name under which objects are applied.
const FieldOwner = "intentplane-managedcluster"

// A connector makes externals.
type connector struct {
	// kube reads from the cache, and writes.
	kube client.Client
	// live reads past the cache.
	live client.Reader
	// told is what watches told of who Secrets are. Kube would ask the API server.
	told client.Reader
	// namespace of the provider.
	namespace string
	// usage records which configuration is used.
	usage  resource.ModernTracker
	pool   *clusters.Pool
	prober clusterapi.Asker
	limits clusters.Limits
	memory *memory
	log    logging.Logger
	now    func() time.Time
}

// Connect contacts no other cluster. It returns an error if the use of the configuration cannot be recorded, or the provider's own one is
// not valid.
func (c *connector) Connect(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.TypedExternalClient[*v1alpha1.ManagedCluster], error) {
	// A usage cannot be made in a namespace that is going, and is of no use to an object that is.
	if !meta.WasDeleted(mc) && mc.GetProviderConfigReference() != nil {
		if err := c.usage.Track(ctx, mc); err != nil {
			return nil, errors.Wrap(err, "cannot track use of configuration")
		}
	}
	key := client.ObjectKeyFromObject(mc)
	look := c.pool.Look(key)
	h, err := look.Home()
	if err != nil {
		return nil, err
	}
	return &external{connector: c, look: look, home: h, note: c.memory.of(key)}, nil
}

// An external is one cluster, for one reconcile.
type external struct {
	*connector

	look *clusters.Look
	home home
	note *note
	// glance is true for a look that writes nothing.
	glance bool

	// What Observe saw, for Update and Delete of the same reconcile.
	facts    facts
	decision decision
}

// Observe compares the objects of a cluster with what they should be. It writes nothing. A ManagedCluster exists until it is deleted,
// and then as long as something is left of what it made.
func (e *external) Observe(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.ExternalObservation, error) {
	mc.Status.SetObservedGeneration(mc.GetGeneration())
	f, err := e.gather(ctx, mc)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.glance {
		e.note.looked = f.now
	}
	e.facts, e.decision = f, decide(f)
	// What was made is told by the status as it was read.
	exists := !meta.WasDeleted(mc) || left(f)
	e.show(mc, f, e.decision)
	if meta.WasDeleted(mc) {
		return managed.ExternalObservation{ResourceExists: exists}, nil
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: len(e.decision.apply) == 0 && !e.decision.publish}, nil
}

// left is true if something of what a ManagedCluster made is there, or nobody can tell.
func left(f facts) bool {
	return f.site.ours || f.reserved || slices.ContainsFunc(f.parts, func(p part) bool { return doubtful(f, p) || deletable(f.mc, p) })
}

// doubtful is true for an object of which nobody can tell whether it is there. What is of a kind that could not be looked for was never
// made, unless something was seen that was, or the name was reserved for it.
func doubtful(f facts, p part) bool {
	return p.unknown != "" && (p.resource.Resource != "" || f.reserved || made(f.mc))
}

// deletable is true for an object that this ManagedCluster made, and that is the one that it saw last, or that a person wanted in its place.
func deletable(mc *v1alpha1.ManagedCluster, p part) bool {
	if p.live == nil || !ours(mc, p.live) {
		return false
	}
	uid := recorded(mc, p.want.GetKind())
	return uid == "" || uid == string(p.live.GetUID()) || forgiven(mc, uid)
}

// Create is never called: a ManagedCluster exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.ManagedCluster) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update applies what is not as it should be, the Cluster last, and publishes the Site. Before it makes anything it reserves the cluster's
// name, and if somebody else has that, it writes nothing. It returns an error if an object is refused.
func (e *external) Update(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.ExternalUpdate, error) {
	if len(e.decision.apply) > 0 && incomplete(e.facts) {
		taken, err := e.reserve(ctx, mc)
		if err != nil {
			return managed.ExternalUpdate{}, err
		}
		if taken != "" {
			e.facts.taken, e.facts.again = taken, e.facts.now.Add(reservedAgain)
			e.show(mc, e.facts, decide(e.facts))
			return managed.ExternalUpdate{}, nil
		}
	}
	for _, o := range e.decision.apply {
		err := e.kube.Patch(ctx, o.DeepCopy(), client.Apply, client.FieldOwner(FieldOwner), client.ForceOwnership) //nolint:staticcheck // Objects of others have no apply configuration.
		if err != nil {
			return managed.ExternalUpdate{}, errors.Wrapf(err, "cannot apply %s %q", o.GetKind(), o.GetName())
		}
	}
	if !e.decision.publish {
		return managed.ExternalUpdate{}, nil
	}
	denied, err := e.publishSite(ctx, mc)
	if denied != "" {
		e.facts.site.problem = denied
		e.show(mc, e.facts, decide(e.facts))
	}
	return managed.ExternalUpdate{}, err
}

// Delete withdraws the Site, and then deletes the Cluster that was seen last, and waits: Cluster API deletes workers, control plane
// and infrastructure in its order. What is left without a Cluster goes after that, the control plane first. Templates stay. It returns an
// error while deployments use the Site: at once if the cluster is protected, else when nothing but the Site is left.
func (e *external) Delete(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.ExternalDelete, error) {
	users, err := e.withdraw(ctx, mc)
	if err != nil {
		return managed.ExternalDelete{}, err
	}
	if p := mc.Spec.ForProvider.DeletionProtection; len(users) > 0 && (p == nil || *p) {
		return managed.ExternalDelete{}, errors.Errorf("%s: deployments use Site %s: %s. Delete them, or set spec.forProvider.deletionProtection to false", v1alpha1.ReasonInUse, siteName(mc), some(users))
	}
	// The Cluster is the last part, and the first to go.
	for _, p := range slices.Backward(e.facts.parts) {
		if doubtful(e.facts, p) {
			return managed.ExternalDelete{}, errors.Errorf("%s: it cannot be told whether %s %s is left", p.unknown, p.want.GetKind(), p.want.GetName())
		}
		if deletable(mc, p) {
			return managed.ExternalDelete{}, e.remove(ctx, mc, p)
		}
	}
	if len(users) > 0 {
		return managed.ExternalDelete{}, errors.Errorf("%s: the cluster is gone, and Site %s stays while deployments use it: %s. Delete them, or take the Site out of them", v1alpha1.ReasonInUse, siteName(mc), some(users))
	}
	return managed.ExternalDelete{}, e.release(ctx, mc)
}

// remove an object, and no other of its name.
func (e *external) remove(ctx context.Context, mc *v1alpha1.ManagedCluster, p part) error {
	if p.live.GetDeletionTimestamp() == nil {
		uid := p.live.GetUID()
		err := e.kube.Delete(ctx, p.live.DeepCopy(), client.Preconditions{UID: &uid})
		return errors.Wrapf(client.IgnoreNotFound(err), "cannot delete %s %q", p.live.GetKind(), p.live.GetName())
	}
	since := mc.GetDeletionTimestamp()
	if end := since.Add(within(mc.Spec.ForProvider.Timeouts.Deletion, defaultDeletion)); !e.now().Before(end) {
		c := e.facts.report.Condition(readiness.TypeDeleting)
		return errors.Errorf("%s: %s %s is still being deleted: %s: %s", v1alpha1.ReasonDeletionTimedOut, p.live.GetKind(), p.live.GetName(), c.Reason, readiness.Blocker{By: c.By, Message: c.Message})
	}
	return nil
}

const maxNamed = 5

func some(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Disconnect drops what was not read this time.
func (e *external) Disconnect(context.Context) error {
	e.look.Done()
	return nil
}

// A memory is what is kept from one reconcile to the next. Losing it costs a little time, and nothing else.
type memory struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]*note
	// publishing is held while the Sites of a namespace are counted and one more is created.
	publishing sync.Mutex
}

// A note is what is kept about one ManagedCluster. Only one reconcile at a time has it.
type note struct {
	// steady is what the cluster counts as.
	steady readiness.Steady
	// carried is the topology that Cluster API was last seen to be done with.
	carried carried
	// pace at which steps follow one another, and writes of progress that the status may still have.
	pace, writes *rate.Limiter
	// held is what was read of the kubeconfig.
	held clusterapi.Held
	// looked is when it was last reconciled for good.
	looked time.Time
	// known is true once it was looked at.
	known bool
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
}

// trusted is what the cluster counts as. Who begins takes that from what was written down, or each cluster would be lost for a while
// whenever the provider begins.
func (n *note) trusted(mc *v1alpha1.ManagedCluster) readiness.Steady {
	at := mc.Status.AtProvider
	if n.steady != (readiness.Steady{}) || at.UID == "" || at.ReadySince == nil {
		return n.steady
	}
	return readiness.Trusted(at.UID, at.ReadySince.Time)
}

// due is when progress may be written. If that is now, it counts as written, unless nothing is written by a glance.
func (n *note) due(now time.Time, glance bool) time.Time {
	pace, writes := n.pace.ReserveN(now, 1), n.writes.ReserveN(now, 1)
	wait := max(pace.DelayFrom(now), writes.DelayFrom(now))
	if wait > 0 || glance {
		pace.CancelAt(now)
		writes.CancelAt(now)
	}
	return now.Add(wait)
}

func newMemory() *memory { return &memory{notes: map[types.NamespacedName]*note{}} }

func (m *memory) of(key types.NamespacedName) *note {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.notes[key]
	if !ok {
		n = &note{pace: rate.NewLimiter(rate.Every(progressPace), 1), writes: rate.NewLimiter(rate.Every(progressInterval), progressBurst)}
		m.notes[key] = n
	}
	return n
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, key)
}
