package gate

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
	"github.com/intentplane/intentplane/provider/gates/verdict"
)

// A measurer takes measurements.
type measurer interface {
	Measure(owner types.NamespacedName, uid types.UID, tasks []meter.Task) []gates.Judgement
	Forget(owner types.NamespacedName)
}

// A connector makes externals.
type connector struct {
	// kube reads from the cache, and from the API server for kinds that the cache must not hold.
	kube client.Client
	// live reads past the cache.
	live  client.Reader
	meter measurer
	// clientFor returns the client of a namespace, which pays for the answers of its servers.
	clientFor func(namespace string) prometheus.Doer
	pool      *clusters.Pool
	memory    *memory
	now       func() time.Time
}

// Connect opens no connection.
func (c *connector) Connect(_ context.Context, g *v1alpha1.Gate) (managed.TypedExternalClient[*v1alpha1.Gate], error) {
	return &external{connector: c, look: c.pool.Look(client.ObjectKeyFromObject(g))}, nil
}

// An external measures one Gate.
type external struct {
	*connector

	look *clusters.Look
	// quick is true for a look that writes nothing.
	quick bool

	// jobRequests are Jobs that Observe found missing, for Update of the same reconcile.
	jobRequests []jobRequest
}

// Observe returns the state of the checks of a Gate. It waits for no measurement, and writes nothing. A Gate exists until it is deleted, and has no
// external objects.
func (e *external) Observe(ctx context.Context, g *v1alpha1.Gate) (managed.ExternalObservation, error) {
	if meta.WasDeleted(g) {
		e.forgetGate(client.ObjectKeyFromObject(g))
		return managed.ExternalObservation{}, nil
	}
	g.Status.SetObservedGeneration(g.GetGeneration())
	f, err := e.gatherFacts(ctx, g)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.quick {
		e.memory.recordReconcile(g, f.Now)
	}
	d := verdict.Decide(f)
	if d.Next.Verdict != "" {
		e.jobRequests = nil // The result of a Job would come too late.
	}
	e.updateStatus(g, f, d)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: len(e.jobRequests) == 0}, nil
}

// lastObservation is the status, or a newer cached observation: a status may be old, or emptied by a user, and an ended check is never
// measured again.
func (e *external) lastObservation(g *v1alpha1.Gate) v1alpha1.GateObservation {
	observation := g.Status.AtProvider
	if remembered := e.memory.lastObservation(g); countEndedChecks(remembered) > countEndedChecks(observation) || observation.ObservedPosition().Revision == 0 {
		observation = remembered
	}
	if !observation.ObservedPosition().IsSameAttempt(g.Spec.ForProvider.AskedPosition()) {
		observation = v1alpha1.GateObservation{}
	}
	return *observation.DeepCopy()
}

// countEndedChecks is how many checks have ended, and one more with the verdict.
func countEndedChecks(o v1alpha1.GateObservation) int {
	n := 0
	for _, c := range o.Checks {
		if gates.Ended(c.Phase) {
			n++
		}
	}
	if o.Verdict != "" {
		n++
	}
	return n
}

func readyCondition(g *v1alpha1.Gate, d verdict.Decision) xpv2.Condition {
	status := corev1.ConditionFalse
	if d.Reason == v1alpha1.ReasonPassed {
		status = corev1.ConditionTrue
	}
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: status, LastTransitionTime: metav1.Now(), Reason: d.Reason, Message: d.Message}
	return c.WithObservedGeneration(g.GetGeneration())
}

// Create is never called: a Gate exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.Gate) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update makes the Jobs of checks. It returns an error if one cannot be made.
func (e *external) Update(ctx context.Context, g *v1alpha1.Gate) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, e.createJobs(ctx, g)
}

// Delete is never called: a Gate has no external objects.
func (e *external) Delete(context.Context, *v1alpha1.Gate) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

// Disconnect drops the caches of objects that were not read this time.
func (e *external) Disconnect(context.Context) error {
	e.look.Done()
	return nil
}
