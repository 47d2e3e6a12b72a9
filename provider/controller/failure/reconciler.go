// Package failure reports rejected revisions of deployments with retainFailedArtifacts: trees, check results and events, in a ConfigMap beside the deployment.
// The provider writes it, because a ConfigMap that the function composes would be part of every call of the function.
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
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
)

// maxReports is the number of retained reports of a deployment.
const maxReports = 3

// A Reconciler writes the reports for the deployments of one API group.
type Reconciler struct {
	kube client.Client
	// live reads uncached kinds: events and ConfigMaps.
	live client.Reader
	gvk  schema.GroupVersionKind
	// trees of rejected revisions of this API group.
	trees *treeCache
	log   logging.Logger
}

// deployment holds the fields that are read from a deployment.
type deployment struct {
	Spec struct {
		RollbackConfig deploymentv1alpha1.RollbackConfig `json:"rollbackConfig"`
	} `json:"spec"`
	Status deploymentv1alpha1.IntentDeploymentStatus `json:"status"`
}

// wantsReport reports whether the current revision of a deployment was rejected, and the deployment has retainFailedArtifacts.
func (d *deployment) wantsReport() bool {
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
	key := revisionKey{r.gvk.Group, req.NamespacedName, d.Status.Revision}
	if d.Status.Rollback == nil {
		// Earlier rejections are over. The present revision may be rejected already, with a status that comes later.
		key.revision--
		r.trees.dropRevisionsUpTo(key)
		return reconcile.Result{}, nil
	}
	if d.wantsReport() && u.GetDeletionTimestamp() == nil {
		parts, err := r.listDeliveries(ctx, key)
		if err != nil || !isRevisionOrdered(parts, key.revision) {
			return reconcile.Result{}, err // The status was written before the delivery was. The change of the delivery requeues the deployment.
		}
		if err := r.writeReport(ctx, u, d, key, parts); err != nil {
			return reconcile.Result{}, err
		}
	}
	r.trees.dropRevisionsUpTo(key)
	return reconcile.Result{}, nil
}

// writeReport writes the report of a revision, unless there is one, and deletes the oldest reports. A revision that a user ordered as a
// rollback delivered nothing new, and has no report.
func (r *Reconciler) writeReport(ctx context.Context, u *unstructured.Unstructured, d *deployment, key revisionKey, parts []deliveryv1alpha1.GitDelivery) error {
	if isWithdrawal(parts, key.revision) {
		return nil
	}
	reports, err := r.listReports(ctx, u)
	if err != nil {
		return err
	}
	name := failureReportName(key.group, u.GetName(), key.revision)
	if !slices.ContainsFunc(reports, func(o metav1.PartialObjectMetadata) bool { return o.GetName() == name }) {
		if err := r.createReport(ctx, u, d, key, parts); err != nil {
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

// createReport creates the report of a revision. A ConfigMap of its name that belongs to another owner is not changed.
func (r *Reconciler) createReport(ctx context.Context, u *unstructured.Unstructured, d *deployment, key revisionKey, parts []deliveryv1alpha1.GitDelivery) error {
	events, err := r.listRecentEvents(ctx, u)
	if err != nil {
		return err
	}
	cm, err := newReportConfigMap(u, d.Status, treesOfRevision(r.trees.cachedTrees(key), key, parts), events)
	if err != nil {
		return err
	}
	err = r.kube.Create(ctx, cm)
	if kerrors.IsAlreadyExists(err) || kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		r.log.Info("Cannot report a rejected revision", "claim", key.key.String(), "group", key.group, "revision", key.revision, "request", requestDigest(parts, key.revision), "error", err)
		return nil
	}
	return errors.Wrap(err, "cannot create report")
}

// listRecentEvents returns the last events about a deployment, as many as a report has: a tenant may write any number.
func (r *Reconciler) listRecentEvents(ctx context.Context, u *unstructured.Unstructured) ([]corev1.Event, error) {
	l, out := &corev1.EventList{}, []corev1.Event{}
	keepLast := func() {
		for i := range l.Items {
			out = append(out, abbreviateEvent(&l.Items[i]))
		}
		slices.SortStableFunc(out, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
		out = slices.Clone(out[max(0, len(out)-maxEvents):])
	}
	err := listing.EachPage(ctx, r.live, l, keepLast, client.InNamespace(u.GetNamespace()), client.MatchingFields{"involvedObject.uid": string(u.GetUID())})
	return out, errors.Wrap(err, "cannot list events")
}

// abbreviateEvent returns the fields of an event that a report has. A tenant may annotate an event with hundreds of KiB.
func abbreviateEvent(e *corev1.Event) corev1.Event {
	return corev1.Event{LastTimestamp: e.LastTimestamp, Type: e.Type, Reason: e.Reason, Message: e.Message}
}

// listDeliveries returns the deliveries of a deployment.
func (r *Reconciler) listDeliveries(ctx context.Context, key revisionKey) ([]deliveryv1alpha1.GitDelivery, error) {
	return usage.OfClaim(ctx, r.kube, rolloutv1alpha1.ClaimReference{APIGroup: key.group, Namespace: key.key.Namespace, Name: key.key.Name})
}

// listReports returns the reports that a deployment owns, the oldest revision first.
func (r *Reconciler) listReports(ctx context.Context, u *unstructured.Unstructured) ([]metav1.PartialObjectMetadata, error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	// Who edits a ConfigMap may write labels and owners, and not its name: no other ConfigMap is deleted as an old report.
	isOwn := func(o *metav1.PartialObjectMetadata) bool {
		isNamed := o.GetName() == failureReportName(u.GroupVersionKind().Group, u.GetName(), labelledRevision(o))
		return isNamed && slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == u.GetUID() })
	}
	reports := []metav1.PartialObjectMetadata{}
	err := listing.EachPage(ctx, r.live, l, func() {
		for i := range l.Items {
			if o := &l.Items[i]; isOwn(o) { // Its annotations may be large.
				labels := map[string]string{LabelRevision: o.GetLabels()[LabelRevision]}
				reports = append(reports, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: o.GetName(), Labels: labels}})
			}
		}
	}, client.InNamespace(u.GetNamespace()), client.MatchingLabels{LabelDeployment: deploymentLabel(u)})
	if err != nil {
		return nil, errors.Wrap(err, "cannot list reports")
	}
	slices.SortFunc(reports, func(a, b metav1.PartialObjectMetadata) int {
		return cmp.Compare(labelledRevision(&a), labelledRevision(&b))
	})
	return reports, nil
}

// labelledRevision returns the revision in the label of a report, or 0.
func labelledRevision(o metav1.Object) int64 {
	n, err := strconv.ParseInt(o.GetLabels()[LabelRevision], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
