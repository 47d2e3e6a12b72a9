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

func enablePublish(p *v1alpha1.ManagedClusterParameters) { p.Site.Publish = true }

// getSite returns the Site of a name, or nil.
func (w *testEnv) getSite(name string) *catalogv1alpha1.Site {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	err := w.Get(w.Context(), client.ObjectKey{Name: name}, s)
	if kerrors.IsNotFound(err) {
		return nil
	}
	w.must(err)
	return s
}

// reconcileOften reconciles a few times, with time in between.
func (w *testEnv) reconcileOften() *v1alpha1.ManagedCluster {
	w.Helper()
	for range 3 {
		w.clock = w.clock.Add(progressInterval)
		w.reconcile()
	}
	return w.get()
}

// TestDeletedSiteIsNotRecreated checks that a Site that an administrator deleted is not made again by itself.
func TestDeletedSiteIsNotRecreated(t *testing.T) {
	w := newReadyCluster(t, enablePublish)
	w.reconcileOften()
	s := w.getSite("team-a.prod")
	s.SetUID("site-1") // The fake API server assigns no UID.
	w.must(w.Update(t.Context(), s))
	w.reconcileOften()
	w.must(w.Client.Delete(t.Context(), s))
	c := w.reconcileUntil("SiteGone").GetCondition(xpv2.TypeReady)
	w.reconcileOften()
	if w.getSite("team-a.prod") != nil || !strings.HasPrefix(c.Message, "Site team-a.prod with uid site-1 was deleted") || !strings.HasSuffix(c.Message, v1alpha1.AnnotationRecreate+"=site-1") {
		t.Fatalf("message %q, Site %v", c.Message, w.getSite("team-a.prod"))
	}
	if observation := w.get().Status.AtProvider; observation.SiteName != "" || observation.SiteUID != "site-1" || observation.ReadySince == nil {
		t.Errorf("published Site: %q with uid %q, ready since %v", observation.SiteName, observation.SiteUID, observation.ReadySince)
	}
	annotate := func(uid string) {
		w.change(func(mc *v1alpha1.ManagedCluster) {
			mc.SetAnnotations(map[string]string{v1alpha1.AnnotationRecreate: uid})
		})
		w.reconcileOften()
	}
	if annotate("site-0"); w.getSite("team-a.prod") != nil {
		t.Error("the annotation is for another Site")
	}
	annotate("site-1")
	w.reconcileUntil(ready)
	w.reconcileOften()
	if w.getSite("team-a.prod") == nil || w.get().Status.AtProvider.SiteName != "team-a.prod" {
		t.Errorf("after the user allowed it: %+v", w.get().Status.AtProvider)
	}
}

