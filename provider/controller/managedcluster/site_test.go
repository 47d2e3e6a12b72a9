package managedcluster

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func publish(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true }

// site of a name, or nil.
func (w *world) site(name string) *catalogv1alpha1.Site {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	err := w.Get(w.Context(), client.ObjectKey{Name: name}, s)
	if kerrors.IsNotFound(err) {
		return nil
	}
	w.must(err)
	return s
}

// looks a few times, with time in between.
func (w *world) looks() *v1alpha1.ManagedCluster {
	w.Helper()
	for range 3 {
		w.clock = w.clock.Add(progressInterval)
		w.reconcile()
	}
	return w.get()
}

// TestSiteGone is one that an administrator deleted: it is not made again by itself.
func TestSiteGone(t *testing.T) {
	w := settled(t, publish)
	w.looks()
	s := w.site("team-a.prod")
	s.SetUID("site-1") // The double of an API server gives none.
	w.must(w.Update(t.Context(), s))
	w.looks()
	w.must(w.Client.Delete(t.Context(), s))
	c := w.until("SiteGone").GetCondition(xpv2.TypeReady)
	w.looks()
	if w.site("team-a.prod") != nil || !strings.HasPrefix(c.Message, "Site team-a.prod with uid site-1 is gone") || !strings.HasSuffix(c.Message, v1alpha1.AnnotationRecreate+"=site-1") {
		t.Fatalf("message %q, Site %v", c.Message, w.site("team-a.prod"))
	}
	if at := w.get().Status.AtProvider; at.SiteName != "" || at.SiteUID != "site-1" || at.ReadySince == nil {
		t.Errorf("what is published: %q with uid %q, ready since %v", at.SiteName, at.SiteUID, at.ReadySince)
	}
	annotate := func(uid string) {
		w.change(func(mc *v1alpha1.ManagedCluster) {
			mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
		})
		w.looks()
	}
	if annotate("site-0"); w.site("team-a.prod") != nil {
		t.Error("the annotation is for another one")
	}
	annotate("site-1")
	w.until(ready)
	w.looks()
	if w.site("team-a.prod") == nil || w.get().Status.AtProvider.SiteName != "team-a.prod" {
		t.Errorf("a person wants it: %+v", w.get().Status.AtProvider)
	}
}

// TestAllowedSiteName is one that an administrator allows, and that the Site then keeps.
func TestAllowedSiteName(t *testing.T) {
	cases := map[string]struct {
		reason string
		kind   string
		allow  []string
		want   bool
	}{
		"Named":     {reason: "It is named", allow: []string{"other", "edge-1"}, want: true},
		"Pattern":   {reason: "A pattern is for several", allow: []string{"edge-*"}, want: true},
		"Other":     {reason: "Another one is", allow: []string{"edge-2"}},
		"None":      {reason: "None is"},
		"Namespace": {reason: "Whoever writes a ProviderConfig could allow themselves anything", kind: "ProviderConfig", allow: []string{"*"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.SiteNames = tc.allow
			w.must(w.Update(t.Context(), c))
			w.must(w.Create(t.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}, Spec: c.Spec}))
			p := topologySpec()
			p.Site = v1alpha1.PublishedSite{Publish: true, Name: "edge-1"}
			w.create(p)
			if tc.kind != "" {
				w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ProviderConfigReference.Kind = tc.kind })
			}
			if !tc.want {
				if m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, "spec.forProvider.site.name: it has to be team-a.prod, or one that an administrator allowed") || len(w.did) > 0 {
					t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.did)
				}
				return
			}
			w.until("NotReferenced")
			w.built()
			w.until(ready)
			w.looks()
			if w.site("edge-1") == nil || w.site("team-a.prod") != nil || w.get().Status.AtProvider.SiteName != "edge-1" {
				t.Fatalf("\n%s\n%+v", tc.reason, w.get().Status.AtProvider)
			}
			// What was allowed once stays, and is not renamed.
			c.Spec.Policy.SiteNames = nil
			w.must(w.Update(t.Context(), c))
			w.looks()
			w.until(ready)
			w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Site.Name = "" })
			if m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "it is published as edge-1") || w.site("team-a.prod") != nil {
				t.Errorf("\n%s\nmessage %q", tc.reason, m)
			}
			w.must(w.Delete(t.Context(), w.get()))
			w.reconcile()
			if w.site("edge-1") != nil {
				t.Errorf("\n%s\nit is not withdrawn", tc.reason)
			}
		})
	}
}

