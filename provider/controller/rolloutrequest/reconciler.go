package rolloutrequest

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
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

// A Reconciler labels open requests, and writes down the answers of the function.
type Reconciler struct {
	// kube reads deployments from the API server, and requests from the cache.
	kube client.Client
	now  func() time.Time
	log  logging.Logger
}

// Reconcile one request. It returns an error, and is called again, when something cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	rr := &rolloutv1alpha1.RolloutRequest{}
	if err := r.kube.Get(ctx, req.NamespacedName, rr); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get RolloutRequest")
	}
	if meta.WasDeleted(rr) {
		return reconcile.Result{}, nil
	}
	if closed(rr) && slices.ContainsFunc(rr.GetOwnerReferences(), isDeployment) {
		return reconcile.Result{}, r.label(ctx, rr)
	}
	d, err := r.deployment(ctx, rr)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !closed(rr) {
		if err := r.tell(ctx, rr, d); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err := r.label(ctx, rr); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.own(ctx, rr, d)
}

// A deployment is what is read of one.
type deployment struct {
	Metadata metav1.ObjectMeta                         `json:"metadata"`
	Status   deploymentv1alpha1.IntentDeploymentStatus `json:"status"`
}

func isDeployment(o metav1.OwnerReference) bool { return o.Kind == deploymentv1alpha1.Kind }

// own lets a request go with its deployment, so that none is left to speak of another one of that name. A composite of a claim is in no
// namespace, and cannot own it: the reference of the request names the claim.
func (r *Reconciler) own(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest, d *deployment) error {
	if d == nil || slices.ContainsFunc(rr.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == d.Metadata.UID }) {
		return nil
	}
	owned := rr.DeepCopy()
	meta.AddOwnerReference(owned, metav1.OwnerReference{
		APIVersion: kindOf(rr.Spec.DeploymentRef.APIGroup).GroupVersion().String(), Kind: rr.Spec.DeploymentRef.Kind,
		Name: rr.Spec.DeploymentRef.Name, UID: d.Metadata.UID,
	})
	lock := client.MergeFromWithOptions(rr, client.MergeFromWithOptimisticLock{})
	return errors.Wrap(client.IgnoreNotFound(r.kube.Patch(ctx, owned, lock)), "cannot write owner of RolloutRequest")
}

// deployment that a request is about, or nil when there is none: also when its kind is not served.
func (r *Reconciler) deployment(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest) (*deployment, error) {
	ref := rr.Spec.DeploymentRef
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kindOf(ref.APIGroup))
	err := r.kube.Get(ctx, client.ObjectKey{Namespace: rr.GetNamespace(), Name: ref.Name}, u)
	if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // That there is none is no error.
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get %s %s", ref.Kind, ref.Name)
	}
	d := &deployment{}
	return d, errors.Wrapf(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d), "cannot read %s %s", ref.Kind, ref.Name)
}

// tell writes what became of a request.
func (r *Reconciler) tell(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest, d *deployment) error {
	before := rr.DeepCopy()
	now := metav1.NewTime(r.now().UTC().Truncate(time.Second))
	if rr.Status.ObservedAt == nil {
		rr.Status.ObservedAt = &now
	}
	record(rr, d, now)
	if equality.Semantic.DeepEqual(before.Status, rr.Status) {
		return nil
	}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return errors.Wrap(client.IgnoreNotFound(r.kube.Status().Patch(ctx, rr, lock)), "cannot write status of RolloutRequest")
}

// label gives labels to the requests of a deployment that have their turn, and takes them from the others. Not more than so many are open
// at once, and none is large, or whoever may make requests could make a call of the function too large.
func (r *Reconciler) label(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest) error {
	ref := rr.Spec.DeploymentRef
	all, err := requestsOf(ctx, r.kube, rr.GetNamespace(), ref.APIGroup, ref.Name)
	if err != nil {
		return err
	}
	// The cache may not know yet what was just written.
	all = slices.DeleteFunc(slices.Clone(all), func(one rolloutv1alpha1.RolloutRequest) bool { return one.GetUID() == rr.GetUID() })
	all = append(all, *rr)
	open := map[types.UID]bool{}
	for _, one := range first(all) {
		open[one.GetUID()] = true
	}
	for i := range all {
		if err := r.mark(ctx, &all[i], open[all[i].GetUID()]); err != nil {
			return err
		}
		if all[i].GetUID() == rr.GetUID() {
			*rr = all[i]
		}
	}
	return nil
}

// first are the requests that have their turn, in its order.
func first(all []rolloutv1alpha1.RolloutRequest) []*rolloutv1alpha1.RolloutRequest {
	slices.SortFunc(all, rolloutv1alpha1.CompareTurn)
	var out []*rolloutv1alpha1.RolloutRequest
	for i := range all {
		if len(out) == rolloutv1alpha1.MaxOpen {
			break
		}
		if !closed(&all[i]) && !meta.WasDeleted(&all[i]) && !tooLarge(&all[i]) {
			out = append(out, &all[i])
		}
	}
	return out
}

// tooLarge is true for a request that is too large to travel. One that was accepted travels: there is one of them at most.
func tooLarge(rr *rolloutv1alpha1.RolloutRequest) bool {
	if rr.Status.GetCondition(rolloutv1alpha1.TypeAccepted).Status == corev1.ConditionTrue {
		return false
	}
	b, err := json.Marshal(rr)
	return err != nil || len(b) > rolloutv1alpha1.MaxBytes
}

// mark a request as open or not, and return what was written in its place. What is in the cache is shared, and stays as it is.
func (r *Reconciler) mark(ctx context.Context, rr *rolloutv1alpha1.RolloutRequest, open bool) error {
	wanted := rolloutv1alpha1.OpenLabels(rr.Spec.DeploymentRef.APIGroup, rr.Spec.DeploymentRef.Name)
	fits := func(key string) bool {
		is, ok := rr.GetLabels()[key]
		return ok == open && (!open || is == wanted[key])
	}
	if fits(rolloutv1alpha1.LabelDeployment) && fits(rolloutv1alpha1.LabelDeploymentGroup) {
		return nil
	}
	marked := rr.DeepCopy()
	meta.RemoveLabels(marked, rolloutv1alpha1.LabelDeployment, rolloutv1alpha1.LabelDeploymentGroup)
	if open {
		meta.AddLabels(marked, wanted)
	}
	if err := r.kube.Patch(ctx, marked, client.MergeFrom(rr)); err != nil {
		return errors.Wrap(client.IgnoreNotFound(err), "cannot label RolloutRequest")
	}
	*rr = *marked
	return nil
}
