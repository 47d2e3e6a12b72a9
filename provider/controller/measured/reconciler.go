package measured

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/apis/revisionobject"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	// maxRevisions is how many revisions of a deployment are kept.
	maxRevisions = 10

	// minWriteInterval and maxWriteInterval bound the time between two writes for a Gate that measures, which is a part of the Gate's age: one that judges a
	// canary for a day is not written as often as one that lasts for minutes. The write after its verdict does not wait.
	minWriteInterval, maxWriteInterval = 20 * time.Second, 10 * time.Minute

	// writesPerAge is how many writes a Gate would have so far, if all had been as far apart as the next one.
	writesPerAge = 8

	// fresh is how long after a verdict a Gate is written of which this provider measured nothing, such as one with a Job.
	fresh = 2 * time.Minute
)

// A Reconciler writes what Gates measured.
type Reconciler struct {
	// kube reads Gates from the cache, and live reads what is not cached: deployments and ConfigMaps.
	kube client.Client
	live client.Reader
	log  *Log
	now  func() time.Time

	mu      sync.Mutex
	written map[types.NamespacedName]written
}

// written is when the document of a Gate was written, and whether that was the last time.
type written struct {
	uid  types.UID
	at   time.Time
	last bool
}

// Reconcile one Gate. It returns an error if something cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	g := &rolloutv1alpha1.Gate{}
	err := r.kube.Get(ctx, req.NamespacedName, g)
	if kerrors.IsNotFound(err) {
		r.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get Gate")
	}
	was, isLast := r.lastWrite(g), g.Status.AtProvider.Verdict != ""
	if was.last {
		r.log.Forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if wait := was.at.Add(writeInterval(r.now().Sub(g.GetCreationTimestamp().Time))).Sub(r.now()); !isLast && wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	taken, isNew := r.log.read(req.NamespacedName, g.GetUID())
	if !isNew && (!isLast || !r.isFresh(g, taken)) {
		return reconcile.Result{}, nil
	}
	if err := r.writeDocument(ctx, g, taken); err != nil {
		r.log.putBack(req.NamespacedName)
		return reconcile.Result{}, err
	}
	r.noteWrite(g, isLast)
	return reconcile.Result{}, nil
}

// writeInterval returns the least time between two writes for a Gate that measures, by its age.
func writeInterval(age time.Duration) time.Duration {
	return min(max(age/writesPerAge, minWriteInterval), maxWriteInterval)
}

// isFresh reports whether a Gate with a verdict is to be written although nothing is new: its verdict is not written yet.
func (r *Reconciler) isFresh(g *rolloutv1alpha1.Gate, taken map[string]checkLog) bool {
	ended := g.Status.AtProvider.EndedAt
	return len(taken) > 0 || ended != nil && r.now().Sub(ended.Time) < fresh
}

func (r *Reconciler) lastWrite(g *rolloutv1alpha1.Gate) written {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.written[client.ObjectKeyFromObject(g)]; w.uid == g.GetUID() {
		return w
	}
	return written{}
}

func (r *Reconciler) noteWrite(g *rolloutv1alpha1.Gate, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := client.ObjectKeyFromObject(g)
	r.written[key] = written{uid: g.GetUID(), at: r.now(), last: last}
	if last {
		r.log.Forget(key)
	}
}

func (r *Reconciler) forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.written, key)
	r.log.Forget(key)
}

