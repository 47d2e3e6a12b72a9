package prunerequest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
)

// retryInterval is the delay before a failed operation is repeated. A server that answers again wakes it earlier.
const retryInterval = 15 * time.Second

// phaseTimeout is how long one attempt may take: a repository that does not answer holds a worker for so long.
const phaseTimeout = 2 * time.Minute

// messagePending is the message about a request whose commit has not had its turn.
const messagePending = "The commit waits for its turn, or for an answer of the repository."

// A Reconciler plans PruneRequests, answers PruneApprovals, and carries approved plans out.
type Reconciler struct {
	// kube reads watched kinds from the cache, and live reads past it.
	kube client.Client
	live client.Reader

	opener remote.Opener

	// namespace of Crossplane.
	namespace string

	count    counter
	now      func() time.Time
	recorder xpevent.Recorder
}

// Reconcile one request. It returns an error, and is retried, if an object cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pr := &v1alpha1.PruneRequest{}
	err := r.kube.Get(ctx, req.NamespacedName, pr)
	if kerrors.IsNotFound(err) {
		return reconcile.Result{}, r.answerApprovals(ctx, req.NamespacedName)
	}
	if err != nil || meta.WasDeleted(pr) {
		return reconcile.Result{}, errors.Wrap(err, "cannot get PruneRequest")
	}
	original := pr.DeepCopy()
	delay, err := r.advancePhase(ctx, pr)
	if err != nil {
		delay = retryInterval
		r.reportFailure(pr, err)
	}
	if err := r.updateStatus(ctx, original, pr); err != nil {
		return reconcile.Result{}, err
	}
	if pr.Status.Phase == "" { // Approvals wait for the plan. None of them is read before.
		return reconcile.Result{RequeueAfter: delay}, nil
	}
	return reconcile.Result{RequeueAfter: delay}, r.answerApprovals(ctx, req.NamespacedName)
}

// advancePhase brings a request one phase further, and returns the time until the next reconcile.
func (r *Reconciler) advancePhase(ctx context.Context, pr *v1alpha1.PruneRequest) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, phaseTimeout)
	defer cancel()
	switch pr.Status.Phase {
	case "":
		return 0, r.makeRequestPlan(ctx, pr)
	case v1alpha1.PhasePlanned:
		return r.awaitApproval(ctx, pr)
	case v1alpha1.PhasePruning:
		if pr.Spec.Scope == v1alpha1.ScopeBundle {
			return r.removePackages(ctx, pr)
		}
		return r.removeDirectories(ctx, pr)
	case v1alpha1.PhaseRefused, v1alpha1.PhaseDone, v1alpha1.PhasePlanChanged, v1alpha1.PhaseExpired:
	}
	return 0, nil
}

// reportFailure writes an error into the condition that it holds back.
func (r *Reconciler) reportFailure(pr *v1alpha1.PruneRequest, err error) {
	typ := v1alpha1.TypePlanned
	if pr.Status.Phase != "" {
		typ = v1alpha1.TypeCompleted
	}
	failed := err
	if repository.IsPending(err) {
		failed = repository.RetriedFailure(err)
	}
	if failed == nil {
		setCondition(pr, r.now(), typ, corev1.ConditionFalse, v1alpha1.ReasonPruning, messagePending)
		return
	}
	reason := remote.ReasonOf(failed)
	if !isDeclaredReason(reason) {
		reason = v1alpha1.ReasonUnreachable
	}
	setCondition(pr, r.now(), typ, corev1.ConditionFalse, reason, remote.MessageOf(failed))
}

// updateStatus writes the status if it changed, and reports a new phase as an event once it is written.
func (r *Reconciler) updateStatus(ctx context.Context, original, pr *v1alpha1.PruneRequest) error {
	if equality.Semantic.DeepEqual(original.Status, pr.Status) {
		return nil
	}
	lock := client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{})
	if err := r.kube.Status().Patch(ctx, pr, lock); err != nil {
		return errors.Wrap(client.IgnoreNotFound(err), "cannot write status of PruneRequest")
	}
	if original.Status.Phase == pr.Status.Phase {
		return nil
	}
	r.reportPhase(pr)
	return nil
}

// repositoryQueueKey returns how a repository calls a request.
func repositoryQueueKey(pr *v1alpha1.PruneRequest) types.NamespacedName {
	return types.NamespacedName{Namespace: pr.GetNamespace(), Name: keyPrefix + pr.GetName()}
}
