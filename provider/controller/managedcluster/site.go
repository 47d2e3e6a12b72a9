package managedcluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/usage"
)

const maxSiteName = 63

// maxParametersBytes bounds the parameters of a Site that is published. Every deployment of the namespace to all Sites carries them, in
// requests that have a limit of their own.
const maxParametersBytes = 16 << 10

// siteFacts are what is known of the Site that is published.
type siteFacts struct {
	// missing is true if it should be there, and is not.
	missing bool
	// ours is true if it is there, and this ManagedCluster made it.
	ours bool
	// uid of one that is ours.
	uid string
	// problem is why it cannot be published.
	problem string
	// gone says that it was published, and is not there any more.
	gone string
}

// siteName is what the Site of a ManagedCluster is called, or will be. What is published keeps its name.
func siteName(mc *v1alpha1.ManagedCluster) string {
	if name := mc.Status.AtProvider.SiteName; name != "" {
		return name
	}
	return askedSite(mc)
}

// askedSite is the name that is asked for. Sites are in no namespace, so the namespace is part of it where nobody allowed another: nobody can
// take the name of an administrator's Site, or of another namespace's.
func askedSite(mc *v1alpha1.ManagedCluster) string {
	if name := mc.Spec.ForProvider.Site.Name; name != "" {
		return name
	}
	return ownSite(mc)
}

func ownSite(mc *v1alpha1.ManagedCluster) string { return mc.GetNamespace() + "." + mc.GetName() }

// sitePrefix is what all paths of a namespace's Sites begin with.
func sitePrefix(mc *v1alpha1.ManagedCluster) string { return "clusters/" + mc.GetNamespace() + "/" }

// deniedSite says why a Site may not be published as it is described.
func deniedSite(mc *v1alpha1.ManagedCluster, c *configv1alpha1.ProviderConfigSpec) string {
	const field = "spec.forProvider.site."
	s := mc.Spec.ForProvider.Site
	if !s.Publish {
		return ""
	}
	if message := deniedSiteName(mc, c); message != "" {
		return field + "name: " + message
	}
	switch {
	case s.Repository.Path != "" && !strings.HasPrefix(s.Repository.Path, sitePrefix(mc)):
		return field + "repository.path: it has to lie below " + sitePrefix(mc)
	case s.Engine != nil && s.Engine.Location != "" && s.Engine.Location != "Site":
		return field + "engine.location: it has to be Site, since objects of the control plane are not for every namespace to read"
	}
	if message := deniedParameters(s.Parameters); message != "" && mc.Status.AtProvider.SiteName == "" {
		return field + message
	}
	return ""
}

// deniedParameters says that the parameters are too large for a Site that is published.
func deniedParameters(parameters map[string]catalogv1alpha1.ParameterValue) string {
	if size := parametersSize(parameters); size > maxParametersBytes {
		return fmt.Sprintf("parameters: keys and values have %d bytes, and a Site that is published may have %d", size, maxParametersBytes)
	}
	return ""
}

// parametersSize is how many bytes parameters take in each request about a deployment to their Site.
func parametersSize(parameters map[string]catalogv1alpha1.ParameterValue) int {
	size := 0
	for key, value := range parameters {
		size += len(key) + len(value)
	}
	return size
}

// deniedSiteName says why a name may not be published. One that is published was allowed.
func deniedSiteName(mc *v1alpha1.ManagedCluster, c *configv1alpha1.ProviderConfigSpec) string {
	name := askedSite(mc)
	switch {
	case name == mc.Status.AtProvider.SiteName:
		return ""
	case len(name) > maxSiteName:
		return fmt.Sprintf("%s is longer than %d characters. Take a shorter name for the cluster, or one that policy.siteNames of the ClusterProviderConfig allows", name, maxSiteName)
	case name == ownSite(mc):
		return ""
	}
	if err := policy.CheckSiteName(mc.GetProviderConfigReference().Kind, c, name); err != nil {
		return "it has to be " + ownSite(mc) + ", or one that an administrator allowed: " + err.Error()
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Sprintf("%q cannot be the name of a Site", name)
	}
	return ""
}

