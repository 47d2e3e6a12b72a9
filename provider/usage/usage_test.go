package usage

import (
	"context"
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func claim(group, namespace, name string) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: group, Kind: "IntentDeployment", Namespace: namespace, Name: name}
}

func delivery(namespace, name string, c rolloutv1alpha1.ClaimReference) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetNamespace(namespace)
	d.SetName(name)
	d.Spec.ForProvider.ClaimRef = c
	return d
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme, rolloutv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestOfClaim(t *testing.T) {
	s := scheme(t)
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(
		delivery("team-a", "web-fleet", claim("intentplane.dev", "team-a", "web")),
		delivery("team-a", "web-other", claim("intentplane.dev", "team-a", "web")),
		delivery("team-a", "shop", claim("intentplane.dev", "team-a", "shop")),
		delivery("team-a", "shape", claim("claims.intentplane.dev", "team-a", "web")),
		delivery("team-b", "namesake", claim("intentplane.dev", "team-b", "web")),
		delivery("team-b", "liar", claim("intentplane.dev", "team-a", "web")),
	)}
	if err := Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	ds, err := OfClaim(t.Context(), b.Build(), claim("intentplane.dev", "team-a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, d := range ds {
		got = append(got, d.GetName())
	}
	if diff := cmp.Diff([]string{"web-fleet", "web-other"}, got); diff != "" {
		t.Errorf("\nThe deliveries of the claim, of its shape, in its namespace\nOfClaim(...): -want, +got:\n%s", diff)
	}
}

// TestWitnessesOfClaim lists the SiteSyncs and Gates of a claim among those of others.
func TestWitnessesOfClaim(t *testing.T) {
	web := claim("intentplane.dev", "team-a", "web")
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(scheme(t))}
	for name, c := range map[string]rolloutv1alpha1.ClaimReference{
		"web": web, "shop": claim("intentplane.dev", "team-a", "shop"), "shape": claim("claims.intentplane.dev", "team-a", "web"),
		"elsewhere": claim("intentplane.dev", "team-b", "web"),
	} {
		sync, gate := &deliveryv1alpha1.SiteSync{}, &rolloutv1alpha1.Gate{}
		sync.Spec.ForProvider.ClaimRef, gate.Spec.ForProvider.ClaimRef = c, c
		for _, o := range []client.Object{sync, gate} {
			o.SetNamespace("team-a")
			o.SetName(name)
			b.WithObjects(o)
		}
	}
	if err := errors.Join(Index(t.Context(), b), IndexGates(t.Context(), b)); err != nil {
		t.Fatal(err)
	}
	kube, got := b.Build(), []string{}
	syncs, err := SyncsOfClaim(t.Context(), kube, "team-a", web)
	gates, gatesErr := GatesOfClaim(t.Context(), kube, web)
	if err := errors.Join(err, gatesErr); err != nil {
		t.Fatal(err)
	}
	for i := range syncs {
		got = append(got, "SiteSync "+syncs[i].GetName())
	}
	for i := range gates {
		got = append(got, "Gate "+gates[i].GetName())
	}
	if diff := cmp.Diff([]string{"SiteSync web", "Gate web"}, got); diff != "" {
		t.Errorf("\nA claim has the SiteSyncs and Gates that name it, in its shape and namespace.\n-want, +got:\n%s", diff)
	}
}

// TestConfigsWithSecret finds the configurations that name a Secret in a namespace with a hundred other configurations, which are not read.
func TestConfigsWithSecret(t *testing.T) {
	named := func(namespace, secret string) configv1alpha1.ProviderConfigSpec {
		spec := configv1alpha1.ProviderConfigSpec{}
		spec.Git.Credentials.SecretRef = &configv1alpha1.SecretReference{Namespace: namespace, Name: secret}
		return spec
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(
		&configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}, Spec: named("", "git")},
		&configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "namesake"}, Spec: named("", "git")},
		&configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Spec: named("team-a", "git")},
		&configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}, Spec: named("platform", "git")},
	)}
	for i := range 100 {
		b.WithObjects(&configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("other-%d", i)}, Spec: named("", "other")})
	}
	if err := Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	kube, got := &cacheclient.Counter{Client: b.Build()}, []string{}
	configs, err := ConfigsWithSecret(t.Context(), kube, client.ObjectKey{Namespace: "team-a", Name: "git"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range configs {
		got = append(got, c.GetName())
	}
	if diff := cmp.Diff([]string{"own", "shared"}, got); diff != "" || kube.Listed != len(got) {
		t.Errorf("\nA Secret is for the configurations that name it, which alone are read.\nConfigsWithSecret(...): %d objects, -want, +got:\n%s", kube.Listed, diff)
	}
}

// A copyingReader counts the lists that copy the objects of a cache.
type copyingReader struct {
	client.Reader

	lists, copies int
}

func (r *copyingReader) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	r.lists++
	if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
		r.copies++
	}
	return nil
}

