// Package transition reports the phases of deployments and clusters: an event for each change of the phase, and metrics.
//
// The function is called several times for one change, and its answers may be discarded, so it reports nothing. The status counts. The name
// of an event is derived from the change, so a change has one event, and the process that creates the event counts the change: each change
// is counted once, and changes that happened while no provider ran are counted, too.
package transition

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// maxEventAge is the greatest age of a change that is reported although this process did not observe it happen. API servers delete events
// after an hour by default, so that older changes could be reported twice.
const maxEventAge = 30 * time.Minute

// maxPending is the maximum number of events of one object that are not made yet, and the same for its changes. A quota of the namespace may refuse events for
// any time, and a tenant causes changes at any rate.
const maxPending = 64

// A Counter counts changes of the phase, and measures phases.
type Counter interface {
	// Transition counts a change.
	Transition(source, target string)

	// PhaseTook records the time that a phase took.
	PhaseTook(phase string, took time.Duration)

	// Current adds delta, which may be negative, to the number of objects that are in a phase, with an outcome.
	Current(phase, outcome string, delta int)
}

// A Reconciler follows the objects of one kind that have transitions in their status.
type Reconciler struct {
	kube    client.Client
	gvk     schema.GroupVersionKind
	changes Counter
	metrics *telemetry.Metrics

	// tracer is nil where no traces are exported.
	tracer Tracer

	now func() time.Time
	log logging.Logger

	mu   sync.Mutex
	logs map[types.NamespacedName]*phaseLog
}

// observedObject holds the fields that are read from an object. Only deployments have revisions and check results.
type observedObject struct {
	Status observedStatus `json:"status"`
}

type observedStatus struct {
	xpv2.ConditionedStatus `json:",inline"`

	Phase    string `json:"phase"`
	Outcome  string `json:"outcome"`
	Message  string `json:"message"`
	Delivery struct {
		GitCommit string `json:"gitCommit"`
	} `json:"delivery"`
	// Rollback has a reason once the revision was rejected.
	Rollback struct {
		Reason string `json:"reason"`
	} `json:"rollback"`
	Transitions       []change                              `json:"transitions"`
	Revision          int64                                 `json:"revision"`
	ValidationResults []deploymentv1alpha1.ValidationResult `json:"validationResults"`
	Requests          []deploymentv1alpha1.RequestStatus    `json:"requests"`
	Canary            *deploymentv1alpha1.CanaryStatus      `json:"canary"`
}

// rolloutRequest returns the RolloutRequest that made or last changed the present revision. It has no name if no request did.
func (s *observedStatus) rolloutRequest() deploymentv1alpha1.RequestStatus {
	for _, r := range slices.Backward(s.Requests) {
		if result := rolloutv1alpha1.Result(r.Result); result == rolloutv1alpha1.ResultTaken || result == rolloutv1alpha1.ResultDone {
			return r
		}
	}
	return deploymentv1alpha1.RequestStatus{}
}

// Reconcile reports and counts the new transitions of a status. It returns an error if the object cannot be read, or an event cannot be
// created.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	err := r.kube.Get(ctx, req.NamespacedName, u)
	if kerrors.IsNotFound(err) {
		r.forgetObject(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get object")
	}
	d := &observedObject{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot read object")
	}
	s := r.findOrAddPhaseLog(req.NamespacedName, string(u.GetUID()))
	r.updateCurrent(s, &d.Status)
	r.updateUnreachable(s, d.Status.isLedgerUnreachable())
	r.collectSteps(s, &d.Status)
	r.updateCanary(s, u, &d.Status)
	if err := r.createCanaryEvents(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.reportDrift(ctx, u, s); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.createEvents(ctx, u, s, &d.Status); err != nil {
		return reconcile.Result{}, err
	}
	r.countResults(s, &d.Status)
	return reconcile.Result{}, nil
}

// findOrAddPhaseLog returns the log of an object. A recreated object has a new log.
func (r *Reconciler) findOrAddPhaseLog(key types.NamespacedName, uid string) *phaseLog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.logs[key]; ok && s.uid == uid {
		return s
	}
	r.removeObject(r.logs[key])
	s := &phaseLog{uid: uid, judged: map[judgement]bool{}}
	r.logs[key] = s
	return s
}

