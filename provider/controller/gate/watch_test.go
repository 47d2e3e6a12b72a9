package gate

import (
	"context"
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
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
		"Namesake":      {reason: "A Secret of the same name in another namespace wakes no Gate.", namespace: "team-b", name: "token", want: []reconcile.Request{}},
		"Foreign":       {reason: "A Secret that no Gate depends on wakes none.", namespace: "metrics", name: "grafana", want: []reconcile.Request{}},
		"OtherNamespace": {
			reason:    "A tenant's configuration does not name Secrets of other namespaces.",
			namespace: "team-b", name: "own", want: []reconcile.Request{},
		},
		"Own": {
			reason:    "A Gate is not woken by a Secret of a configuration that it does not use.",
			namespace: "team-a", name: "own", want: []reconcile.Request{},
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

// A gateLister counts lists of Gates.
type gateLister struct {
	client.Reader

	lists int
}

func (r *gateLister) List(ctx context.Context, l client.ObjectList, o ...client.ListOption) error {
	if _, ok := l.(*v1alpha1.GateList); ok {
		r.lists++
	}
	return r.Reader.List(ctx, l, o...)
}

// TestSecretListsGatesOnce names one Secret in many configurations of a tenant.
func TestSecretListsGatesOnce(t *testing.T) {
	w := newWorld(t, quick("errors"))
	for n := range 20 {
		w.must(w.kube.Create(t.Context(), &configv1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("mine-%d", n)},
			Spec: configv1alpha1.ProviderConfigSpec{
				Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{SecretRef: &configv1alpha1.SecretReference{Name: "own"}}},
			},
		}))
	}
	lister := &gateLister{Reader: w.kube}
	waker{kube: lister, log: logging.NewNopLogger()}.requestsForSecret(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}})
	if diff := cmp.Diff(1, lister.lists); diff != "" {
		t.Errorf("\nA change of a Secret lists the Gates of a namespace once, for all configurations that name it.\nlists of Gates: -want, +got:\n%s", diff)
	}
}