// TestAllowedSiteName publishes a Site under a name that an administrator allows. The Site keeps it.
func TestAllowedSiteName(t *testing.T) {
	cases := map[string]struct {
		reason string
		kind   string
		allow  []string
		want   bool
	}{
		"Named":     {reason: "A name that the configuration lists is allowed.", allow: []string{"other", "edge-1"}, want: true},
		"Pattern":   {reason: "A name that matches a pattern of the configuration is allowed.", allow: []string{"edge-*"}, want: true},
		"Other":     {reason: "A name that the configuration does not list is refused.", allow: []string{"edge-2"}},
		"None":      {reason: "A name is refused if the configuration lists none."},
		"Namespace": {reason: "Names that a ProviderConfig lists are refused: a tenant may write it.", kind: "ProviderConfig", allow: []string{"*"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.SiteNames = tc.allow
			w.must(w.Update(t.Context(), c))
			w.must(w.Create(t.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}, Spec: c.Spec}))
			p := topologyParameters()
			p.Site = v1alpha1.PublishedSite{Publish: true, Name: "edge-1"}
			w.create(p)
			if tc.kind != "" {
				w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ProviderConfigReference.Kind = tc.kind })
			}
			if !tc.want {
				if m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message; !strings.HasPrefix(m, "spec.forProvider.site.name: it has to be team-a.prod, or a name that an administrator allowed") || len(w.writes) > 0 {
					t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.writes)
				}
				return
			}
			w.reconcileUntil("NotReferenced")
			w.reportBuilt()
			w.reconcileUntil(ready)
			w.reconcileOften()
			if w.getSite("edge-1") == nil || w.getSite("team-a.prod") != nil || w.get().Status.AtProvider.SiteName != "edge-1" {
				t.Fatalf("\n%s\n%+v", tc.reason, w.get().Status.AtProvider)
			}
			// A Site name that was allowed once stays, and the Site is not renamed.
			c.Spec.Policy.SiteNames = nil
			w.must(w.Update(t.Context(), c))
			w.reconcileOften()
			w.reconcileUntil(ready)
			w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Site.Name = "" })
			if m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message; !strings.Contains(m, "it is published as edge-1") || w.getSite("team-a.prod") != nil {
				t.Errorf("\n%s\nmessage %q", tc.reason, m)
			}
			w.must(w.Delete(t.Context(), w.get()))
			w.reconcile()
			if w.getSite("edge-1") != nil {
				t.Errorf("\n%s\nit is not withdrawn", tc.reason)
			}
		})
	}
}

// TestSiteOfFormerManagedCluster finds the Site of a deleted ManagedCluster of the same name, such as after deletionPolicy Orphan.
func TestSiteOfFormerManagedCluster(t *testing.T) {
	cases := map[string]struct {
		reason string
		act    func(*testEnv, *catalogv1alpha1.Site)
	}{
		"HandedOver": {reason: "A Site that an administrator hands over is adopted.", act: func(w *testEnv, s *catalogv1alpha1.Site) {
			s.Spec.Owner.UID = "mc-uid"
			w.must(w.Update(w.Context(), s))
		}},
		"Deleted": {
			reason: "A Site that an administrator deletes is published again.",
			act:    func(w *testEnv, s *catalogv1alpha1.Site) { w.must(w.Client.Delete(w.Context(), s)) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			w.must(w.Create(t.Context(), &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "team-a.prod"}, Spec: catalogv1alpha1.SiteSpec{
				Repository: catalogv1alpha1.SiteRepository{Path: "clusters/team-a/prod"},
				Owner:      &catalogv1alpha1.SiteOwner{APIGroup: v1alpha1.Group, Kind: "ManagedCluster", Namespace: "team-a", Name: "prod", UID: "dead"},
			}}))
			p := topologyParameters()
			p.Site.Publish = true
			w.create(p)
			m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message
			for _, part := range []string{"Site team-a.prod", "uid dead", "spec.owner.uid to mc-uid", "or delete it"} {
				if !strings.Contains(m, part) {
					t.Errorf("\n%s\nthe message does not say %q: %q", tc.reason, part, m)
				}
			}
			tc.act(w, w.getSite("team-a.prod"))
			w.reconcileUntil("NotReferenced")
			w.reportBuilt()
			w.reconcileUntil(ready)
			w.reconcileOften()
			if s := w.getSite("team-a.prod"); s == nil || s.Spec.Owner.UID != "mc-uid" || w.get().Status.AtProvider.SiteName != "team-a.prod" {
				t.Errorf("\n%s\n%+v, %+v", tc.reason, s, w.get().Status.AtProvider)
			}
		})
	}
}