func (r *Reconciler) forgetObject(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeObject(r.logs[key])
	delete(r.logs, key)
}

// decrementCurrent removes an object from the count of its last phase.
func (r *Reconciler) decrementCurrent(s *phaseLog) {
	if s != nil && s.phase != "" {
		r.changes.Current(s.phase, s.outcome, -1)
	}
}

// removeObject removes a deleted object from all counts.
func (r *Reconciler) removeObject(s *phaseLog) {
	r.decrementCurrent(s)
	if s != nil && s.isLedgerUnreachable {
		r.metrics.LedgerUnreachable(-1)
	}
	if s != nil && s.canary.last.State != "" {
		r.metrics.CanaryState(s.canary.last.State, -1)
	}
}

// updateCurrent moves an object to the count of its present phase.
func (r *Reconciler) updateCurrent(s *phaseLog, status *observedStatus) {
	if s.phase == status.Phase && s.outcome == status.Outcome {
		return
	}
	r.decrementCurrent(s)
	if s.phase, s.outcome = status.Phase, status.Outcome; s.phase != "" {
		r.changes.Current(s.phase, s.outcome, 1)
	}
}

// collectSteps collects the new changes of a status. A change that is too old is not reported. It is counted if this process observed the
// object before, since otherwise an earlier process may have counted it. The oldest one of too many changes without an event is counted alone.
func (r *Reconciler) collectSteps(s *phaseLog, status *observedStatus) {
	for _, transition := range s.takeNewSteps(status.Transitions) {
		switch old := r.now().Sub(transition.At.Time) >= maxEventAge; {
		case !old:
			s.pending = append(s.pending, transition)
		case s.observed:
			r.countTransition(s, transition)
		}
	}
	for ; len(s.pending) > maxPending; s.pending = s.pending[1:] {
		r.countTransition(s, s.pending[0])
	}
}

// countTransition counts a change, and measures the phase that it left.
func (r *Reconciler) countTransition(s *phaseLog, transition step) {
	if transition.To == string(deploymentv1alpha1.PhasePending) {
		s.startedRevision = transition.Revision
	}
	r.changes.Transition(transition.From, transition.To)
	if transition.hasDuration {
		r.changes.PhaseTook(transition.From, transition.duration)
	}
}

// countResults counts new check results. Results in the first observation count only if this process counted the start of their revision:
// otherwise an earlier process counted them.
func (r *Reconciler) countResults(s *phaseLog, status *observedStatus) {
	for _, passed := range s.takeNewResults(status.Revision, status.ValidationResults) {
		if s.observed || s.startedRevision == status.Revision {
			r.metrics.Validated(passed)
		}
	}
	s.observed = true
}

// createEvents creates the events of pending steps, and counts the steps. A step whose event exists was counted by another process.
func (r *Reconciler) createEvents(ctx context.Context, u *unstructured.Unstructured, s *phaseLog, status *observedStatus) error {
	for len(s.pending) > 0 {
		transition, isLast := s.pending[0], len(s.pending) == 1
		reason := s.eventReasonOfStep(transition, status, isLast)
		e := newTransitionEvent(u, transition, reason)
		r.explainEvent(ctx, e, transition, status, isLast)
		err := r.kube.Create(ctx, e)
		switch {
		case err == nil:
			r.countTransition(s, transition)
			r.exportStepTrace(ctx, u, s, transition, reason, status)
			r.log.Info("Phase changed", "kind", r.gvk.Kind, "claim", u.GetNamespace()+"/"+u.GetName(), "group", r.gvk.Group,
				"from", transition.From, "phase", transition.To, "revision", transition.Revision, "commit", status.commitOfTransition(transition, isLast), "rolloutRequest", status.rolloutRequest().Name)
		case kerrors.IsAlreadyExists(err), kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		default:
			return errors.Wrap(err, "cannot make event")
		}
		if reason == ReasonRevisionRejected {
			s.rejected = transition.Revision
		}
		s.pending = s.pending[1:]
	}
	return nil
}