// TestSiteOfTheDead is one of a ManagedCluster of this name that is no more, such as after deletionPolicy Orphan.
func TestSiteOfTheDead(t *testing.T) {
	cases := map[string]struct {
		reason string
		act    func(*world, *catalogv1alpha1.Site)
	}{
		"HandedOver": {reason: "An administrator hands it over", act: func(w *world, s *catalogv1alpha1.Site) {
			s.Spec.Owner.UID = "mc-uid"
			w.must(w.Update(w.Context(), s))
		}},
		"Deleted": {reason: "Or deletes it", act: func(w *world, s *catalogv1alpha1.Site) { w.must(w.Client.Delete(w.Context(), s)) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			w.must(w.Create(t.Context(), &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "team-a.prod"}, Spec: catalogv1alpha1.SiteSpec{
				Repository: catalogv1alpha1.SiteRepository{Path: "clusters/team-a/prod"},
				Owner:      &catalogv1alpha1.SiteOwner{APIGroup: v1alpha1.Group, Kind: "ManagedCluster", Namespace: "team-a", Name: "prod", UID: "dead"},
			}}))
			p := topologySpec()
			p.Site.Publish = true
			w.create(p)
			m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message
			for _, part := range []string{"Site team-a.prod", "uid dead", "spec.owner.uid to mc-uid", "or delete it"} {
				if !strings.Contains(m, part) {
					t.Errorf("\n%s\nthe message does not say %q: %q", tc.reason, part, m)
				}
			}
			tc.act(w, w.site("team-a.prod"))
			w.until("NotReferenced")
			w.built()
			w.until(ready)
			w.looks()
			if s := w.site("team-a.prod"); s == nil || s.Spec.Owner.UID != "mc-uid" || w.get().Status.AtProvider.SiteName != "team-a.prod" {
				t.Errorf("\n%s\n%+v, %+v", tc.reason, s, w.get().Status.AtProvider)
			}
		})
	}
}

// TestUnprotected goes while deployments use its Site, which stays, and says who uses it.
func TestUnprotected(t *testing.T) {
	no := false
	w := settled(t, publish, func(p *v1alpha1.ManagedClusterParameters) { p.DeletionProtection = &no })
	w.looks()
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "team-a.prod"}}
	w.must(w.Create(t.Context(), d))
	w.must(w.Delete(t.Context(), w.get()))
	w.did = nil
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.gone("delete "+kind, kind)
	}
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, "InUse: the cluster is gone, and Site team-a.prod stays while deployments use it: team-a/shop.") {
		t.Errorf("what it waits for is not said: %q", m)
	}
	w.must(w.Client.Delete(t.Context(), d))
	w.released()
	if w.site("team-a.prod") != nil {
		t.Error("its Site is still there")
	}
}

// A siteless cache was not told of any Site yet.
type siteless struct {
	client.Client
}

func (s siteless) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*catalogv1alpha1.Site); ok {
		return kerrors.NewNotFound(catalogv1alpha1.GroupVersion.WithResource("sites").GroupResource(), key.Name)
	}
	return s.Client.Get(ctx, key, o, opts...)
}

// TestDeletionLooksForItsSite itself, since the cache may not know it yet.
func TestDeletionLooksForItsSite(t *testing.T) {
	w := settled(t, publish)
	w.looks()
	w.c.kube = siteless{w}
	w.must(w.Delete(t.Context(), w.get()))
	w.did = nil
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.gone("delete "+kind, kind)
	}
	w.released()
	if w.site("team-a.prod") != nil {
		t.Error("its Site is left behind")
	}
}