// TestUnprotectedDeletionKeepsUsedSite deletes a cluster while deployments use its Site. The Site stays, and the error names its users.
func TestUnprotectedDeletionKeepsUsedSite(t *testing.T) {
	no := false
	w := newReadyCluster(t, enablePublish, func(p *v1alpha1.ManagedClusterParameters) { p.DeletionProtection = &no })
	w.reconcileOften()
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "team-a.prod"}}
	w.must(w.Create(t.Context(), d))
	w.must(w.Delete(t.Context(), w.get()))
	w.writes = nil
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.reconcileUntilDeleted("delete "+kind, kind)
	}
	w.clock = w.clock.Add(time.Hour)
	w.reconcile()
	if m := w.get().GetCondition(xpv2.TypeSynced).Message; !strings.Contains(m, "InUse: the cluster is gone, and Site team-a.prod stays while deployments use it: team-a/shop.") {
		t.Errorf("the message does not name the deployments that hold the Site back: %q", m)
	}
	w.must(w.Client.Delete(t.Context(), d))
	w.reconcileUntilReleased()
	if w.getSite("team-a.prod") != nil {
		t.Error("its Site is still there")
	}
}

// A sitelessReader is a cache that does not hold any Site yet.
type sitelessReader struct {
	client.Client
}

func (s sitelessReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*catalogv1alpha1.Site); ok {
		return kerrors.NewNotFound(catalogv1alpha1.GroupVersion.WithResource("sites").GroupResource(), key.Name)
	}
	return s.Client.Get(ctx, key, o, opts...)
}

// TestDeletionReadsSitePastTheCache checks that a deletion asks the API server for the Site, since the cache may not hold it yet.
func TestDeletionReadsSitePastTheCache(t *testing.T) {
	w := newReadyCluster(t, enablePublish)
	w.reconcileOften()
	w.c.kube = sitelessReader{w}
	w.must(w.Delete(t.Context(), w.get()))
	w.writes = nil
	for _, kind := range []string{"Cluster", "CAPTControlPlane", "CAPTCluster"} {
		w.reconcileUntilDeleted("delete "+kind, kind)
	}
	w.reconcileUntilReleased()
	if w.getSite("team-a.prod") != nil {
		t.Error("its Site is left behind")
	}
}

// A deliverylessReader is a cache that does not hold any GitDelivery yet.
type deliverylessReader struct {
	client.Client
}

func (d deliverylessReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if _, ok := l.(*deliveryv1alpha1.GitDeliveryList); ok {
		return nil
	}
	return d.Client.List(ctx, l, opts...)
}

// TestDeletionReadsDeliveriesPastTheCache checks that a deletion asks the API server for deployments at the Site, since the cache may not hold them yet.
func TestDeletionReadsDeliveriesPastTheCache(t *testing.T) {
	w := newReadyCluster(t, enablePublish)
	w.reconcileOften()
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef.Name = "shop"
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "team-a.prod"}}
	w.must(w.Create(t.Context(), d))
	w.c.kube = deliverylessReader{w}
	w.writes = nil
	w.must(w.Delete(t.Context(), w.get()))
	w.reconcile()
	m := w.get().GetCondition(xpv2.TypeSynced).Message
	if !strings.Contains(m, "InUse: deployments use Site team-a.prod: team-a/shop.") || len(w.writes) > 0 || w.getSite("team-a.prod") == nil {
		t.Errorf("the protected cluster of a deployment is deleted: message %q, writes %q", m, w.writes)
	}
	w.must(w.Client.Delete(t.Context(), d))
	w.reconcile()
	if diff := cmp.Diff([]string{"delete Cluster"}, w.writes); diff != "" || w.getSite("team-a.prod") != nil {
		t.Errorf("the Site is not used any more: -want, +got:\n%s", diff)
	}
}

