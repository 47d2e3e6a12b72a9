package managedcluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
)

const maxSiteName = 63

// maxParametersBytes bounds the parameters of a published Site, in bytes. Every deployment of the namespace to all Sites carries them in
// its requests, which have a limit of their own.
const maxParametersBytes = 16 << 10

// siteFacts are the observed state of the published Site.
type siteFacts struct {
	// missing is true if the Site has to be published and does not exist.
	missing bool
	// ours is true if the Site exists and this ManagedCluster made it.
	ours bool
	// uid of the Site, if it is ours.
	uid string
	// problem is the reason why the Site cannot be published.
	problem string
	// gone is true if the Site was published and does not exist any more.
	gone string
}

// deniedSiteReason returns the reason why the Site may not be published as the spec describes it, or "".
func deniedSiteReason(mc *v1alpha1.ManagedCluster, c *configv1alpha1.ProviderConfigSpec) string {
	const field = "spec.forProvider.site."
	s := mc.Spec.ForProvider.Site
	if !s.Publish {
		return ""
	}
	if message := deniedSiteName(mc, c); message != "" {
		return field + "name: " + message
	}
	switch {
	case s.Repository.Path != "" && !strings.HasPrefix(s.Repository.Path, desired.SitePrefix(mc)):
		return field + "repository.path: it has to lie below " + desired.SitePrefix(mc)
	case s.Engine != nil && s.Engine.Location != "" && s.Engine.Location != "Site":
		return field + "engine.location: it has to be Site, since objects of the control plane are not for every namespace to read"
	}
	if message := deniedParameters(s.Parameters); message != "" && mc.Status.AtProvider.SiteName == "" {
		return field + message
	}
	return ""
}

// deniedParameters returns that the parameters are too large for a published Site, or "".
func deniedParameters(parameters map[string]catalogv1alpha1.ParameterValue) string {
	if size := parametersSize(parameters); size > maxParametersBytes {
		return fmt.Sprintf("parameters: keys and values have %d bytes, and a Site that is published may have %d", size, maxParametersBytes)
	}
	return ""
}

// parametersSize returns the number of bytes that the parameters take in each request about a deployment to the Site.
func parametersSize(parameters map[string]catalogv1alpha1.ParameterValue) int {
	size := 0
	for key, value := range parameters {
		size += len(key) + len(value)
	}
	return size
}

// deniedSiteName returns the reason why the name may not be published, or "". The name of a published Site was allowed before.
func deniedSiteName(mc *v1alpha1.ManagedCluster, c *configv1alpha1.ProviderConfigSpec) string {
	name := desired.RequestedSiteName(mc)
	switch {
	case name == mc.Status.AtProvider.SiteName:
		return ""
	case len(name) > maxSiteName:
		return fmt.Sprintf("%s is longer than %d characters. Choose a shorter name for the cluster, or a name that policy.siteNames of the ClusterProviderConfig allows", name, maxSiteName)
	case name == desired.DefaultSiteName(mc):
		return ""
	}
	if err := policy.CheckSiteName(mc.GetProviderConfigReference().Kind, c, name); err != nil {
		return "it has to be " + desired.DefaultSiteName(mc) + ", or a name that an administrator allowed: " + err.Error()
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Sprintf("%q cannot be the name of a Site", name)
	}
	return ""
}

// publishSite creates the Site. If the namespace has published as many Sites as it may, it returns the reason. It counts the Sites past the
// cache and publishes one Site at a time, so that clusters that become ready at once do not all see the same count.
func (e *external) publishSite(ctx context.Context, mc *v1alpha1.ManagedCluster) (string, error) {
	e.memory.publishing.Lock()
	defer e.memory.publishing.Unlock()
	l, sites := &catalogv1alpha1.SiteList{}, []catalogv1alpha1.Site{}
	collect := func() { sites = append(sites, l.Items...) }
	if err := listing.EachPage(ctx, e.live, l, collect, client.MatchingLabels{catalogv1alpha1.LabelUsableFrom: mc.GetNamespace()}); err != nil {
		return "", errors.Wrap(err, "cannot list Sites")
	}
	if denied := deniedParameters(mc.Spec.ForProvider.Site.Parameters); denied != "" {
		return "spec.forProvider.site." + denied, nil
	}
	denied, err := e.deniedCount(ctx, mc, sites)
	if err != nil || denied != "" {
		return denied, err
	}
	err = e.kube.Create(ctx, desired.NewSite(mc))
	if kerrors.IsAlreadyExists(err) {
		return "", nil // The next reconcile reads the owner of the existing Site.
	}
	return "", errors.Wrapf(err, "cannot create Site %q", desired.SiteName(mc))
}

// deniedCount returns that the namespace may not publish one more Site, or "".
func (e *external) deniedCount(ctx context.Context, mc *v1alpha1.ManagedCluster, all []catalogv1alpha1.Site) (string, error) {
	c, message, err := e.allowedConfig(ctx, mc)
	if err != nil || message != "" {
		return message, err
	}
	if err := policy.CheckPublished(mc.GetProviderConfigReference().Kind, c, countPublished(all, mc.GetNamespace())); err != nil {
		return "spec.forProvider.site.publish: " + err.Error(), nil //nolint:nilerr // The refusal is returned as a message.
	}
	return "", nil
}

// countPublished returns the number of Sites that the clusters of a namespace published.
func countPublished(all []catalogv1alpha1.Site, namespace string) int {
	n := 0
	for i := range all {
		if o := all[i].Spec.Owner; o != nil && o.APIGroup == v1alpha1.Group && o.Namespace == namespace {
			n++
		}
	}
	return n
}