func TestPublishedSite(t *testing.T) {
	w := settled(t, func(p *v1alpha1.ManagedClusterParameters) {
		p.Site = v1alpha1.PublishedSite{Publish: true, Labels: map[string]v1alpha1.LabelValue{"env": "prod"}}
	})
	w.reconcile()
	s := &catalogv1alpha1.Site{}
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, s))
	want := catalogv1alpha1.SiteSpec{
		Cluster:    catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "team-a", Name: "c1"}},
		Engine:     catalogv1alpha1.SiteEngine{Type: "None"},
		Repository: catalogv1alpha1.SiteRepository{Path: "clusters/team-a/prod"}, AllowedNamespaces: []string{"team-a"},
		Owner: &catalogv1alpha1.SiteOwner{APIGroup: "cluster.intentplane.dev", Kind: "ManagedCluster", Namespace: "team-a", Name: "prod", UID: "mc-uid"},
	}
	if diff := cmp.Diff(want, s.Spec); diff != "" || s.Labels["env"] != "prod" {
		t.Errorf("Site: -want, +got:\n%s", diff)
	}
	// It is made once, and never changed.
	s.Spec.AllowedNamespaces = []string{"team-a", "team-c"}
	w.must(w.Update(t.Context(), s))
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Site.Labels["env"] = "test" })
	w.reconcile()
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, s))
	if len(s.Spec.AllowedNamespaces) != 2 || s.Labels["env"] != "prod" {
		t.Errorf("what an administrator did was undone: %v, %v", s.Spec.AllowedNamespaces, s.Labels)
	}
}

func TestForeignSite(t *testing.T) {
	foreign := func(name, path string) *catalogv1alpha1.Site {
		return &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: catalogv1alpha1.SiteSpec{Repository: catalogv1alpha1.SiteRepository{Path: path}, AllowedNamespaces: []string{"x"}}}
	}
	cases := map[string]struct {
		reason string
		site   *catalogv1alpha1.Site
	}{
		"CVE-2026-41050-Name": {reason: "A tenant's cluster does not take over the Site of an administrator by its name.", site: foreign("team-a.prod", "elsewhere")},
		"CVE-2026-41050-Path": {reason: "A tenant's cluster does not take over the directory of another Site.", site: foreign("edge1", "clusters/team-a/prod")},
		"Parent":              {reason: "An engine reads all of it", site: foreign("edge1", "clusters")},
		"Child":               {reason: "Or ours would read all of another's", site: foreign("edge1", "clusters/team-a/prod/edge1")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			w.must(w.Create(t.Context(), tc.site.DeepCopy()))
			p := captSpec()
			p.Site.Publish = true
			w.create(p)
			w.until("PolicyDenied")
			if len(w.did) > 0 {
				t.Errorf("\n%s\nit is built all the same: %q", tc.reason, w.did)
			}
			w.built()
			for range 5 {
				w.clock = w.clock.Add(time.Hour)
				w.reconcile()
			}
			l := &catalogv1alpha1.SiteList{}
			w.must(w.List(t.Context(), l))
			if diff := cmp.Diff(tc.site.Spec, l.Items[0].Spec); diff != "" || len(l.Items) != 1 {
				t.Errorf("\n%s\n%d Sites, -want, +got:\n%s", tc.reason, len(l.Items), diff)
			}
			w.must(w.Delete(t.Context(), w.get()))
			w.reconcile()
			w.must(w.Get(t.Context(), client.ObjectKey{Name: tc.site.GetName()}, &catalogv1alpha1.Site{}))
		})
	}
}

// TestPublishedParameters bounds what each request about a deployment to the Site carries.
func TestPublishedParameters(t *testing.T) {
	big := map[string]catalogv1alpha1.ParameterValue{}
	for i := range 4 {
		big[fmt.Sprintf("p%d", i)] = catalogv1alpha1.ParameterValue(strings.Repeat("x", 4096))
	}
	cases := map[string]struct {
		reason string
		take   string
		want   string
	}{
		"TooMany": {reason: "A Site with more than 16 KiB of parameters is not published.", want: "spec.forProvider.site.parameters: keys and values have 16392 bytes, and a Site that is published may have 16384"},
		"Enough":  {reason: "A Site with fewer is published.", take: "p0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			p := captSpec()
			p.Site = v1alpha1.PublishedSite{Publish: true, Parameters: maps.Clone(big)}
			delete(p.Site.Parameters, tc.take)
			w.create(p)
			if tc.want == "" {
				if w.looks(); len(w.did) == 0 {
					t.Errorf("\n%s\nnothing is made: %+v", tc.reason, w.get().GetCondition(xpv2.TypeReady))
				}
				return
			}
			if m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != tc.want || len(w.did) > 0 {
				t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.did)
			}
		})
	}
}

