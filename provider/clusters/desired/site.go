package desired

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// SiteName returns the name of the ManagedCluster's Site. A published Site keeps its name.
func SiteName(mc *v1alpha1.ManagedCluster) string {
	if name := mc.Status.AtProvider.SiteName; name != "" {
		return name
	}
	return RequestedSiteName(mc)
}

// RequestedSiteName returns the name in the spec, or its default. Sites are cluster-scoped, so the default contains the namespace: a tenant cannot take the
// name of an administrator's Site, or of another namespace's.
func RequestedSiteName(mc *v1alpha1.ManagedCluster) string {
	if name := mc.Spec.ForProvider.Site.Name; name != "" {
		return name
	}
	return DefaultSiteName(mc)
}

// DefaultSiteName returns the name of a Site whose spec names none.
func DefaultSiteName(mc *v1alpha1.ManagedCluster) string {
	return mc.GetNamespace() + "." + mc.GetName()
}

// SitePrefix returns the directory above all paths of a namespace's Sites.
func SitePrefix(mc *v1alpha1.ManagedCluster) string { return "clusters/" + mc.GetNamespace() + "/" }

// NewSite returns the Site of a ManagedCluster. It admits the namespace of the ManagedCluster, and no other.
func NewSite(mc *v1alpha1.ManagedCluster) *catalogv1alpha1.Site {
	p := mc.Spec.ForProvider.Site
	s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: SiteName(mc), Labels: map[string]string{}, Annotations: mc.Marks()}}
	for key, value := range p.Labels {
		s.Labels[key] = string(value)
	}
	s.Spec = catalogv1alpha1.SiteSpec{
		Cluster: catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{
			APIVersion: readiness.PublishedAPIVersion, Kind: KindCluster, Namespace: Namespace(mc), Name: mc.Spec.ForProvider.Cluster.Name,
		}},
		Engine:            catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone},
		Repository:        catalogv1alpha1.SiteRepository{Path: p.Repository.Path},
		AllowedNamespaces: []string{mc.GetNamespace()},
		Parameters:        p.Parameters,
		Owner: &catalogv1alpha1.SiteOwner{
			APIGroup: v1alpha1.Group, Kind: "ManagedCluster", Namespace: mc.GetNamespace(), Name: mc.GetName(), UID: string(mc.GetUID()),
		},
	}
	if p.Engine != nil {
		s.Spec.Engine = *p.Engine.DeepCopy()
		s.Spec.Engine.Location = "Site"
	}
	if s.Spec.Repository.Path == "" {
		s.Spec.Repository.Path = SitePrefix(mc) + mc.GetName()
	}
	s.SetUsableFrom()
	return s
}