// siteOf a ManagedCluster, as it is published. It admits the namespace of the ManagedCluster, and no other.
func siteOf(mc *v1alpha1.ManagedCluster) *catalogv1alpha1.Site {
	p := mc.Spec.ForProvider.Site
	s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: siteName(mc), Labels: map[string]string{}, Annotations: mc.Marks()}}
	for key, value := range p.Labels {
		s.Labels[key] = string(value)
	}
	s.Spec = catalogv1alpha1.SiteSpec{
		Cluster: catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{
			APIVersion: readiness.PublishedAPIVersion, Kind: kindCluster, Namespace: namespace(mc), Name: mc.Spec.ForProvider.Cluster.Name,
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
	s.SetUsableFrom()
	return s
}

// publishSite creates the Site, unless the namespace has published as many as it may: then it returns the reason. The Sites are counted past
// the cache, one namespace's publication after the other, so that clusters that become ready at once do not all count the same.
func (e *external) publishSite(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	e.memory.publishing.Lock()
	defer e.memory.publishing.Unlock()
	l := &catalogv1alpha1.SiteList{}
	if err := e.live.List(ctx, l, client.MatchingLabels{catalogv1alpha1.LabelUsableFrom: mc.GetNamespace()}); err != nil {
		return "", errors.Wrap(err, "cannot list Sites")
	}
	if denied := deniedParameters(mc.Spec.ForProvider.Site.Parameters); denied != "" {
		return "spec.forProvider.site." + denied, nil
	}
	denied, err := e.deniedCount(ctx, mc, l.Items)
	if err != nil || denied != "" {
		return denied, err
	}
	err = e.kube.Create(ctx, siteOf(mc))
	if kerrors.IsAlreadyExists(err) {
		return "", nil // Whose it is, is looked at next time.
	}
	return "", errors.Wrapf(err, "cannot create Site %q", siteName(mc))
}

// deniedCount says that the namespace may not publish one more Site beside those that there are.
func (e *external) deniedCount(ctx context.Context, mc *v1alpha1.ManagedCluster, all []catalogv1alpha1.Site) (string, error) {
	c, message, err := e.configuration(ctx, mc)
	if err != nil || message != "" {
		return message, err
	}
	if err := policy.CheckPublished(mc.GetProviderConfigReference().Kind, c, published(all, mc.GetNamespace())); err != nil {
		return "spec.forProvider.site.publish: " + err.Error(), nil //nolint:nilerr // It is told to the user.
	}
	return "", nil
}

// published is how many of the Sites clusters of a namespace published.
func published(all []catalogv1alpha1.Site, namespace string) int {
	n := 0
	for i := range all {
		if o := all[i].Spec.Owner; o != nil && o.APIGroup == v1alpha1.Group && o.Namespace == namespace {
			n++
		}
	}
	return n
}

// site looks whether the Site is there. It is made once, and never changed: what an administrator does to it stays.
func (e *external) site(ctx context.Context, mc *v1alpha1.ManagedCluster) (siteFacts, error) {
	s, from := &catalogv1alpha1.Site{}, client.Reader(e.kube)
	if meta.WasDeleted(mc) {
		from = e.live // The cache may be old, and nobody comes back for what is left.
	}
	if err := client.IgnoreNotFound(from.Get(ctx, client.ObjectKey{Name: siteName(mc)}, s)); err != nil {
		return siteFacts{}, errors.Wrapf(err, "cannot get Site %q", siteName(mc))
	}
	if mc.Published(s) {
		return siteFacts{ours: true, uid: string(s.GetUID()), problem: renamed(mc, s)}, nil // What is there is not judged again.
	}
	if !mc.Spec.ForProvider.Site.Publish {
		return siteFacts{}, nil
	}
	if uid := mc.Status.AtProvider.SiteUID; s.GetName() == "" && uid != "" && !forgiven(mc, uid) {
		return siteFacts{gone: fmt.Sprintf("Site %s with uid %s is gone, and is not made again by itself: whoever deleted it may want no more deliveries there. If it is to come back, annotate this ManagedCluster with %s=%s",
			siteName(mc), uid, v1alpha1.AnnotationRecreate, uid)}, nil
	}
	l := &catalogv1alpha1.SiteList{}
	if err := e.kube.List(ctx, l); err != nil {
		return siteFacts{}, errors.Wrap(err, "cannot list Sites")
	}
	out := among(l.Items, mc)
	if !out.missing || out.problem != "" || meta.WasDeleted(mc) {
		return out, nil
	}
	var err error
	out.problem, err = e.deniedCount(ctx, mc, l.Items)
	return out, err
}

// renamed says that another name is asked for than the Site has.
func renamed(mc *v1alpha1.ManagedCluster, s *catalogv1alpha1.Site) string {
	if !mc.Spec.ForProvider.Site.Publish || askedSite(mc) == s.GetName() {
		return ""
	}
	return "spec.forProvider.site.name: it is published as " + s.GetName() + ", and a Site is not renamed"
}

// foreign says whose a Site is, as far as that is for the users of a namespace to know.
func foreign(mc *v1alpha1.ManagedCluster, s *catalogv1alpha1.Site) string {
	o := s.Spec.Owner
	if o == nil || o.APIGroup != v1alpha1.Group || o.Namespace != mc.GetNamespace() || o.Name != mc.GetName() {
		return "Site " + s.GetName() + " is not one that this ManagedCluster made"
	}
	return fmt.Sprintf("Site %s was made by a ManagedCluster of this name with uid %s, which is not this one. An administrator can hand it over, by setting its spec.owner.uid to %s, or delete it, and it is made again",
		s.GetName(), o.UID, mc.GetUID())
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
		case s.GetName() == want.GetName() && mc.Published(s):
			return siteFacts{ours: true, uid: string(s.GetUID())} // What is there is not judged again.
		case s.GetName() == want.GetName() && publish:
			return siteFacts{problem: foreign(mc, s)}
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
	err = e.live.Get(ctx, client.ObjectKey{Name: siteName(mc)}, s)
	if kerrors.IsNotFound(err) || err == nil && !mc.Published(s) {
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