// otherPublished creates Sites that other clusters of a namespace published.
func (w *world) otherPublished(namespace string, n int) {
	w.Helper()
	for i := range n {
		s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.other%d", namespace, i)}, Spec: catalogv1alpha1.SiteSpec{
			Repository: catalogv1alpha1.SiteRepository{Path: fmt.Sprintf("clusters/%s/other%d", namespace, i)}, AllowedNamespaces: []string{namespace},
			Owner: &catalogv1alpha1.SiteOwner{APIGroup: v1alpha1.Group, Kind: "ManagedCluster", Namespace: namespace, Name: fmt.Sprintf("other%d", i), UID: fmt.Sprintf("uid-%d", i)},
		}}
		s.SetUsableFrom()
		w.must(w.Create(w.Context(), s))
	}
}

// TestMaxPublishedSites bounds how many Sites the clusters of one namespace publish.
func TestMaxPublishedSites(t *testing.T) {
	cases := map[string]struct {
		reason string
		max    *int32
		kind   string
		own    int
		others int
		want   string
	}{
		"Default":    {reason: "The twenty-first Site of a namespace is refused by default.", own: 20, want: "spec.forProvider.site.publish: the namespace has published 20 Sites, and spec.policy.maxPublishedSites of the configuration allows 20"},
		"Last":       {reason: "The twentieth Site of a namespace is published.", own: 19},
		"Others":     {reason: "Sites of other namespaces take nothing from this one.", own: 1, others: 30},
		"More":       {reason: "A ClusterProviderConfig may allow more.", max: new(int32(30)), own: 25},
		"None":       {reason: "A ClusterProviderConfig may allow none.", max: new(int32(0)), want: "spec.forProvider.site.publish: the namespace has published 0 Sites, and spec.policy.maxPublishedSites of the configuration allows 0"},
		"Namespaced": {reason: "A ProviderConfig, which a tenant may write, allows no more than the default.", kind: "ProviderConfig", max: new(int32(30)), own: 20, want: "spec.forProvider.site.publish: the namespace has published 20 Sites, and spec.policy.maxPublishedSites of the configuration allows 20"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.install()
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.MaxPublishedSites = tc.max
			w.must(w.Update(t.Context(), c))
			w.must(w.Create(t.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}, Spec: c.Spec}))
			w.otherPublished("team-a", tc.own)
			w.otherPublished("team-b", tc.others)
			p := topologySpec()
			p.Site.Publish = true
			w.create(p)
			if tc.kind != "" {
				w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ProviderConfigReference.Kind = tc.kind })
			}
			if tc.want != "" {
				if m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != tc.want || len(w.did) > 0 {
					t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.did)
				}
				return
			}
			w.until("NotReferenced")
			w.built()
			w.until(ready)
			w.looks()
			if s := w.site("team-a.prod"); s == nil || s.GetLabels()[catalogv1alpha1.LabelUsableFrom] != "team-a" {
				t.Errorf("\n%s\n%+v", tc.reason, s)
			}
			// What is published stays, whatever is allowed later.
			c.Spec.Policy.MaxPublishedSites = new(int32(0))
			w.must(w.Update(t.Context(), c))
			w.looks()
			w.until(ready)
		})
	}
}

// TestPublishedAtOnce counts past the cache: clusters that became ready together all saw a namespace with room.
func TestPublishedAtOnce(t *testing.T) {
	w := settled(t, publish)
	w.must(client.IgnoreNotFound(w.Client.Delete(t.Context(), &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "team-a.prod"}})))
	w.otherPublished("team-a", 20)
	e := &external{connector: w.c}
	denied, err := e.publishSite(t.Context(), w.get())
	w.must(err)
	if want := "spec.forProvider.site.publish: the namespace has published 20 Sites, and spec.policy.maxPublishedSites of the configuration allows 20"; denied != want || w.site("team-a.prod") != nil {
		t.Errorf("publishSite(...): %q, want %q, Site %v", denied, want, w.site("team-a.prod"))
	}
}

// TestPublishedLabels lets no tenant label a Site for other namespaces.
func TestPublishedLabels(t *testing.T) {
	w := newWorld(t)
	w.install()
	p := captSpec()
	p.Site = v1alpha1.PublishedSite{Publish: true, Labels: map[string]v1alpha1.LabelValue{catalogv1alpha1.LabelUsableFrom: "Several"}}
	w.create(p)
	want := "spec.forProvider.site.labels[catalog.intentplane.dev/usable-from]: what is of cluster.x-k8s.io or intentplane.dev is not for users to set"
	if m := w.until("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != want || len(w.did) > 0 {
		t.Errorf("message %q, writes %q", m, w.did)
	}
}
