package clusters

import (
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// KubeconfigOf a Site is in a Secret that it names, or in that of the Cluster that it names, whose namespace is one of tenants. Nil
// means that there is none.
func KubeconfigOf(site *catalogv1alpha1.Site) (*catalogv1alpha1.NamespacedSecretKeySelector, Origin) {
	c := site.Spec.Cluster
	switch {
	case c.ClusterRef != nil:
		return &catalogv1alpha1.NamespacedSecretKeySelector{
			Namespace: c.ClusterRef.Namespace, Name: readiness.SecretName(c.ClusterRef.Name), Key: readiness.SecretKey,
		}, Origin(c.ClusterRef.Namespace)
	case c.KubeconfigSecretRef == nil:
		return nil, Administrator
	}
	out := *c.KubeconfigSecretRef
	if out.Key == "" {
		out.Key = readiness.SecretKey // As Cluster API has it.
	}
	return &out, Administrator
}
