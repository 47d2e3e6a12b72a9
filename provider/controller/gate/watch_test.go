package gate

import (
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func TestSecretWakes(t *testing.T) {
	us := []reconcile.Request{{NamespacedName: gateKey()}}
	cases := map[string]struct {
		reason          string
		namespace, name string
		want            []reconcile.Request
	}{
		"Site":          {reason: "A change of the credentials for the Site's server wakes the Gate.", namespace: "metrics", name: "token", want: us},
		"Configuration": {reason: "A change of the credentials for the configuration's server wakes the Gate.", namespace: "metrics", name: "other", want: us},
		"Certificates":  {reason: "A change of the trusted certificates wakes the Gate.", namespace: "metrics", name: "ca", want: us},
		"Cluster":       {reason: "A change of the kubeconfig that Jobs are created with wakes the Gate.", namespace: "team-a", name: "c1-kubeconfig", want: us},
		"Namesake":      {reason: "A Secret of the same name in another namespace wakes no Gate.", namespace: "team-b", name: "token"},
		"Foreign":       {reason: "A Secret that no Gate depends on wakes none.", namespace: "metrics", name: "grafana"},
		"OtherNamespace": {
			reason:    "A tenant's configuration does not name Secrets of other namespaces.",
			namespace: "team-b", name: "own",
		},
		"Own": {
			reason:    "A Gate is not woken by a Secret of a configuration that it does not use.",
			namespace: "team-a", name: "own",
		},
	}
	w := newWorld(t, quick("errors"))
	s := w.site()
	s.Spec.Cluster = inCluster("c1")
	w.must(w.kube.Update(t.Context(), s))
	c := settings("http://prometheus")
	w.must(w.kube.Get(t.Context(), types.NamespacedName{Name: "default"}, c))
	c.Spec.Metrics.Prometheus.SecretRef = &configv1alpha1.SecretReference{Namespace: "metrics", Name: "other"}
	c.Spec.Metrics.Prometheus.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: configv1alpha1.SecretReference{Namespace: "metrics", Name: "ca"}, Key: "ca.crt"}
	w.must(w.kube.Update(t.Context(), c))
	w.must(w.kube.Create(t.Context(), &configv1alpha1.ProviderConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "mine"},
		Spec: configv1alpha1.ProviderConfigSpec{
			Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{SecretRef: &configv1alpha1.SecretReference{Name: "own"}}},
		},
	}))
	w.must(w.kube.Create(t.Context(), &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge9"}}))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Name: tc.name}}
			got := waker{kube: w.kube, log: logging.NewNopLogger()}.requestsForSecret(t.Context(), o)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nsecret(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSecretOfManyConfigurations names one Secret in many configurations of a tenant, which no Gate uses, and another Secret in as many.
func TestSecretOfManyConfigurations(t *testing.T) {
	w := newWorld(t, quick("errors"))
	for n := range 40 {
		name := []string{"own", "other"}[n%2]
		w.must(w.kube.Create(t.Context(), &configv1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("mine-%d", n)},
			Spec: configv1alpha1.ProviderConfigSpec{
				Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{SecretRef: &configv1alpha1.SecretReference{Name: name}}},
			},
		}))
	}
	counter := &cacheclient.Counter{Client: w.kube}
	waker{kube: counter, log: logging.NewNopLogger()}.requestsForSecret(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}})
	if diff := cmp.Diff(20, counter.Listed); diff != "" {
		t.Errorf("\nA change of a Secret reads the configurations that name it, and no Gate of another configuration.\nread objects: -want, +got:\n%s", diff)
	}
}

// TestEventOfOneClaim has a hundred open Gates of other claims, Sites and configurations in the namespace of a SiteSync and a delivery: an event reads the Gate that
// it concerns alone.
func TestEventOfOneClaim(t *testing.T) {
	w := newWorld(t, quick("errors"))
	for i := range 100 {
		g := gateOf(nil)
		g.SetName(fmt.Sprintf("other-%d", i))
		g.SetUID("")
		g.Spec.ForProvider.ClaimRef.Name, g.Spec.ForProvider.SiteSyncRef.Name = g.GetName(), g.GetName()
		g.Spec.ForProvider.Checks = []v1alpha1.GateCheck{{
			Check:                   deploymentv1alpha1.Check{Site: g.GetName()},
			ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: g.GetName()},
		}}
		w.must(w.kube.Create(t.Context(), g))
	}
	counter := &cacheclient.Counter{Client: w.kube}
	wake := waker{kube: counter, log: logging.NewNopLogger()}
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider.ClaimRef = claim()
	events := map[string]func() []reconcile.Request{
		"SiteSync": func() []reconcile.Request { return wake.requestsForSync(t.Context(), sync1()) },
		"Delivery": func() []reconcile.Request { return wake.requestsForDelivery(t.Context(), d) },
		"Site":     func() []reconcile.Request { return wake.requestsForSite(t.Context(), w.site()) },
		"Config":   func() []reconcile.Request { return wake.requestsForConfig(t.Context(), settings("http://prometheus")) },
	}
	for name, event := range events {
		counter.Listed = 0
		if diff := cmp.Diff([]reconcile.Request{{NamespacedName: gateKey()}}, event()); diff != "" {
			t.Errorf("%s: it wakes the Gate that it concerns: -want, +got:\n%s", name, diff)
		}
		if counter.Listed > 2 {
			t.Errorf("%s: it reads no other Gate: want at most 2 objects, got %d", name, counter.Listed)
		}
	}
}
