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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// FieldOwner is the field manager of server-side apply.
const FieldOwner = "intentplane-managedcluster"

// A connector connects to the management cluster for one reconcile.
type connector struct {
	// kube reads from the cache, and writes.
	kube client.Client
	// live reads from the API server.
	live client.Reader
	// metadata reads the metadata of Secrets from the cache. The client kube would read Secrets from the API server.
	metadata client.Reader
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

// Connect contacts no workload cluster. It returns an error if the use of the configuration cannot be recorded, or the provider's own
// client configuration is not valid.
func (c *connector) Connect(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.TypedExternalClient[*v1alpha1.ManagedCluster], error) {
	// A usage cannot be created in a namespace that is being deleted, and a ManagedCluster that is being deleted needs none.
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
	return &external{connector: c, look: look, management: h, note: c.memory.NoteOf(mc)}, nil
}

// An external observes and changes one cluster, for one reconcile.
type external struct {
	*connector

	look       *clusters.Look
	management managementCluster
	note       *note
	// quick is true for a quick observation, which writes nothing.
	quick bool

	// facts and decision of Observe, for Update and Delete of the same reconcile.
	facts    facts
	decision decision
}

// Observe compares the objects of a cluster with the desired ones. It writes nothing. A ManagedCluster exists until it is deleted, and
// after that until all that it made is gone.
func (e *external) Observe(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.ExternalObservation, error) {
	mc.Status.SetObservedGeneration(mc.GetGeneration())
	f, err := e.gatherFacts(ctx, mc)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.quick {
		e.note.reconciledAt = f.now
	}
	e.facts, e.decision = f, decideCluster(f)
	// hasRemainingObject needs the UIDs of the status as it was read, so it comes before updateStatus.
	exists := !meta.WasDeleted(mc) || hasRemainingObject(f)
	e.updateStatus(mc, f, e.decision)
	if meta.WasDeleted(mc) {
		return managed.ExternalObservation{ResourceExists: exists}, nil
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: len(e.decision.apply) == 0 && !e.decision.publish}, nil
}

// hasRemainingObject reports whether an object that a ManagedCluster made exists, or may exist.
func hasRemainingObject(f facts) bool {
	return f.site.ours || f.reserved || slices.ContainsFunc(f.parts, func(p part) bool { return isUncertain(f, p) || isDeletable(f.mc, p) })
}

// isUncertain reports whether it is unknown if an object exists that may be ours. An object whose kind could not be looked up was never
// made, unless an object of ours was recorded, or the name is reserved for us.
func isUncertain(f facts, p part) bool {
	return p.unknown != "" && (p.resource.Resource != "" || f.reserved || hasRecordedObjects(f.mc))
}

// isDeletable reports whether this ManagedCluster may delete an object: it made the object, which is the recorded object or a replacement
// that a user allowed.
func isDeletable(mc *v1alpha1.ManagedCluster, p part) bool {
	if p.live == nil || !isOwnedByCluster(mc, p.live) {
		return false
	}
	uid := recordedUID(mc, p.want.GetKind())
	return uid == "" || uid == string(p.live.GetUID()) || isRecreateAllowed(mc, uid)
}

// Create is never called: a ManagedCluster exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.ManagedCluster) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update applies objects that differ from the desired ones, the Cluster last, and publishes the Site. It reserves the cluster's name before
// it makes an object. If another ManagedCluster has the name, it writes nothing. It returns an error if the API server refuses an object.
func (e *external) Update(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.ExternalUpdate, error) {
	if len(e.decision.apply) > 0 && isIncomplete(e.facts) {
		rival, err := e.reserveName(ctx, mc)
		if err != nil {
			return managed.ExternalUpdate{}, err
		}
		if rival != "" {
			e.facts.taken, e.facts.again = rival, e.facts.now.Add(reservedAgain)
			e.updateStatus(mc, e.facts, decideCluster(e.facts))
			return managed.ExternalUpdate{}, nil
		}
	}
	for _, o := range e.decision.apply {
		err := e.kube.Patch(ctx, o.DeepCopy(), client.Apply, client.FieldOwner(FieldOwner), client.ForceOwnership) //nolint:staticcheck // The objects have no typed apply configuration.
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
		e.updateStatus(mc, e.facts, decideCluster(e.facts))
	}
	return managed.ExternalUpdate{}, err
}

// Delete withdraws the Site, then deletes the recorded Cluster, and waits: Cluster API deletes workers, control plane and infrastructure in
// its order. Objects that are left without a Cluster are deleted after that, the control plane first. Templates stay. It returns an error
// while deployments use the Site: at once if the cluster is protected, otherwise when only the Site is left.
func (e *external) Delete(ctx context.Context, mc *v1alpha1.ManagedCluster) (managed.ExternalDelete, error) {
	users, err := e.withdrawSite(ctx, mc)
	if err != nil {
		return managed.ExternalDelete{}, err
	}
	if p := mc.Spec.ForProvider.DeletionProtection; len(users) > 0 && (p == nil || *p) {
		return managed.ExternalDelete{}, errors.Errorf("%s: deployments use Site %s: %s. Delete them, or set spec.forProvider.deletionProtection to false", v1alpha1.ReasonInUse, desired.SiteName(mc), joinFirstNames(users))
	}
	// The Cluster is the last part, and is deleted first.
	for _, p := range slices.Backward(e.facts.parts) {
		if isUncertain(e.facts, p) {
			return managed.ExternalDelete{}, errors.Errorf("%s: cannot determine whether %s %s still exists", p.unknown, p.want.GetKind(), p.want.GetName())
		}
		if isDeletable(mc, p) {
			return managed.ExternalDelete{}, e.deleteObject(ctx, mc, p)
		}
	}
	if len(users) > 0 {
		return managed.ExternalDelete{}, errors.Errorf("%s: the cluster is gone, and Site %s stays while deployments use it: %s. Delete them, or remove the Site from them", v1alpha1.ReasonInUse, desired.SiteName(mc), joinFirstNames(users))
	}
	return managed.ExternalDelete{}, e.releaseName(ctx, mc)
}

// deleteObject deletes the object with the observed UID, and no other object of that name. It returns an error if the deletion takes too
// long.
func (e *external) deleteObject(ctx context.Context, mc *v1alpha1.ManagedCluster, p part) error {
	if p.live.GetDeletionTimestamp() == nil {
		uid := p.live.GetUID()
		err := e.kube.Delete(ctx, p.live.DeepCopy(), client.Preconditions{UID: &uid})
		return errors.Wrapf(client.IgnoreNotFound(err), "cannot delete %s %q", p.live.GetKind(), p.live.GetName())
	}
	deletedAt := mc.GetDeletionTimestamp()
	if end := deletedAt.Add(timeoutOrDefault(mc.Spec.ForProvider.Timeouts.Deletion, defaultDeletion)); !e.now().Before(end) {
		c := e.facts.report.Condition(readiness.TypeDeleting)
		return errors.Errorf("%s: %s %s is still being deleted: %s: %s", v1alpha1.ReasonDeletionTimedOut, p.live.GetKind(), p.live.GetName(), c.Reason, readiness.Blocker{By: c.By, Message: c.Message})
	}
	return nil
}

const maxNamed = 5

func joinFirstNames(names []string) string {
	if remaining := len(names) - maxNamed; remaining > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("and %d more", remaining))
	}
	return strings.Join(names, ", ")
}

