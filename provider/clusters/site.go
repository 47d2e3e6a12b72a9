package clusters

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/listing"
)

// KubeconfigOf returns the Secret with the kubeconfig of a Site: the Secret that the Site names, or the Secret of its Cluster, whose
// namespace belongs to a tenant. Nil means that there is none.
func KubeconfigOf(site *catalogv1alpha1.Site) (*catalogv1alpha1.NamespacedSecretKeySelector, Access) {
	c, a := site.Spec.Cluster, Access{Tenant: tenantOfSite(site)}
	switch {
	case c.ClusterRef != nil:
		return &catalogv1alpha1.NamespacedSecretKeySelector{
			Namespace: c.ClusterRef.Namespace, Name: readiness.SecretName(c.ClusterRef.Name), Key: readiness.SecretKey,
		}, Access{Origin: Origin(c.ClusterRef.Namespace), Tenant: a.Tenant}
	case c.KubeconfigSecretRef == nil:
		return nil, a
	}
	out := *c.KubeconfigSecretRef
	if out.Key == "" {
		out.Key = readiness.SecretKey // As Cluster API has it.
	}
	return &out, a
}

// tenantOfSite returns the namespace of the object that published a Site, or "" for a Site that a person made. Only an administrator makes Sites, and
// each of theirs has a share of its own: a fleet in one namespace of Cluster API is not a hostile tenant.
func tenantOfSite(site *catalogv1alpha1.Site) string {
	if site.Spec.Owner == nil {
		return ""
	}
	return site.Spec.Owner.Namespace
}

// SecretIndex finds Sites by the Secrets that their kubeconfigs may be in: a key is the namespace and the name of a Secret, with a slash.
func SecretIndex() listing.Index {
	return listing.NewIndex(&catalogv1alpha1.Site{}, "intentplane.site.kubeconfig", func(s *catalogv1alpha1.Site) []string {
		ref, _ := KubeconfigOf(s)
		if ref == nil {
			return nil
		}
		return []string{client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}.String()}
	})
}

// ListSitesOfSecret returns the Sites whose kubeconfig a Secret may hold, from a cache with the SecretIndex. It returns an error if Sites cannot be listed.
func ListSitesOfSecret(ctx context.Context, kube client.Reader, secret client.Object) ([]catalogv1alpha1.Site, error) {
	l := &catalogv1alpha1.SiteList{}
	err := SecretIndex().List(ctx, kube, l, client.ObjectKeyFromObject(secret).String())
	return l.Items, errors.Wrap(err, "cannot list Sites")
}
