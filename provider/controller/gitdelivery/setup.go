// Package gitdelivery is the controller of GitDeliveries: it commits and pushes the trees and the ledger of claims to Git repositories.
//
// The controller gathers facts, a pure function decides, and the controller carries out the decision in one push.
package gitdelivery

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/fastpath"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/observation"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/delivery/condition"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/provider/witness"
)

const (
	// timeout of a reconcile: one observation, and several pushes that lose a race.
	timeout = 2 * time.Minute

	// jitter is the maximum addition to the interval, as a fraction of it, so that deliveries with the same start do not stay in step.
	jitter = 0.2

	// patience is the time that a worker waits for an operation of a repository. The operation continues without the worker.
	patience = 5 * time.Second

	// trackedBytes is the size of the cache of composed directories in tracks.
	trackedBytes = 8 << 20

	// pause is the maximum pause before the retry of a push that lost a race. A writer with a longer pause after each race loses more races.
	pause = 20 * time.Millisecond
)

// Options of the controller.
type Options struct {
	// Metrics of the operations. Required.
	Metrics *telemetry.Metrics

	// Guard checks the addresses of ProviderConfigs of namespaces. The zero Guard refuses the most.
	Guard address.Guard

	// Budget of the answers that ProviderConfigs of namespaces cause. Nil is a budget for GitDeliveries alone.
	Budget *budget.Budget

	// HonourMandates permits the provider to record events of a revision by the mandate of its delivery. False means that it records only the events of
	// specs.
	HonourMandates bool
}

// Setup adds the controller of GitDeliveries to a manager. It returns the pool of repositories, for other readers as well, and an error if the controller
// cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, g Options) (*repository.Pool, error) {
	gvk := v1alpha1.GroupVersion.WithKind("GitDelivery")
	name := managed.ControllerName(gvk.GroupKind().String())
	kube, log := mgr.GetClient(), o.Logger.WithValues("controller", name)
	events := &setup.EventSource{}
	unchanged := fastpath.New(o.PollInterval, time.Now, rand.Float64)
	retries := setup.NewRetryShares(unchanged, o.MaxConcurrentReconciles, time.Now)
	unchanged.OnWake = retries.Forgive
	pool := repository.NewPool(repository.Options{
		Now:      time.Now,
		Pause:    func() time.Duration { return time.Duration(rand.Float64() * float64(pause)) }, //nolint:gosec // As below.
		Wake:     unchanged.InvalidateAndWake(events.Wake),
		Patience: patience,
		Ended:    countOperations(g.Metrics),

		Concealed: logConcealed(log),
		Budget:    g.Budget,
	})
	unchanged.OnDelete = pool.Forget
	if err := mgr.Add(pool); err != nil {
		return nil, errors.Wrap(err, "cannot add the pool of repositories")
	}
	c := &connector{
		named:    overlap.NewNames(),
		fastPath: unchanged,
		kube:     kube,
		live:     mgr.GetAPIReader(),
		pool:     pool,
		guard:    g.Guard,
		interval: o.PollInterval,
		metrics:  g.Metrics,
		now:      time.Now,
		recorder: setup.NewRecorder(mgr, name),
		logger:   log,

		witnesses: witness.NewReader(kube), honoursMandates: g.HonourMandates, tracker: directories.NewTracker(trackedBytes),
	}
	retaining := &composite.Connector[*v1alpha1.GitDelivery]{TypedExternalConnector: c, Kind: gvk.GroupKind(), Live: mgr.GetAPIReader(), Recorder: c.recorder}
	r := managed.NewReconciler(mgr, resource.ManagedKind(gvk), append(setup.Options(mgr, o, name, retaining, pollIntervalHook(kube, unchanged)),
		managed.WithTimeout(timeout), managed.WithFinalizer(finalizer{resource.NewAPIFinalizer(kube, managed.FinalizerName)}))...)
	if err := witness.Index(context.Background(), mgr.GetFieldIndexer(), &v1alpha1.SiteSync{}); err != nil {
		return nil, err
	}
	w := waker{kube: kube, log: log}
	added, err := setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Reconciler: r, Events: events,
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler { unchanged.Inner = limited; return retries },
		Watch: func(b *builder.Builder) *builder.Builder {
			return addWatches(b, unchanged, w)
		},
	})
	if err != nil {
		return nil, err
	}
	c.witnesses.WatchOnceServed(mgr, o.Gate.Register, added, unchanged.InvalidateMapped(w.requestsForWitness))
	return pool, nil
}