// Disconnect stops the watches that this reconcile did not use.
func (e *external) Disconnect(context.Context) error {
	e.look.Done()
	return nil
}

// A memory holds the notes of ManagedClusters from one reconcile to the next. If it is lost, some work is repeated.
type memory struct {
	*setup.Memory[note]

	// publishing is locked while the Sites of a namespace are counted and one more is created.
	publishing sync.Mutex
}

// A note holds the state kept between reconciles of one ManagedCluster. Only one reconcile at a time uses it.
type note struct {
	// steady decides whether the cluster counts as ready.
	steady readiness.Steady
	// topology is the ClusterClass that Cluster API last reported as reconciled.
	topology topologyProgress
	// pace limits the rate of progress writes, and writes the long-term rate.
	pace, writes *rate.Limiter
	// held is the cached reading of the kubeconfig.
	held clusterapi.Held
	// reconciledAt is the time at which the ManagedCluster was last reconciled in full.
	reconciledAt time.Time
	// observed is true after the first observation.
	observed bool
	// next is the latest time of the next reconcile. Zero means after the interval.
	next time.Time
}

// trustedReadiness returns the readiness that is kept in memory. After a start of the provider it continues from the status, otherwise each
// cluster would count as not ready for a while.
func (n *note) trustedReadiness(mc *v1alpha1.ManagedCluster) readiness.Steady {
	observation := mc.Status.AtProvider
	if n.steady != (readiness.Steady{}) || observation.UID == "" || observation.ReadySince == nil {
		return n.steady
	}
	return readiness.Trusted(observation.UID, observation.ReadySince.Time)
}

// reserveProgressWrite returns when progress may be written. If that is now, the write is counted, except in a quick observation, which
// writes nothing.
func (n *note) reserveProgressWrite(now time.Time, glance bool) time.Time {
	pace, writes := n.pace.ReserveN(now, 1), n.writes.ReserveN(now, 1)
	wait := max(pace.DelayFrom(now), writes.DelayFrom(now))
	if wait > 0 || glance {
		pace.CancelAt(now)
		writes.CancelAt(now)
	}
	return now.Add(wait)
}

func newNoteMemory() *memory { return &memory{Memory: setup.NewMemory(newObjectNote)} }

func newObjectNote() *note {
	return &note{pace: rate.NewLimiter(rate.Every(progressPace), 1), writes: rate.NewLimiter(rate.Every(progressInterval), progressBurst)}
}
