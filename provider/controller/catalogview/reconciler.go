// Package catalogview publishes the usable catalog of each namespace: a ConfigMap with its Sites and the Blueprints, which a user with rights
// in that namespace alone can read. Nothing is decided by it.
package catalogview

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/catalogview"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/listing"
)

const (
	// settle is the delay of a change, so that changes that are applied together are one write.
	settle = 5 * time.Second

	// writeInterval is the least time between two writes in one namespace.
	writeInterval = 30 * time.Second

	// writesPerSecond of all namespaces together.
	writesPerSecond = 10

	// refusedInterval is the time until the retry of a write that the API server refused: the namespace does not exist, or its quota or an admission policy
	// does not allow the ConfigMap.
	refusedInterval = 10 * time.Minute
)

// A Reconciler keeps the ConfigMap of one namespace equal to the namespace's usable catalog.
type Reconciler struct {
	// kube reads Sites and the metadata of deployments from the cache, and writes. Published reads ConfigMaps as summarise leaves them, and live reads
	// Blueprints from the API server.
	kube      client.Client
	published client.Reader
	live      client.Reader

	blueprints *blueprintViews
	pace       *rate.Limiter
	now        func() time.Time
	log        logging.Logger

	mu sync.Mutex
	// kinds of which the cache has the objects that use Sites.
	kinds []schema.GroupVersionKind
	// written is the time at which each namespace was written last, within the writeInterval.
	written map[string]time.Time
}

// Reconcile the namespace with the name of the request. It returns an error if something cannot be read or written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	sites := &catalogv1alpha1.SiteList{}
	if err := listing.Cached(ctx, r.kube, sites); err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot list Sites")
	}
	published, err := r.getPublished(ctx, req.Name)
	if err != nil {
		return reconcile.Result{}, err
	}
	if published == nil {
		if uses, err := r.usesCatalog(ctx, sites.Items, req.Name); err != nil || !uses {
			return reconcile.Result{}, err
		}
	}
	want, err := r.composeConfigMap(ctx, sites.Items, req.Name)
	if err != nil || published != nil && published.Data[keySum] == documentDigest(want.Data) {
		return reconcile.Result{}, err
	}
	if wait := r.nextWriteDelay(req.Name); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.writeConfigMap(ctx, published == nil, want)
}

// getPublished returns the summary of the ConfigMap of a namespace, or nil if none exists.
func (r *Reconciler) getPublished(ctx context.Context, namespace string) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	err := r.published.Get(ctx, client.ObjectKey{Namespace: namespace, Name: catalogview.ConfigMapName}, cm)
	if kerrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // This means that none exists.
	}
	return cm, errors.Wrap(err, "cannot get the published catalog of a namespace")
}

// usesCatalog reports whether a Site names the namespace, or a deployment, an Application or a Bundle is in it.
func (r *Reconciler) usesCatalog(ctx context.Context, sites []catalogv1alpha1.Site, namespace string) (bool, error) {
	if slices.ContainsFunc(sites, func(s catalogv1alpha1.Site) bool { return slices.Contains(s.Spec.AllowedNamespaces, namespace) }) {
		return true, nil
	}
	r.mu.Lock()
	kinds := slices.Clone(r.kinds)
	r.mu.Unlock()
	for _, kind := range kinds {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := listing.Cached(ctx, r.kube, l, client.InNamespace(namespace), client.Limit(1)); err != nil {
			return false, errors.Wrapf(err, "cannot list objects of kind %s", kind.Kind)
		}
		if len(l.Items) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// composeConfigMap returns the ConfigMap of a namespace.
func (r *Reconciler) composeConfigMap(ctx context.Context, sites []catalogv1alpha1.Site, namespace string) (*corev1.ConfigMap, error) {
	usable := []catalogview.Site{}
	for i := range sites {
		if sites[i].DeletionTimestamp == nil && policy.CheckSite(&sites[i], namespace) == nil {
			usable = append(usable, catalogview.ForSite(&sites[i]))
		}
	}
	encodedSites, err := catalogview.EncodeSites(usable)
	if err != nil {
		return nil, err
	}
	blueprints, err := r.blueprints.blueprintDocument(ctx)
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: catalogview.ConfigMapName},
		Data:       map[string]string{catalogview.KeySites: encodedSites, catalogview.KeyBlueprints: blueprints},
	}, nil
}

// nextWriteDelay returns the time that a namespace has to wait for its next write, or 0.
func (r *Reconciler) nextWriteDelay(namespace string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.written[namespace].Add(writeInterval).Sub(r.now()))
}

// recordWriteTime records a write, and drops old writes that delay no namespace any more.
func (r *Reconciler) recordWriteTime(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for name, writtenAt := range r.written {
		if now.Sub(writtenAt) >= writeInterval {
			delete(r.written, name)
		}
	}
	r.written[namespace] = now
}

// writeConfigMap creates the ConfigMap, or changes its documents. Other keys, labels and annotations stay as a user wrote them.
func (r *Reconciler) writeConfigMap(ctx context.Context, isNew bool, cm *corev1.ConfigMap) (reconcile.Result, error) {
	if err := r.pace.Wait(ctx); err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot write the published catalog of a namespace")
	}
	r.recordWriteTime(cm.Namespace)
	err := r.createOrPatch(ctx, isNew, cm)
	switch {
	case err == nil:
		return reconcile.Result{}, nil
	case kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return reconcile.Result{}, nil
	case kerrors.IsAlreadyExists(err), kerrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: settle}, nil // The cache does not have it yet.
	case kerrors.IsNotFound(err), kerrors.IsForbidden(err), kerrors.IsInvalid(err):
		r.log.Debug("Cannot publish the catalog of a namespace", "namespace", cm.Namespace, "error", err)
		return reconcile.Result{RequeueAfter: refusedInterval}, nil
	}
	return reconcile.Result{}, errors.Wrap(err, "cannot write the published catalog of a namespace")
}

func (r *Reconciler) createOrPatch(ctx context.Context, isNew bool, cm *corev1.ConfigMap) error {
	if isNew {
		return r.kube.Create(ctx, cm)
	}
	patch, err := json.Marshal(map[string]any{"data": cm.Data})
	if err != nil {
		return errors.Wrap(err, "cannot encode the published catalog of a namespace")
	}
	return r.kube.Patch(ctx, cm, client.RawPatch(types.MergePatchType, patch))
}