func TestPublishedSite(t *testing.T) {
	w := newReadyCluster(t, func(p *v1alpha1.ManagedClusterParameters) {
		p.Site = v1alpha1.PublishedSite{Publish: true, Labels: map[string]v1alpha1.LabelValue{"env": "prod"}}
	})
	w.reconcile()
	s := &catalogv1alpha1.Site{}
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, s))
	want := catalogv1alpha1.SiteSpec{
		Cluster: catalogv1alpha1.SiteCluster{
			ClusterRef: &catalogv1alpha1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "team-a", Name: "c1"},
		},
		Engine:     catalogv1alpha1.SiteEngine{Type: "None"},
		Repository: catalogv1alpha1.SiteRepository{Path: "clusters/team-a/prod"}, AllowedNamespaces: []string{"team-a"},
		Owner: &catalogv1alpha1.SiteOwner{APIGroup: "cluster.intentplane.dev", Kind: "ManagedCluster", Namespace: "team-a", Name: "prod", UID: "mc-uid"},
	}
	if diff := cmp.Diff(want, s.Spec); diff != "" || s.Labels["env"] != "prod" {
		t.Errorf("Site: -want, +got:\n%s", diff)
	}
	// The Site is created once and never changed.
	s.Spec.AllowedNamespaces = []string{"team-a", "team-c"}
	w.must(w.Update(t.Context(), s))
	w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ForProvider.Site.Labels["env"] = "test" })
	w.reconcile()
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "team-a.prod"}, s))
	if len(s.Spec.AllowedNamespaces) != 2 || s.Labels["env"] != "prod" {
		t.Errorf("the provider undid the change of an administrator: %v, %v", s.Spec.AllowedNamespaces, s.Labels)
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
		"Parent": {
			reason: "A directory below the directory of another Site is refused: its engine reads all of it.",
			site:   foreign("edge1", "clusters"),
		},
		"Child": {
			reason: "A directory above the directory of another Site is refused: our engine would read all of it.",
			site:   foreign("edge1", "clusters/team-a/prod/edge1"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			w.must(w.Create(t.Context(), tc.site.DeepCopy()))
			p := captParameters()
			p.Site.Publish = true
			w.create(p)
			w.reconcileUntil("PolicyDenied")
			if len(w.writes) > 0 {
				t.Errorf("\n%s\nit is built all the same: %q", tc.reason, w.writes)
			}
			w.reportBuilt()
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

// TestPublishedParameters bounds the parameters that each request about a deployment to the Site carries.
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
		"TooMany": {
			reason: "A Site with more than 16 KiB of parameters is not published.",
			want:   "spec.forProvider.site.parameters: keys and values have 16392 bytes, and a Site that is published may have 16384",
		},
		"Enough": {reason: "A Site with at most 16 KiB of parameters is published.", take: "p0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			p := captParameters()
			p.Site = v1alpha1.PublishedSite{Publish: true, Parameters: maps.Clone(big)}
			delete(p.Site.Parameters, tc.take)
			w.create(p)
			if tc.want == "" {
				if w.reconcileOften(); len(w.writes) == 0 {
					t.Errorf("\n%s\nnothing is made: %+v", tc.reason, w.get().GetCondition(xpv2.TypeReady))
				}
				return
			}
			if m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != tc.want || len(w.writes) > 0 {
				t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.writes)
			}
		})
	}
}

