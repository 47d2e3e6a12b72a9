package sitesync

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const isLiveNow = "Live | Live"

func TestEngineIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	asked := func() string {
		g, err := w.cluster.Resource(repositories()).Namespace("flux").Get(t.Context(), "g", metav1.GetOptions{})
		w.must(err)
		return g.GetAnnotations()[requestedAt]
	}
	w.until("Syncing | Syncing | OtherTree")
	first := asked()
	if !strings.HasPrefix(first, "intentplane-") {
		t.Fatalf("the source was not asked: %q", first)
	}
	patches := func() int {
		n := 0
		for _, a := range w.cluster.Actions() {
			if a.GetVerb() == "patch" {
				n++
			}
		}
		return n
	}
	for range 3 {
		w.clock = w.clock.Add(time.Minute)
		w.reconcile()
	}
	if n := patches(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	// Several claims share a source. Each asks once, and does not insist when another one did after it.
	_, err := w.cluster.Resource(repositories()).Namespace("flux").Patch(t.Context(), "g", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+requestedAt+`":"another's"}}}`), metav1.PatchOptions{})
	w.must(err)
	w.seesAsked("another's")
	w.reconcile()
	if n := patches(); n != 2 {
		t.Errorf("it was asked again, although it was asked once: %d patches", n)
	}
	w.askFor(2)
	w.reconcile()
	second := asked()
	if second == first || patches() != 3 {
		t.Errorf("another position asks again: %q, %d patches", second, patches())
	}
	// Another provider sees that it was asked.
	w.seesAsked(second)
	w.c.memory = newMemory()
	w.reconcile()
	if n := patches(); n != 3 {
		t.Errorf("another provider asked again: %d patches", n)
	}
}

func TestDeliveredFirst(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	d := &v1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	p := w.get().Spec.ForProvider
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{ClaimRef: p.ClaimRef, Position: p.Position, Trees: []v1alpha1.Tree{{Site: "edge1", Path: webAtE1}}}
	w.must(w.kube.Create(t.Context(), d))
	w.reconcile()
	w.expect("before it is in Git", "Waiting | Pending | NotDelivered")
	if w.dialled != 0 {
		t.Error("a cluster was looked at for what is not in Git")
	}
	w.clock = w.clock.Add(time.Hour)
	d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: *p.Position}
	w.must(w.kube.Update(t.Context(), d))
	began := w.clock
	w.reconcile()
	w.clock = w.clock.Add(still)
	w.reconcile()
	w.expect("after", "Syncing | Syncing | OtherTree")
	if got := w.get().Status.AtProvider.Sites[0].StartedAt; !got.Equal(&metav1.Time{Time: began}) {
		t.Errorf("the wait began at %s, and is said to have begun at %s", began, got)
	}
}

func TestNotForThisNamespace(t *testing.T) {
	kubeconfig := func(s *catalogv1alpha1.Site) {
		s.Spec.Cluster = catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: "edge1-kubeconfig"}}
	}
	cases := map[string]struct {
		reason string
		site   func(*catalogv1alpha1.Site)
		config func(*configv1alpha1.ClusterProviderConfig)
		change func(*v1alpha1.SiteSyncParameters)
		secret string
		want   string
	}{
		"SiteOfOthers":   {reason: "A Site says who may use it", site: func(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = []string{"team-b"} }, want: "PolicyDenied | Pending | PolicyDenied"},
		"NoSite":         {reason: "One that is not there allows nobody", change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].Name = "edge9" }, want: "PolicyDenied | Pending | PolicyDenied"},
		"ConfigOfOthers": {reason: "A configuration that allows other namespaces denies the Site.", config: func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Policy.AllowedNamespaces = []string{"team-b"} }, want: "PolicyDenied | Pending | PolicyDenied"},
		"NoConfig":       {reason: "The same", change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].RepositoryRef.Name = "other" }, want: "PolicyDenied | Pending | PolicyDenied"},
		"OtherPath":      {reason: "The directory of another claim proves nothing about this one", change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].Path = "clusters/edge1/team-a/shop" }, want: "PolicyDenied | Pending | PolicyDenied"},
		"OtherClaim":     {reason: "A claim of another namespace is denied before anything is read.", change: func(p *v1alpha1.SiteSyncParameters) { p.ClaimRef.Namespace = "team-b" }, want: "PolicyDenied"},
		"NoSecret":       {reason: "The kubeconfig is not there", site: kubeconfig, want: "Syncing | Syncing | KubeconfigGone"},
		"BadKubeconfig":  {reason: "A kubeconfig that runs a program is refused.", site: kubeconfig, secret: "users: [{name: u, user: {exec: {}}}]", want: "Syncing | Syncing | KubeconfigRefused"},
		"WrongKind": {reason: "No Secret is read as an engine", site: func(s *catalogv1alpha1.Site) {
			s.Spec.Engine.ObjectRef.APIVersion, s.Spec.Engine.ObjectRef.Kind = "v1", "Secret"
		}, want: "Syncing | Syncing | EngineNotProvable"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.flux(w.deliver("new"), false)
			w.askFor(1)
			s, c, y := site("edge1"), w.config(), w.get()
			if tc.site != nil {
				w.must(w.kube.Get(t.Context(), keyOf("edge1"), s))
				tc.site(s)
				w.must(w.kube.Update(t.Context(), s))
			}
			if tc.config != nil {
				w.must(w.kube.Get(t.Context(), keyOf("default"), c))
				tc.config(c)
				w.must(w.kube.Update(t.Context(), c))
			}
			if tc.change != nil {
				tc.change(&y.Spec.ForProvider)
				w.must(w.kube.Update(t.Context(), y))
			}
			if tc.secret != "" {
				w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: "edge1-kubeconfig"}, Data: map[string][]byte{"value": []byte(tc.secret)}}))
			}
			w.reconcile()
			w.expect(tc.reason, tc.want)
			if links, watches := w.c.pool.Size(); links+watches != 0 {
				t.Errorf("\n%s\n%d connections, %d watches", tc.reason, links, watches)
			}
		})
	}
}

func TestForgotten(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.until(isLiveNow)
	w.must(w.kube.Delete(t.Context(), w.get()))
	w.reconcile()
	if links, watches := w.c.pool.Size(); links+watches+w.c.memory.Size() != 0 {
		t.Errorf("%d connections, %d watches and %d notes are left", links, watches, w.c.memory.Size())
	}
}