// A limitReader has the limit of the last list.
type limitReader struct {
	client.Reader

	limit int64
}

func (r *limitReader) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	r.limit = o.Limit
	return nil
}

// TestListsOfClaimAreBounded lists the objects in the name of a claim, of which a tenant may create any number.
func TestListsOfClaimAreBounded(t *testing.T) {
	r, c := &limitReader{}, claim("intentplane.dev", "team-a", "web")
	cases := map[string]struct {
		reason string
		list   func() error
		want   int64
	}{
		"GitDeliveries": {
			reason: "At most two GitDeliveries for each Site of a plan are read.",
			list:   func() error { _, err := OfClaim(t.Context(), r, c); return err }, want: 1000,
		},
		"SiteSyncs": {
			reason: "A few SiteSyncs are read.",
			list:   func() error { _, err := SyncsOfClaim(t.Context(), r, "team-a", c); return err }, want: maxWitnesses,
		},
		"Gates": {reason: "A few Gates are read.", list: func() error { _, err := GatesOfClaim(t.Context(), r, c); return err }, want: maxWitnesses},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r.limit = 0
			if err := tc.list(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, r.limit); diff != "" {
				t.Errorf("\n%s\nlimit of the list: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNoListCopiesTrees lists deliveries in each way. Each delivery of a claim lists its siblings, which hold up to a megabyte of files each.
func TestNoListCopiesTrees(t *testing.T) {
	r, config := &copyingReader{}, &configv1alpha1.ProviderConfig{}
	for name, list := range map[string]func() error{
		"OfClaim":  func() error { _, err := OfClaim(t.Context(), r, claim("intentplane.dev", "team-a", "web")); return err },
		"OfSite":   func() error { _, err := OfSite(t.Context(), r, "edge"); return err },
		"OfConfig": func() error { _, err := OfConfig(t.Context(), r, config); return err },
		"Holders":  func() error { _, err := Holders(t.Context(), r, config); return err },
		"SyncsOfClaim": func() error {
			_, err := SyncsOfClaim(t.Context(), r, "team-a", claim("intentplane.dev", "team-a", "web"))
			return err
		},
		"GatesOfClaim": func() error {
			_, err := GatesOfClaim(t.Context(), r, claim("intentplane.dev", "team-a", "web"))
			return err
		},
		"ConfigsWithSecret": func() error { _, err := ConfigsWithSecret(t.Context(), r, client.ObjectKey{Name: "git"}); return err },
	} {
		if err := list(); err != nil {
			t.Errorf("%s(...): %v", name, err)
		}
	}
	if diff := cmp.Diff([]int{8, 0}, []int{r.lists, r.copies}); diff != "" {
		t.Errorf("\nNo list copies the objects of a cache.\nlists and copies: -want, +got:\n%s", diff)
	}
}

// TestSites has a delivery with one Site in the present step, and one that has both a present and a later tree.
func TestSites(t *testing.T) {
	d := delivery("team-a", "shop", claim("intentplane.dev", "team-a", "shop"))
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1"}, {Site: "edge2"}}
	for _, site := range []string{"edge2", "edge3"} {
		d.Spec.ForProvider.Later = append(d.Spec.ForProvider.Later, deliveryv1alpha1.LaterTree{Tree: deliveryv1alpha1.Tree{Site: site}})
	}
	if diff := cmp.Diff([]string{"edge1", "edge2", "edge3"}, Sites(d)); diff != "" {
		t.Errorf("\nA delivery uses the Sites of all steps, each once.\nSites(...): -want, +got:\n%s", diff)
	}
}
