package sitesync

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// siteOwnerKind is the kind of the owners of published Sites.
func siteOwnerKind() schema.GroupVersionKind {
	return clusterv1alpha1.GroupVersion.WithKind("ManagedCluster")
}

// readinessPolicy say when a cluster counts as ready.
type readinessPolicy struct {
	options       readiness.Options
	stabilization time.Duration
}

// readinessPolicyOf returns the policy of a Site's cluster: the policy of the ManagedCluster that published the Site, and the usual policy
// for any other Site. It also returns the latched conditions of that ManagedCluster. It returns an error if the ManagedCluster cannot be
// read.
func (e *external) readinessPolicyOf(ctx context.Context, site *catalogv1alpha1.Site) (readinessPolicy, readiness.Initialized, error) {
	usual := readinessPolicy{stabilization: readiness.Stabilization}
	o := site.Spec.Owner
	if o == nil || o.APIGroup != clusterv1alpha1.Group || o.Kind != siteOwnerKind().Kind {
		return usual, readiness.Initialized{}, nil
	}
	mc := &clusterv1alpha1.ManagedCluster{}
	err := e.kube.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, mc)
	if kerrors.IsNotFound(err) || meta.IsNoMatchError(err) || err == nil && !isPublishedBy(site, mc) {
		return usual, readiness.Initialized{}, nil
	}
	if err != nil {
		return readinessPolicy{}, readiness.Initialized{}, errors.Wrapf(err, "cannot get ManagedCluster of Site %q", site.GetName())
	}
	return policyOfCluster(mc), initializedOf(mc), nil
}

// isPublishedBy is true for a Site of this very ManagedCluster that still leads to its cluster.
func isPublishedBy(site *catalogv1alpha1.Site, mc *clusterv1alpha1.ManagedCluster) bool {
	ref := site.Spec.Cluster.ClusterRef
	return mc.Published(site) && ref.Namespace == mc.GetNamespace() && ref.Name == mc.Spec.ForProvider.Cluster.Name
}

// policyOfCluster returns the policy of a ManagedCluster. Only one within all limits, as it is now, may have a kubeconfig count that the provider
// cannot use.
func policyOfCluster(mc *clusterv1alpha1.ManagedCluster) readinessPolicy {
	r, judged := mc.Spec.ForProvider.Readiness, mc.GetCondition(xpv2.TypeReady)
	allowed := judged.ObservedGeneration == mc.GetGeneration() && judged.Reason != clusterv1alpha1.ReasonPolicyDenied
	out := readinessPolicy{stabilization: readiness.Stabilization, options: readiness.Options{
		MinReadyWorkers: int64(r.MinReadyWorkers), AllowExec: r.AllowExec && allowed,
	}}
	if s := r.StabilizationSeconds; s != nil {
		out.stabilization = time.Duration(*s) * time.Second
	}
	return out
}

func initializedOf(mc *clusterv1alpha1.ManagedCluster) readiness.Initialized {
	if l := mc.Status.AtProvider.Initialized; l != nil {
		return readiness.Initialized{UID: l.UID, At: l.At.UTC()}
	}
	return readiness.Initialized{}
}

// policyChanged lets through a ManagedCluster whose policy or latched conditions changed.
func policyChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*clusterv1alpha1.ManagedCluster)
		current, ok2 := e.ObjectNew.(*clusterv1alpha1.ManagedCluster)
		return ok && ok2 && (policyOfCluster(previous) != policyOfCluster(current) || initializedOf(previous) != initializedOf(current))
	}}
}
