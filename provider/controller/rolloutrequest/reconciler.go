package rolloutrequest

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Reconciler labels open requests, and writes the answers of the function into their status.
type Reconciler struct {
	// kube reads deployments from the API server, and requests from the cache.
	kube  client.Client
	turns *turnQueue
	now   func() time.Time
	log   logging.Logger
}

// Reconcile one request. It returns an error, and is retried, if an object cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	rr := &rolloutv1alpha1.RolloutRequest{}
	err := r.kube.Get(ctx, req.NamespacedName, rr)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get RolloutRequest")
	}
	if err != nil || meta.WasDeleted(rr) {
		return reconcile.Result{}, r.openNextRequest(ctx, req.NamespacedName)
	}
	if rr.IsClosed() && slices.ContainsFunc(rr.GetOwnerReferences(), isDeployment) {
		return reconcile.Result{}, r.updateMarks(ctx, rr, nil)
	}
	d, err := r.getDeployment(ctx, rr)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !rr.IsClosed() {
		if err := r.updateStatus(ctx, rr, d); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, r.updateMarks(ctx, rr, d)
}

// A deployment holds the fields that are read from one.
type deployment struct {
	Metadata metav1.ObjectMeta                         `json:"metadata"`
	Status   deploymentv1alpha1.IntentDeploymentStatus `json:"status"`
}

// isSuccessor reports whether a request is owned by another deployment, which was deleted: its author did not see this one, although it has the same name, and
// may have a revision of the same number and content.
func (d *deployment) isSuccessor(rr *rolloutv1alpha1.RolloutRequest) bool {
	return slices.ContainsFunc(rr.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return isDeployment(o) && o.UID != d.Metadata.UID })
}

func isDeployment(o metav1.OwnerReference) bool { return o.Kind == deploymentv1alpha1.Kind }

// withOwnerReference returns a request whose deployment owns it, so that the API server deletes both together, and none is left for another deployment of that
// name. The cluster-scoped composite of a claim cannot own the request: the reference of the request names the claim.
func withOwnerReference(rr *rolloutv1alpha1.RolloutRequest, d *deployment) *rolloutv1alpha1.RolloutRequest {
	if d == nil || slices.ContainsFunc(rr.GetOwnerReferences(), isDeployment) {
		return rr
	}
	owned := rr.DeepCopy()
	meta.AddOwnerReference(owned, metav1.OwnerReference{
		APIVersion: deploymentKind(rr.Spec.DeploymentRef.APIGroup).GroupVersion().String(), Kind: rr.Spec.DeploymentRef.Kind,
		Name: rr.Spec.DeploymentRef.Name, UID: d.Metadata.UID,
	})
	return owned
}

// getDeployment returns the deployment of a request, or nil if it does not exist or its kind is not served.
func (r *Reconciler) getDeployment(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest) (*deployment, error) {
	ref := rr.Spec.DeploymentRef
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(deploymentKind(ref.APIGroup))
	err := r.kube.Get(ctx, client.ObjectKey{Namespace: rr.GetNamespace(), Name: ref.Name}, u)
	if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // A missing deployment is not an error.
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get %s %s", ref.Kind, ref.Name)
	}
	d := &deployment{}
	return d, errors.Wrapf(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d), "cannot read %s %s", ref.Kind, ref.Name)
}

// updateStatus writes the answer of the deployment into the status of a request.
func (r *Reconciler) updateStatus(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest, d *deployment) error {
	original := rr.DeepCopy()
	now := metav1.NewTime(r.now().UTC().Truncate(time.Second))
	if rr.Status.ObservedAt == nil {
		rr.Status.ObservedAt = &now
	}
	recordAnswer(rr, d, now)
	if equality.Semantic.DeepEqual(original.Status, rr.Status) {
		return nil
	}
	lock := client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{})
	return errors.Wrap(client.IgnoreNotFound(r.kube.Status().Patch(ctx, rr, lock)), "cannot write status of RolloutRequest")
}