// otherPublished creates Sites that other clusters of a namespace published.
func (w *testEnv) otherPublished(namespace string, n int) {
	w.Helper()
	for i := range n {
		s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.other%d", namespace, i)}, Spec: catalogv1alpha1.SiteSpec{
			Repository: catalogv1alpha1.SiteRepository{Path: fmt.Sprintf("clusters/%s/other%d", namespace, i)}, AllowedNamespaces: []string{namespace},
			Owner: &catalogv1alpha1.SiteOwner{
				APIGroup: v1alpha1.Group, Kind: "ManagedCluster", Namespace: namespace, Name: fmt.Sprintf("other%d", i), UID: fmt.Sprintf("uid-%d", i),
			},
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
		"Default": {
			reason: "The twenty-first Site of a namespace is refused by default.",
			own:    20,
			want: "spec.forProvider.site.publish: the namespace has published 20 Sites, and spec.policy.maxPublishedSites of the configuration " +
				"allows 20",
		},
		"Last":   {reason: "The twentieth Site of a namespace is published.", own: 19},
		"Others": {reason: "Sites of other namespaces do not count for this namespace.", own: 1, others: 30},
		"More":   {reason: "A ClusterProviderConfig may allow more Sites.", max: new(int32(30)), own: 25},
		"None": {
			reason: "A ClusterProviderConfig may allow no Sites.",
			max:    new(int32(0)),
			want: "spec.forProvider.site.publish: the namespace has published 0 Sites, and spec.policy.maxPublishedSites of the configuration " +
				"allows 0",
		},
		"Namespaced": {
			reason: "A ProviderConfig, which a tenant may write, allows no more than the default.",
			kind:   "ProviderConfig", max: new(int32(30)), own: 20,
			want: "spec.forProvider.site.publish: the namespace has published 20 Sites, and spec.policy.maxPublishedSites of the configuration " +
				"allows 20",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.installClusterAPI()
			c := &configv1alpha1.ClusterProviderConfig{}
			w.must(w.Get(t.Context(), client.ObjectKey{Name: "default"}, c))
			c.Spec.Policy.MaxPublishedSites = tc.max
			w.must(w.Update(t.Context(), c))
			w.must(w.Create(t.Context(), &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}, Spec: c.Spec}))
			w.otherPublished("team-a", tc.own)
			w.otherPublished("team-b", tc.others)
			p := topologyParameters()
			p.Site.Publish = true
			w.create(p)
			if tc.kind != "" {
				w.change(func(mc *v1alpha1.ManagedCluster) { mc.Spec.ProviderConfigReference.Kind = tc.kind })
			}
			if tc.want != "" {
				if m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != tc.want || len(w.writes) > 0 {
					t.Errorf("\n%s\nmessage %q, writes %q", tc.reason, m, w.writes)
				}
				return
			}
			w.reconcileUntil("NotReferenced")
			w.reportBuilt()
			w.reconcileUntil(ready)
			w.reconcileOften()
			if s := w.getSite("team-a.prod"); s == nil || s.GetLabels()[catalogv1alpha1.LabelUsableFrom] != "team-a" {
				t.Errorf("\n%s\n%+v", tc.reason, s)
			}
			// A published Site stays, whatever the policy allows later.
			c.Spec.Policy.MaxPublishedSites = new(int32(0))
			w.must(w.Update(t.Context(), c))
			w.reconcileOften()
			w.reconcileUntil(ready)
		})
	}
}

// TestConcurrentPublications checks that Sites are counted past the cache: clusters that become ready together all see a cache with room.
func TestConcurrentPublications(t *testing.T) {
	w := newReadyCluster(t, enablePublish)
	w.must(client.IgnoreNotFound(w.Client.Delete(t.Context(), &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "team-a.prod"}})))
	w.otherPublished("team-a", 20)
	e := &external{connector: w.c}
	denied, err := e.publishSite(t.Context(), w.get())
	w.must(err)
	if want := "spec.forProvider.site.publish: the namespace has published 20 Sites, and spec.policy.maxPublishedSites of the configuration allows 20"; denied != want || w.getSite("team-a.prod") != nil {
		t.Errorf("publishSite(...): %q, want %q, Site %v", denied, want, w.getSite("team-a.prod"))
	}
}

// TestPublishedLabels checks that a tenant cannot label a Site as usable from other namespaces.
func TestPublishedLabels(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	p := captParameters()
	p.Site = v1alpha1.PublishedSite{Publish: true, Labels: map[string]v1alpha1.LabelValue{catalogv1alpha1.LabelUsableFrom: "Several"}}
	w.create(p)
	want := "spec.forProvider.site.labels[catalog.intentplane.dev/usable-from]: users cannot set labels and annotations of cluster.x-k8s.io and intentplane.dev"
	if m := w.reconcileUntil("PolicyDenied").GetCondition(xpv2.TypeReady).Message; m != want || len(w.writes) > 0 {
		t.Errorf("message %q, writes %q", m, w.writes)
	}
}