// observeSite reads the Site. It is created once and never changed: an administrator's changes stay.
func (e *external) observeSite(ctx context.Context, mc *v1alpha1.ManagedCluster) (siteFacts, error) {
	s, from := &catalogv1alpha1.Site{}, client.Reader(e.kube)
	if meta.WasDeleted(mc) {
		from = e.live // The cache may be stale, and a Site that is missed now is never deleted.
	}
	if err := client.IgnoreNotFound(from.Get(ctx, client.ObjectKey{Name: desired.SiteName(mc)}, s)); err != nil {
		return siteFacts{}, errors.Wrapf(err, "cannot get Site %q", desired.SiteName(mc))
	}
	if mc.Published(s) {
		return siteFacts{ours: true, uid: string(s.GetUID()), problem: describeRename(mc, s)}, nil // A published Site is not checked again.
	}
	if !mc.Spec.ForProvider.Site.Publish {
		return siteFacts{}, nil
	}
	if uid := mc.Status.AtProvider.SiteUID; s.GetName() == "" && uid != "" && !isRecreateAllowed(mc, uid) {
		return siteFacts{gone: fmt.Sprintf("Site %s with uid %s was deleted, and is not made again by itself. To publish it again, annotate this ManagedCluster with %s=%s",
			desired.SiteName(mc), uid, v1alpha1.AnnotationRecreate, uid)}, nil
	}
	l := &catalogv1alpha1.SiteList{}
	if err := listing.Cached(ctx, e.kube, l); err != nil {
		return siteFacts{}, errors.Wrap(err, "cannot list Sites")
	}
	out := siteFactsAmong(l.Items, mc)
	if !out.missing || out.problem != "" || meta.WasDeleted(mc) {
		return out, nil
	}
	var err error
	out.problem, err = e.deniedCount(ctx, mc, l.Items)
	return out, err
}

// describeRename returns the message about another name in the spec than the published Site's, or "".
func describeRename(mc *v1alpha1.ManagedCluster, s *catalogv1alpha1.Site) string {
	if !mc.Spec.ForProvider.Site.Publish || desired.RequestedSiteName(mc) == s.GetName() {
		return ""
	}
	return "spec.forProvider.site.name: it is published as " + s.GetName() + ", and a Site is not renamed"
}

// describeForeignSite returns the owner of a Site, as far as the users of the namespace may know it.
func describeForeignSite(mc *v1alpha1.ManagedCluster, s *catalogv1alpha1.Site) string {
	o := s.Spec.Owner
	if o == nil || o.APIGroup != v1alpha1.Group || o.Namespace != mc.GetNamespace() || o.Name != mc.GetName() {
		return "Site " + s.GetName() + " was not made by this ManagedCluster"
	}
	return fmt.Sprintf("Site %s was made by a ManagedCluster of this name with uid %s, which is not this one. An administrator can hand it over, by setting its spec.owner.uid to %s, or delete it, and it is made again",
		s.GetName(), o.UID, mc.GetUID())
}

// siteFactsAmong returns the facts about the Site, given all Sites.
func siteFactsAmong(all []catalogv1alpha1.Site, mc *v1alpha1.ManagedCluster) siteFacts {
	want, publish := desired.NewSite(mc), mc.Spec.ForProvider.Site.Publish
	out := siteFacts{missing: publish}
	for i := range all {
		s := &all[i]
		switch {
		case s.GetName() != want.GetName() && publish && pathsOverlap(s.Spec.Repository.Path, want.Spec.Repository.Path):
			// The message does not name the other Site: the user may not be allowed to read it.
			out.problem = "spec.forProvider.site.repository.path: it touches that of another Site"
		case s.GetName() == want.GetName() && mc.Published(s):
			return siteFacts{ours: true, uid: string(s.GetUID())} // A published Site is not checked again.
		case s.GetName() == want.GetName() && publish:
			return siteFacts{problem: describeForeignSite(mc, s)}
		}
	}
	return out
}

// pathsOverlap reports whether one of two directories is in the other: an engine that reads the outer one would apply the inner one too.
func pathsOverlap(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// withdrawSite deletes the Site. If deployments use the Site, it returns them and deletes nothing.
func (e *external) withdrawSite(ctx context.Context, mc *v1alpha1.ManagedCluster) (users []string, err error) {
	s := &catalogv1alpha1.Site{}
	err = e.live.Get(ctx, client.ObjectKey{Name: desired.SiteName(mc)}, s)
	if kerrors.IsNotFound(err) || err == nil && !mc.Published(s) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Wrapf(err, "cannot get Site %q", desired.SiteName(mc))
	}
	if users, err = e.deploymentsAt(ctx, s.GetName()); err != nil || len(users) > 0 {
		return users, err
	}
	uid := s.GetUID()
	err = e.kube.Delete(ctx, s, client.Preconditions{UID: &uid})
	return nil, errors.Wrapf(client.IgnoreNotFound(err), "cannot delete Site %q", s.GetName())
}

// deploymentsAt returns the deployments that have a directory for a Site. It reads past the cache if that has none: the cache may be stale, and a protected
// cluster whose Site no deployment uses is deleted.
func (e *external) deploymentsAt(ctx context.Context, site string) (users []string, err error) {
	addUsers := func(all []deliveryv1alpha1.GitDelivery) {
		for i := range all {
			if slices.Contains(usage.Sites(&all[i]), site) {
				users = append(users, all[i].GetNamespace()+"/"+all[i].Spec.ForProvider.ClaimRef.Name)
			}
		}
	}
	cached, err := usage.OfSite(ctx, e.kube, site)
	if addUsers(cached); err != nil || len(users) > 0 {
		return users, err
	}
	l := &deliveryv1alpha1.GitDeliveryList{}
	err = listing.EachPage(ctx, e.live, l, func() { addUsers(l.Items) })
	return users, errors.Wrap(err, "cannot list GitDeliveries")
}
