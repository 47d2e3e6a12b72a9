// Package failure keeps what is needed to understand why a revision was rejected, for deployments that ask for it: its trees, how it
// was judged and what happened, in a ConfigMap beside the deployment. One that the function composed would travel in every call.
package failure

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// maxReports is how many reports a deployment keeps.
const maxReports = 3

// A Reconciler keeps reports for the deployments of one shape.
type Reconciler struct {
	kube client.Client
	// live reads what is not kept in memory: events and ConfigMaps.
	live client.Reader
	gvk  schema.GroupVersionKind
	// shelf of this shape's trees.
	shelf *shelf
	log   logging.Logger
}

// deployment is what of a deployment is read.
type deployment struct {
	Spec struct {
		RollbackConfig deploymentv1alpha1.RollbackConfig `json:"rollbackConfig"`
	} `json:"spec"`
	Status deploymentv1alpha1.IntentDeploymentStatus `json:"status"`
}

// retains is true for a deployment whose rejected revision is to be reported.
func (d *deployment) retains() bool {
	r := d.Spec.RollbackConfig.RetainFailedArtifacts
	return r != nil && *r && d.Status.Rollback != nil && d.Status.Revision > 0
}

// Reconcile reports a rejected revision once. It returns an error if something cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	if err := r.kube.Get(ctx, req.NamespacedName, u); err != nil {
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get deployment")
	}
	d := &deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot read deployment")
	}
	of := subject{r.gvk.Group, req.NamespacedName, d.Status.Revision}
	if d.Status.Rollback == nil {
		// What was rejected before is over; this revision may be rejected yet, and its status be late.
		of.revision--
		r.shelf.drop(of)
		return reconcile.Result{}, nil
	}
	if d.retains() && u.GetDeletionTimestamp() == nil {
		parts, err := r.parts(ctx, of)
		if err != nil || !ordered(parts, of.revision) {
			return reconcile.Result{}, err // The status is here before what it speaks of, which wakes this.
		}
		if err := r.report(ctx, u, d, of, parts); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.shelf.drop(of)
	return reconcile.Result{}, nil
}

// report a revision, unless it has a report, and forget the oldest ones. One that a person ordered to take back others brought nothing.
func (r *Reconciler) report(ctx context.Context, u *unstructured.Unstructured, d *deployment, of subject, parts []deliveryv1alpha1.GitDelivery) error {
	if withdraws(parts, of.revision) {
		return nil
	}
	reports, err := r.reports(ctx, u)
	if err != nil {
		return err
	}
	name := nameOf(of.group, u.GetName(), of.revision)
	if !slices.ContainsFunc(reports, func(o metav1.PartialObjectMetadata) bool { return o.GetName() == name }) {
		if err := r.create(ctx, u, d, of, parts); err != nil {
			return err
		}
		reports = append(reports, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, old := range reports[:max(0, len(reports)-maxReports)] {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: old.GetName()}}
		if err := client.IgnoreNotFound(r.kube.Delete(ctx, cm)); err != nil {
			return errors.Wrap(err, "cannot delete report")
		}
	}
	return nil
}

// create a report. A ConfigMap of its name that is somebody else's stays as it is.
func (r *Reconciler) create(ctx context.Context, u *unstructured.Unstructured, d *deployment, of subject, parts []deliveryv1alpha1.GitDelivery) error {
	events := &corev1.EventList{}
	if err := r.live.List(ctx, events, client.InNamespace(u.GetNamespace()), client.MatchingFields{"involvedObject.uid": string(u.GetUID())}); err != nil {
		return errors.Wrap(err, "cannot list events")
	}
	cm, err := report(u, d.Status, trees(r.shelf.get(of), of, parts), events.Items)
	if err != nil {
		return err
	}
	err = r.kube.Create(ctx, cm)
	if kerrors.IsAlreadyExists(err) || kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		r.log.Info("Cannot report a rejected revision", "deployment", of.key.String(), "revision", of.revision, "error", err)
		return nil
	}
	return errors.Wrap(err, "cannot create report")
}

// parts are the deliveries of a deployment.
func (r *Reconciler) parts(ctx context.Context, of subject) ([]deliveryv1alpha1.GitDelivery, error) {
	l := &deliveryv1alpha1.GitDeliveryList{}
	if err := r.kube.List(ctx, l, client.InNamespace(of.key.Namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list GitDeliveries")
	}
	others := func(d deliveryv1alpha1.GitDelivery) bool {
		is := subjectOf(&d)
		return is.group != of.group || is.key != of.key
	}
	return slices.DeleteFunc(l.Items, others), nil
}

// reports of a deployment, the oldest revision first: those that it owns.
func (r *Reconciler) reports(ctx context.Context, u *unstructured.Unstructured) ([]metav1.PartialObjectMetadata, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := r.live.List(ctx, l, client.InNamespace(u.GetNamespace()), client.MatchingLabels{LabelDeployment: labelOf(u)}); err != nil {
		return nil, errors.Wrap(err, "cannot list reports")
	}
	own := slices.DeleteFunc(l.Items, func(o metav1.PartialObjectMetadata) bool {
		return !slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == u.GetUID() })
	})
	slices.SortFunc(own, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(revisionOf(&a), revisionOf(&b)) })
	return own, nil
}

// revisionOf a report. Nobody's is the oldest.
func revisionOf(o metav1.Object) int64 {
	n, err := strconv.ParseInt(o.GetLabels()[LabelRevision], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