// writeDocument writes the document of a Gate into the ConfigMap of its revision. A Gate whose deployment is gone writes nothing.
func (r *Reconciler) writeDocument(ctx context.Context, g *rolloutv1alpha1.Gate, taken map[string]checkLog) error {
	owner, err := r.findDeployment(ctx, g)
	if err != nil || owner == nil {
		return err
	}
	cm := newConfigMap(owner, g.Spec.ForProvider.AskedPosition().Revision)
	err = r.live.Get(ctx, client.ObjectKeyFromObject(cm), cm)
	isNew := kerrors.IsNotFound(err)
	if client.IgnoreNotFound(err) != nil {
		return errors.Wrap(err, "cannot get what was measured before")
	}
	if !isOwnedBy(cm, owner) {
		return nil // The ConfigMap of another owner has the name.
	}
	text, err := encodeDocument(mergeDocument(newDocument(g, taken), cm.Data[gaterecord.KeyOf(g.GetName())]))
	if err != nil {
		return err
	}
	data := putDocument(cm.Data, g.GetName(), text)
	if maps.Equal(data, cm.Data) {
		return nil
	}
	cm.Data = data
	if !isNew {
		return errors.Wrap(r.kube.Update(ctx, cm), "cannot update what was measured")
	}
	if err := r.kube.Create(ctx, cm); err != nil {
		return errors.Wrap(ignoreTerminating(err), "cannot create what was measured")
	}
	return r.deleteOldest(ctx, owner)
}

// ignoreTerminating returns nil for an error that says that the namespace is being deleted.
func ignoreTerminating(err error) error {
	if kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

// findDeployment returns the deployment that a Gate judges, or nil if there is none, or it is being deleted.
func (r *Reconciler) findDeployment(ctx context.Context, g *rolloutv1alpha1.Gate) (*metav1.PartialObjectMetadata, error) {
	c := g.Spec.ForProvider.ClaimRef
	groups := []string{deploymentv1alpha1.GroupClaims, deploymentv1alpha1.GroupNamespaced}
	if c.Kind != deploymentv1alpha1.Kind || c.Namespace != g.GetNamespace() || !slices.Contains(groups, c.APIGroup) {
		return nil, nil //nolint:nilnil // It is not a deployment.
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: c.APIGroup, Version: deploymentv1alpha1.Version, Kind: c.Kind})
	err := r.live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name}, o)
	if kerrors.IsNotFound(err) || err == nil && o.GetDeletionTimestamp() != nil {
		return nil, nil //nolint:nilnil // Nothing is kept of it.
	}
	return o, errors.Wrap(err, "cannot get the deployment of a Gate")
}

// newConfigMap returns the ConfigMap of a revision, without a document. The deployment owns it.
func newConfigMap(owner *metav1.PartialObjectMetadata, revision int64) *corev1.ConfigMap {
	gvk := owner.GroupVersionKind()
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: owner.GetNamespace(), Name: revisionobject.Name(gvk.Group, owner.GetName(), "measured", revision),
		Labels: map[string]string{
			gaterecord.LabelDeployment: revisionobject.DeploymentDigest(gvk.Group, owner.GetName()), gaterecord.LabelRevision: strconv.FormatInt(revision, 10),
		},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: owner.GetName(), UID: owner.GetUID()}},
	}}
}

func isOwnedBy(o, owner metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(ref metav1.OwnerReference) bool { return ref.UID == owner.GetUID() })
}

// deleteOldest deletes the ConfigMaps of all revisions but the last ones.
func (r *Reconciler) deleteOldest(ctx context.Context, owner *metav1.PartialObjectMetadata) error {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	digest := revisionobject.DeploymentDigest(owner.GroupVersionKind().Group, owner.GetName())
	if err := r.live.List(ctx, l, client.InNamespace(owner.GetNamespace()), client.MatchingLabels{gaterecord.LabelDeployment: digest}); err != nil {
		return errors.Wrap(err, "cannot list what was measured")
	}
	own := slices.DeleteFunc(l.Items, func(o metav1.PartialObjectMetadata) bool { return !isOwnedBy(&o, owner) })
	slices.SortFunc(own, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(revisionOf(&a), revisionOf(&b)) })
	for _, old := range own[:max(0, len(own)-maxRevisions)] {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: old.GetNamespace(), Name: old.GetName()}}
		if err := client.IgnoreNotFound(r.kube.Delete(ctx, cm)); err != nil {
			return errors.Wrap(err, "cannot delete what was measured")
		}
	}
	return nil
}

// revisionOf returns the revision in the label of a ConfigMap, or 0.
func revisionOf(o metav1.Object) int64 {
	n, err := strconv.ParseInt(o.GetLabels()[gaterecord.LabelRevision], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
