package managedcluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/usage"
)

const maxSiteName = 63

// siteFacts are what is known of the Site that is published.
type siteFacts struct {
	// missing is true if it should be there, and is not.
	missing bool
	// ours is true if it is there, and this ManagedCluster made it.
	ours bool
	// problem is why it cannot be published.
	problem string
}

// siteName that a ManagedCluster may publish. Sites are in no namespace, so the namespace is part of it: nobody can take the name of
// an administrator's Site, or of another namespace's.
func siteName(mc *v1alpha1.ManagedCluster) string { return mc.GetNamespace() + "." + mc.GetName() }

// sitePrefix is what all paths of a namespace's Sites begin with.
func sitePrefix(mc *v1alpha1.ManagedCluster) string { return "clusters/" + mc.GetNamespace() + "/" }

// deniedSite says why a Site may not be published as it is described.
func deniedSite(mc *v1alpha1.ManagedCluster) string {
	const field = "spec.forProvider.site."
	s := mc.Spec.ForProvider.Site
	switch {
	case !s.Publish:
		return ""
	case s.Name != "" && s.Name != siteName(mc):
		return field + "name: it has to be " + siteName(mc)
	case len(siteName(mc)) > maxSiteName:
		return fmt.Sprintf("%sname: %s is longer than %d characters", field, siteName(mc), maxSiteName)
	case s.Repository.Path != "" && !strings.HasPrefix(s.Repository.Path, sitePrefix(mc)):
		return field + "repository.path: it has to lie below " + sitePrefix(mc)
	case s.Engine != nil && s.Engine.Location != "" && s.Engine.Location != "Site":
		return field + "engine.location: it has to be Site, since objects of the control plane are not for every namespace to read"
	}
	return ""
}

// siteOf a ManagedCluster, as it is published. It admits the namespace of the ManagedCluster, and no other.
func siteOf(mc *v1alpha1.ManagedCluster) *catalogv1alpha1.Site {
	p := mc.Spec.ForProvider.Site
	s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: siteName(mc), Labels: map[string]string{}}}
	for key, value := range p.Labels {
		s.Labels[key] = string(value)
	}
	s.Spec = catalogv1alpha1.SiteSpec{
		Cluster: catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{
			APIVersion: readiness.Group + "/" + string(readiness.V1Beta2), Kind: kindCluster, Namespace: namespace(mc), Name: mc.Spec.ForProvider.Cluster.Name,
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
		s.Spec.Repository.Path = sitePrefix(mc) + mc.GetName()
	}
	return s
}

func published(s *catalogv1alpha1.Site, mc *v1alpha1.ManagedCluster) bool {
	return s.Spec.Owner != nil && s.Spec.Owner.APIGroup == v1alpha1.Group && s.Spec.Owner.UID == string(mc.GetUID())
}

// site looks whether the Site is there. It is made once, and never changed: what an administrator does to it stays.
func (e *external) site(ctx context.Context, mc *v1alpha1.ManagedCluster) (siteFacts, error) {
	s := &catalogv1alpha1.Site{}
	if err := client.IgnoreNotFound(e.kube.Get(ctx, client.ObjectKey{Name: siteName(mc)}, s)); err != nil {
		return siteFacts{}, errors.Wrapf(err, "cannot get Site %q", siteName(mc))
	}
	if ours := published(s, mc); ours || !mc.Spec.ForProvider.Site.Publish {
		return siteFacts{ours: ours}, nil // What is there is not judged again.
	}
	l := &catalogv1alpha1.SiteList{}
	if err := e.kube.List(ctx, l); err != nil {
		return siteFacts{}, errors.Wrap(err, "cannot list Sites")
	}
	return among(l.Items, mc), nil
}

// among the Sites that there are.
func among(all []catalogv1alpha1.Site, mc *v1alpha1.ManagedCluster) siteFacts {
	want, publish := siteOf(mc), mc.Spec.ForProvider.Site.Publish
	out := siteFacts{missing: publish}
	for i := range all {
		s := &all[i]
		switch {
		case s.GetName() != want.GetName() && publish && overlap(s.Spec.Repository.Path, want.Spec.Repository.Path):
			// Whose it is, is for those who may read Sites.
			out.problem = "spec.forProvider.site.repository.path: it touches that of another Site"
		case s.GetName() == want.GetName() && published(s, mc):
			return siteFacts{ours: true} // What is there is not judged again.
		case s.GetName() == want.GetName() && publish:
			return siteFacts{problem: "Site " + s.GetName() + " is not one that this ManagedCluster made"}
		}
	}
	return out
}

// overlap is true for two directories of which one lies in the other: an engine that reads all of one would apply the other too.
func overlap(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// withdraw the Site. It returns what uses it, and leaves it then.
func (e *external) withdraw(ctx context.Context, mc *v1alpha1.ManagedCluster) (users []string, err error) {
	s := &catalogv1alpha1.Site{}
	err = e.kube.Get(ctx, client.ObjectKey{Name: siteName(mc)}, s)
	if kerrors.IsNotFound(err) || err == nil && !published(s, mc) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get Site %q", siteName(mc))
	}
	ds, err := usage.OfSite(ctx, e.kube, s.GetName())
	if err != nil {
		return nil, err
	}
	for _, d := range ds {
		users = append(users, d.GetNamespace()+"/"+d.Spec.ForProvider.ClaimRef.Name)
	}
	if len(users) > 0 {
		return users, nil
	}
	uid := s.GetUID()
	err = e.kube.Delete(ctx, s, client.Preconditions{UID: &uid})
	return nil, errors.Wrapf(client.IgnoreNotFound(err), "cannot delete Site %q", s.GetName())
}