// updateMarks labels an open request, or removes the labels of another one, and does the same for requests that have or lose their turn by it. The number of
// open requests and their size are bounded, otherwise a user who may create requests could make the calls of the function too large. The request itself gets
// its owner by the same write: each write of a request is an event that Crossplane counts.
func (r *Reconciler) updateMarks(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest, d *deployment) error {
	key := deploymentOf(rr)
	isOpen, err := r.turns.observeRequest(rr, newRequestLister(ctx, r.kube, key))
	if err != nil {
		return err
	}
	if err := r.patchStateLabels(ctx, rr, withOwnerReference(withStateLabels(rr, isOpen), d)); err != nil {
		return err
	}
	r.turns.recordMarks(client.ObjectKeyFromObject(rr), isOpen)
	return r.markMisplaced(ctx, key)
}

// openNextRequest labels the request that has its turn after a request was deleted.
func (r *Reconciler) openNextRequest(ctx context.Context, deleted types.NamespacedName) error {
	key, isKnown := r.turns.forgetRequest(deleted)
	if !isKnown {
		return nil
	}
	return r.markMisplaced(ctx, key)
}

// markMisplaced writes the labels of the requests of a deployment whose turn has come or gone.
func (r *Reconciler) markMisplaced(ctx context.Context, key deploymentKey) error {
	for _, m := range r.turns.findMisplaced(key) {
		if err := r.markRequest(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// markRequest writes the labels of one request. A request that changed meanwhile has an event of its own.
func (r *Reconciler) markRequest(ctx context.Context, m misplacedRequest) error {
	rr := &rolloutv1alpha1.RolloutRequest{}
	if err := r.kube.Get(ctx, m.name, rr); err != nil {
		return errors.Wrap(client.IgnoreNotFound(err), "cannot get RolloutRequest")
	}
	if rr.GetUID() != m.uid || m.isOpen && !rr.MayTakeEffect() {
		return nil
	}
	if err := r.patchStateLabels(ctx, rr, withStateLabels(rr, m.isOpen)); err != nil {
		return err
	}
	r.turns.recordMarks(m.name, m.isOpen)
	return nil
}

// patchStateLabels writes labels and owners that are not as they should be. A patch replaces the whole list of owners, including owners from other
// writers, so it must not be made of an older list.
func (r *Reconciler) patchStateLabels(ctx context.Context, current, wanted *rolloutv1alpha1.RolloutRequest) error {
	if current == wanted {
		return nil
	}
	patch := client.MergeFrom(current)
	if len(current.GetOwnerReferences()) != len(wanted.GetOwnerReferences()) {
		patch = client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	}
	return errors.Wrap(client.IgnoreNotFound(r.kube.Patch(ctx, wanted, patch)), "cannot write labels and owner of RolloutRequest")
}

// withStateLabels returns a request with the labels of an open one, or without them. The given object is not changed.
func withStateLabels(rr *rolloutv1alpha1.RolloutRequest, isOpen bool) *rolloutv1alpha1.RolloutRequest {
	if hasStateLabels(rr, isOpen) {
		return rr
	}
	marked := rr.DeepCopy()
	meta.RemoveLabels(marked, rolloutv1alpha1.LabelDeployment, rolloutv1alpha1.LabelDeploymentGroup)
	if isOpen {
		meta.AddLabels(marked, rolloutv1alpha1.OpenLabels(rr.Spec.DeploymentRef.APIGroup, rr.Spec.DeploymentRef.Name))
	}
	return marked
}

// hasStateLabels reports whether the labels of a request match its state: an open request has both labels, and a closed request has neither.
func hasStateLabels(rr *rolloutv1alpha1.RolloutRequest, isOpen bool) bool {
	wanted := rolloutv1alpha1.OpenLabels(rr.Spec.DeploymentRef.APIGroup, rr.Spec.DeploymentRef.Name)
	fits := func(key string) bool {
		label, ok := rr.GetLabels()[key]
		return ok == isOpen && (!isOpen || label == wanted[key])
	}
	return fits(rolloutv1alpha1.LabelDeployment) && fits(rolloutv1alpha1.LabelDeploymentGroup)
}
