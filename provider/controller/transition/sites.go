package transition

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// A SiteReconciler measures the time that Sites took to apply a delivery.
type SiteReconciler struct {
	kube    client.Reader
	metrics *telemetry.Metrics

	// since is the time at which the process started. An earlier process measured the waits that ended before.
	since time.Time

	mu sync.Mutex
	// measured is the start of the last measured wait of each Site.
	measured map[types.NamespacedName]map[string]time.Time
}

// Reconcile measures each wait once. It returns an error if the SiteSync cannot be read.
func (r *SiteReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	s := &deliveryv1alpha1.SiteSync{}
	if err := r.kube.Get(ctx, req.NamespacedName, s); err != nil {
		r.setMeasuredWaits(req.NamespacedName, nil)
		return reconcile.Result{}, errors.Wrap(client.IgnoreNotFound(err), "cannot get SiteSync")
	}
	previous, current := r.measuredWaits(req.NamespacedName), map[string]time.Time{}
	for _, site := range s.Status.AtProvider.Sites {
		startedAt, ok := previous[site.Name]
		if ok {
			current[site.Name] = startedAt
		}
		if site.StartedAt == nil || site.LiveSince == nil || ok && startedAt.Equal(site.StartedAt.Time) {
			continue
		}
		current[site.Name] = site.StartedAt.Time
		if site.LiveSince.Time.Before(r.since) {
			continue
		}
		r.metrics.Synced(site.LiveSince.Sub(site.StartedAt.Time))
	}
	r.setMeasuredWaits(req.NamespacedName, current)
	return reconcile.Result{}, nil
}

func (r *SiteReconciler) measuredWaits(key types.NamespacedName) map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.measured[key]
}

func (r *SiteReconciler) setMeasuredWaits(key types.NamespacedName, waits map[string]time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.measured[key] = waits; len(waits) == 0 {
		delete(r.measured, key)
	}
}