// addWatches requeues a delivery after a change of the delivery, its Sites, its configuration or its Secrets. New evidence of SiteSyncs and other
// deliveries requeues homes with a mandate, and an event that a home records by its mandate requeues the other deliveries.
func addWatches(b *builder.Builder, unchanged *fastpath.Reconciler, w waker) *builder.Builder {
	isEdited := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return b.
		For(&v1alpha1.GitDelivery{}, builder.WithPredicates(unchanged.NoteRequests(), unchanged.InvalidateOnChange(changesDelivery()))).
		Watches(&catalogv1alpha1.Site{}, unchanged.InvalidateMapped(w.requestsForSite)).
		Watches(&v1alpha1.GitDelivery{}, unchanged.InvalidateMapped(w.requestsForWitness), builder.WithPredicates(witness.HasNewStatement())).
		Watches(&v1alpha1.SiteSync{}, unchanged.InvalidateMapped(w.requestsForWitness), builder.WithPredicates(witness.HasNewStatement())).
		Watches(&configv1alpha1.ProviderConfig{}, unchanged.InvalidateMapped(w.requestsForConfig), isEdited).
		Watches(&configv1alpha1.ClusterProviderConfig{}, unchanged.InvalidateMapped(w.requestsForConfig), isEdited).
		// The cache has only the metadata of Secrets, not their content.
		WatchesMetadata(&corev1.Secret{}, unchanged.InvalidateMapped(w.requestsForSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
}

// changesDelivery passes the changes of a delivery that requeue it.
func changesDelivery() predicate.Predicate {
	return predicate.Or(resource.DesiredStateChanged(), statusOrFinalizerLost(), witness.PositionDelivered())
}

// pollIntervalHook returns the interval of the delivery's configuration where it is shorter than the provider's own. Only a deadline, the end of a pause or an
// due event shortens it: the first delivery after an interval fetches for all deliveries of the repository.
func pollIntervalHook(kube client.Reader, unchanged *fastpath.Reconciler) managed.PollIntervalHook {
	return func(mg resource.Managed, interval time.Duration) time.Duration {
		d, ok := mg.(*v1alpha1.GitDelivery)
		if !ok {
			return interval
		}
		// The read uses the cache. After an error the provider's interval applies.
		if cfg, err := remote.ReadConfig(context.Background(), kube, d.GetProviderConfigReference(), d.GetNamespace()); err == nil {
			interval = cfg.Interval(interval)
		}
		interval += time.Duration(rand.Float64() * jitter * float64(interval)) //nolint:gosec // The number spreads load, and protects no secret.
		if mandate.IsDue(d, time.Now()) {
			return setup.SoonInterval
		}
		return unchanged.UntilWake(client.ObjectKeyFromObject(d), condition.UntilDeadline(d, time.Now(), interval))
	}
}

// countOperations returns a function that counts operations.
func countOperations(m *telemetry.Metrics) func(repository.Operation) {
	return func(o repository.Operation) {
		m.Operation(o.Name, string(failure.ClassOf(o.Err)), o.Took)
		if o.Deliveries > 0 && o.Err == nil {
			m.Group(o.Deliveries)
		}
	}
}

// A finalizer retains the status that Observe set: an update of the object would replace it with the status of the API server.
type finalizer struct {
	resource.Finalizer
}

// AddFinalizer adds the finalizer, and leaves the status in memory as it is.
func (f finalizer) AddFinalizer(ctx context.Context, o resource.Object) error {
	d, ok := o.(*v1alpha1.GitDelivery)
	if !ok {
		return f.Finalizer.AddFinalizer(ctx, o)
	}
	status := d.Status.DeepCopy()
	err := f.Finalizer.AddFinalizer(ctx, o)
	d.Status = *status
	return err
}

// A connector connects deliveries to their repositories.
type connector struct {
	// kube reads from the cache, and reads objects that the cache must not hold from the API server.
	kube client.Client
	// live reads from the API server, without the cache.
	live client.Reader
	// fastPath gets the observations of unchanged deliveries.
	fastPath *fastpath.Reconciler
	// named caches the names of the objects in files.
	named *overlap.Names
	// pool of the open repositories.
	pool *repository.Pool
	// guard checks the addresses of ProviderConfigs of namespaces.
	guard address.Guard
	// witnesses are read for homes with a mandate, and honoursMandates reports whether the provider acts by mandates.
	witnesses       *witness.Reader
	honoursMandates bool
	// tracker caches composed directories in tracks. Nil caches none.
	tracker *directories.Tracker
	metrics *telemetry.Metrics
	// interval is the maximum age of an observation, if the configuration has no shorter interval.
	interval time.Duration
	now      func() time.Time
	recorder xpevent.Recorder
	logger   logging.Logger
}

// Connect reads the configuration and its credentials. It contacts no repository. It returns an error, and sets the Ready condition, if either is missing,
// not valid, or not for this namespace. It writes nothing: a ProviderConfigUsage would be one more request to the API server for each deployment, and the
// delivery names its configuration itself.
func (c *connector) Connect(ctx context.Context, d *v1alpha1.GitDelivery) (managed.TypedExternalClient[*v1alpha1.GitDelivery], error) {
	d.Status.SetObservedGeneration(d.GetGeneration())
	e, err := c.openRepository(ctx, d)
	if err == nil {
		return e, nil
	}
	message := err.Error()
	if meta.WasDeleted(d) {
		message += wayOut
	}
	condition.SetReady(d, c.now(), condition.ReasonOf(err), message)
	// Without a configuration no repository can be observed.
	fastpath.AnswerRequest(d)
	return nil, err
}

// openRepository opens the repository of a delivery.
func (c *connector) openRepository(ctx context.Context, d *v1alpha1.GitDelivery) (*external, error) {
	cfg, err := remote.ReadConfig(ctx, c.kube, d.GetProviderConfigReference(), d.GetNamespace())
	if err != nil {
		return nil, err
	}
	opener := remote.Opener{Kube: c.kube, Pool: c.pool, Guard: c.guard, Now: c.now}
	o, err := opener.OpenConfig(ctx, cfg, d.GetNamespace(), meta.WasDeleted(d))
	if err != nil {
		return nil, err
	}
	e := &external{connector: c, repo: o.Repository, config: cfg, age: cfg.Interval(c.interval), clusterUID: o.ClusterUID}
	e.gatherer = c.newGatherer(e)
	return e, nil
}

// newGatherer returns the Gatherer for an opened repository.
func (c *connector) newGatherer(e *external) *observation.Gatherer {
	return &observation.Gatherer{
		Kube: c.kube, Live: c.live, Repository: e.repo, Config: e.config, Age: e.age, ClusterUID: e.clusterUID, OpenOther: c.openOther,
		Witnesses: c.witnesses, HonoursMandates: c.honoursMandates, Tracker: c.tracker, Names: c.named, Now: c.now, Logger: c.logger,
	}
}

// openOther opens the repository of another delivery of a claim, to read from it.
func (c *connector) openOther(ctx context.Context, d *v1alpha1.GitDelivery) (*observation.Gatherer, error) {
	e, err := c.openRepository(ctx, d)
	if err != nil {
		return nil, err
	}
	return e.gatherer, nil
}
