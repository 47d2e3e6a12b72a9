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
	kube client.Client
	now  func() time.Time
	log  logging.Logger
}

// Reconcile one request. It returns an error, and is retried, if an object cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	rr := &rolloutv1alpha1.RolloutRequest{}
	if err := r.kube.Get(ctx, req.NamespacedName, rr); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get RolloutRequest")
	}
	if meta.WasDeleted(rr) {
		return reconcile.Result{}, nil
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

func isDeployment(o metav1.OwnerReference) bool { return o.Kind == deploymentv1alpha1.Kind }

// withOwner returns a request whose deployment owns it, so that the API server deletes both together, and none is left for another deployment of that
// name. The cluster-scoped composite of a claim cannot own the request: the reference of the request names the claim.
func withOwner(rr *rolloutv1alpha1.RolloutRequest, d *deployment) *rolloutv1alpha1.RolloutRequest {
	if d == nil || slices.ContainsFunc(rr.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == d.Metadata.UID }) {
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

// updateMarks labels the open requests of a deployment, and removes the labels from the others. The number of open requests and their size
// are bounded, otherwise a user who may create requests could make the calls of the function too large. The request itself gets its owner by the
// same write: each write of a request is an event that Crossplane counts.
func (r *Reconciler) updateMarks(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest, d *deployment) error {
	ref := rr.Spec.DeploymentRef
	all, err := requestsOf(ctx, r.kube, rr.GetNamespace(), ref.APIGroup, ref.Name)
	if err != nil {
		return err
	}
	// The cache may not hold the last write yet.
	all = slices.DeleteFunc(slices.Clone(all), func(candidate rolloutv1alpha1.RolloutRequest) bool { return candidate.GetUID() == rr.GetUID() })
	all = append(all, *rr)
	open := map[types.UID]bool{}
	for _, openRequest := range rolloutv1alpha1.OpenRequests(all) {
		open[openRequest.GetUID()] = true
	}
	for i := range all {
		marked := withOpenLabels(&all[i], open[all[i].GetUID()])
		if all[i].GetUID() == rr.GetUID() {
			marked = withOwner(marked, d)
		}
		if err := r.patchMarks(ctx, &all[i], marked); err != nil {
			return err
		}
	}
	return nil
}

// patchMarks writes labels and owners that are not as they should be. A patch replaces the whole list of owners, including owners from other
// writers, so it must not be made of an older list.
func (r *Reconciler) patchMarks(ctx context.Context, current, wanted *rolloutv1alpha1.RolloutRequest) error {
	if current == wanted {
		return nil
	}
	patch := client.MergeFrom(current)
	if len(current.GetOwnerReferences()) != len(wanted.GetOwnerReferences()) {
		patch = client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	}
	return errors.Wrap(client.IgnoreNotFound(r.kube.Patch(ctx, wanted, patch)), "cannot write labels and owner of RolloutRequest")
}

// withOpenLabels returns a request with the labels of an open one, or without them. The cached object is shared, so a copy is changed.
func withOpenLabels(rr *rolloutv1alpha1.RolloutRequest, open bool) *rolloutv1alpha1.RolloutRequest {
	wanted := rolloutv1alpha1.OpenLabels(rr.Spec.DeploymentRef.APIGroup, rr.Spec.DeploymentRef.Name)
	fits := func(key string) bool {
		label, ok := rr.GetLabels()[key]
		return ok == open && (!open || label == wanted[key])
	}
	if fits(rolloutv1alpha1.LabelDeployment) && fits(rolloutv1alpha1.LabelDeploymentGroup) {
		return rr
	}
	marked := rr.DeepCopy()
	meta.RemoveLabels(marked, rolloutv1alpha1.LabelDeployment, rolloutv1alpha1.LabelDeploymentGroup)
	if open {
		meta.AddLabels(marked, wanted)
	}
	return marked
}
