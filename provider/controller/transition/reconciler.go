// Package transition tells what deployments and clusters go through: an event for each change of their phase, and metrics.
//
// The function is called several times for one change, and its answers may be thrown away, so it reports nothing. What counts is what
// stands in the status. An event has a name that follows from what it reports, so a change has one event, and the process that makes the
// event counts the change: each is counted once, also one that happened while no provider ran.
package transition

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
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

// stale is how old a change may be that a process did not see happen, to be reported and counted. API servers forget events after an hour
// by default, so that older changes could be reported twice.
const stale = 30 * time.Minute

// A Counter counts and measures changes of the phase.
type Counter interface {
	// Transition counts a change.
	Transition(from, to string)

	// PhaseTook notes how long a phase took.
	PhaseTook(phase string, took time.Duration)

	// Current says that so many objects more are in a phase, with an outcome.
	Current(phase, outcome string, more int)
}

// A Reconciler follows the objects of one kind that have transitions in their status.
type Reconciler struct {
	kube    client.Client
	gvk     schema.GroupVersionKind
	changes Counter
	metrics *telemetry.Metrics
	now     func() time.Time
	log     logging.Logger

	mu      sync.Mutex
	stories map[types.NamespacedName]*story
}

// followed is what of an object is read. Only deployments have revisions, and are judged.
type followed struct {
	Status status `json:"status"`
}

type status struct {
	Phase             string                                `json:"phase"`
	Outcome           string                                `json:"outcome"`
	Transitions       []change                              `json:"transitions"`
	Revision          int64                                 `json:"revision"`
	ValidationResults []deploymentv1alpha1.ValidationResult `json:"validationResults"`
	Requests          []deploymentv1alpha1.RequestStatus    `json:"requests"`
}

// request is the name of the RolloutRequest that made the present revision, or changed it last, or empty.
func (s status) request() string {
	for _, r := range slices.Backward(s.Requests) {
		if is := rolloutv1alpha1.Result(r.Result); is == rolloutv1alpha1.ResultTaken || is == rolloutv1alpha1.ResultDone {
			return r.Name
		}
	}
	return ""
}

// Reconcile reports what is new in a status, and counts it. It returns an error if the deployment cannot be read, or an event not be made.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	err := r.kube.Get(ctx, req.NamespacedName, u)
	if kerrors.IsNotFound(err) {
		r.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get object")
	}
	d := &followed{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot read object")
	}
	s := r.story(req.NamespacedName, string(u.GetUID()))
	r.stand(s, &d.Status)
	r.collect(s, &d.Status)
	if err := r.reportDrift(ctx, u, s); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.tell(ctx, u, s, d.Status.request()); err != nil {
		return reconcile.Result{}, err
	}
	r.countResults(s, &d.Status)
	return reconcile.Result{}, nil
}

// story of an object. One that was made anew under its name begins another.
func (r *Reconciler) story(key types.NamespacedName, uid string) *story {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.stories[key]; ok && s.uid == uid {
		return s
	}
	r.leave(r.stories[key])
	s := &story{uid: uid, judged: map[judgement]bool{}}
	r.stories[key] = s
	return s
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leave(r.stories[key])
	delete(r.stories, key)
}

// leave the phase in which an object was seen last.
func (r *Reconciler) leave(s *story) {
	if s != nil && s.phase != "" {
		r.changes.Current(s.phase, s.outcome, -1)
	}
}

// stand says where an object is now.
func (r *Reconciler) stand(s *story, status *status) {
	if s.phase == status.Phase && s.outcome == status.Outcome {
		return
	}
	r.leave(s)
	if s.phase, s.outcome = status.Phase, status.Outcome; s.phase != "" {
		r.changes.Current(s.phase, s.outcome, 1)
	}
}

// collect the changes that are new in a status. An old one that an earlier process may have reported is neither reported nor counted; one that
// this process saw happen, and that is reported late, is counted at once.
func (r *Reconciler) collect(s *story, status *status) {
	for _, one := range s.follow(status.Transitions) {
		switch old := r.now().Sub(one.At.Time) >= stale; {
		case !old:
			s.untold = append(s.untold, one)
		case s.visited:
			r.countStep(s, one)
		}
	}
}

// countStep counts one change, and how long the phase before it took.
func (r *Reconciler) countStep(s *story, one step) {
	if one.To == string(deploymentv1alpha1.PhasePending) {
		s.begun = one.Revision
	}
	r.changes.Transition(one.From, one.To)
	if one.long {
		r.changes.PhaseTook(one.From, one.took)
	}
}

// countResults counts the checks that were judged since. Those that a process finds at its first visit count where it counted the beginning of
// their revision: else an earlier process counted them.
func (r *Reconciler) countResults(s *story, status *status) {
	for _, passed := range s.results(status.Revision, status.ValidationResults) {
		if s.visited || s.begun == status.Revision {
			r.metrics.Validated(passed)
		}
	}
	s.visited = true
}

// tell what has no event yet, and count it. What has one, another process has counted.
func (r *Reconciler) tell(ctx context.Context, u *unstructured.Unstructured, s *story, request string) error {
	for len(s.untold) > 0 {
		one := s.untold[0]
		err := r.kube.Create(ctx, eventOf(u, one))
		switch {
		case err == nil:
			r.countStep(s, one)
			r.log.Info("Phase changed", "kind", r.gvk.Kind, "claim", u.GetNamespace()+"/"+u.GetName(), "group", r.gvk.Group,
				"from", one.From, "phase", one.To, "revision", one.Revision, "rolloutRequest", request)
		case kerrors.IsAlreadyExists(err), kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		default:
			return errors.Wrap(err, "cannot make event")
		}
		s.untold = s.untold[1:]
	}
	return nil
}
