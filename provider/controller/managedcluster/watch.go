package managedcluster

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/listing"
)

// A requestMapper maps an event of another object to the ManagedClusters that it concerns.
type requestMapper struct {
	kube client.Reader
}

func (w requestMapper) requestsForSite(_ context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*catalogv1alpha1.Site)
	if !ok || s.Spec.Owner == nil || s.Spec.Owner.APIGroup != v1alpha1.Group {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: s.Spec.Owner.Namespace, Name: s.Spec.Owner.Name}}}
}

// requestsForConfig returns the ManagedClusters that use a configuration. Most often they wait for it.
func (w requestMapper) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	kind := policy.KindProviderConfig
	if o.GetNamespace() == "" {
		kind = policy.KindClusterProviderConfig
	}
	return w.requestsFor(ctx, configIndexKey(kind, o.GetName()), o.GetNamespace())
}

// requestsForSecret returns the ManagedClusters whose kubeconfig the Secret may hold.
func (w requestMapper) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsFor(ctx, secretIndexKey(o.GetName()), o.GetNamespace())
}

// requestsFor returns the ManagedClusters of a namespace with a key, or of all namespaces where it is empty. After an error they are reconciled an interval
// later.
func (w requestMapper) requestsFor(ctx context.Context, key, namespace string) []reconcile.Request {
	out, _ := clusterIndex().Requests(ctx, w.kube, &v1alpha1.ManagedClusterList{}, []string{key}, client.InNamespace(namespace))
	return out
}

// clusterIndex finds ManagedClusters by their configurations, and by the Secrets with their kubeconfigs.
func clusterIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.ManagedCluster{}, "intentplane.managedcluster.object", func(mc *v1alpha1.ManagedCluster) []string {
		out := []string{secretIndexKey(readiness.SecretName(mc.Spec.ForProvider.Cluster.Name))}
		if ref := mc.GetProviderConfigReference(); ref != nil {
			out = append(out, configIndexKey(ref.Kind, ref.Name))
		}
		return out
	})
}

func configIndexKey(kind, name string) string { return "config/" + kind + "/" + name }

func secretIndexKey(name string) string { return "secret/" + name }
