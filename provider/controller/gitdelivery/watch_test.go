package gitdelivery

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/fastpath"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func secretOf(namespace string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "creds"}}
}

func gitWith(ref *configv1alpha1.SecretReference, interval string) configv1alpha1.GitRemote {
	return configv1alpha1.GitRemote{
		Credentials: configv1alpha1.Credentials{Type: configv1alpha1.CredentialsBearer, SecretRef: ref},
		Interval:    interval,
	}
}

// wakers returns a double of an API server with a delivery at edge1 that uses the ClusterProviderConfig default, and one at edge2
// that uses the ProviderConfig own.
func wakers(t *testing.T) client.Client {
	t.Helper()
	shared := delivery("shared", order(1, "a"), desired(t, "edge1", webAtE1, "a"))
	ownDelivery := delivery("own", order(1, "a"), desired(t, "edge2", webAtE2, "a"))
	ownDelivery.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(shared, ownDelivery,
		&configv1alpha1.ClusterProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Name: "default"},
			Spec:       configv1alpha1.ProviderConfigSpec{Git: gitWith(&configv1alpha1.SecretReference{Namespace: "platform", Name: "creds"}, "1h")},
		},
		&configv1alpha1.ProviderConfig{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"},
			Spec:       configv1alpha1.ProviderConfigSpec{Git: gitWith(&configv1alpha1.SecretReference{Name: "creds"}, "10s")},
		},
	)}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

func TestWake(t *testing.T) {
	w := waker{kube: wakers(t), log: logging.NewNopLogger()}
	cases := map[string]struct {
		reason string
		fn     func(context.Context, client.Object) []reconcile.Request
		object client.Object
		want   []string
	}{
		"Site":      {reason: "Who delivers to a Site depends on it", fn: w.requestsForSite, object: site("edge2"), want: []string{"own"}},
		"OtherSite": {reason: "A Site that no delivery is for requeues nothing.", fn: w.requestsForSite, object: site("edge3")},
		"ClusterConfig": {
			reason: "Who names a configuration depends on it",
			fn:     w.requestsForConfig, object: &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
			want: []string{"shared"},
		},
		"OwnConfig": {
			reason: "Who names a configuration depends on it",
			fn:     w.requestsForConfig, object: &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}},
			want: []string{"own"},
		},
		"SameNameElse": {
			reason: "A configuration of another namespace is another",
			fn:     w.requestsForConfig, object: &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "own"}},
		},
		"ClusterSecret": {
			reason: "Who names a configuration depends on its Secret",
			fn:     w.requestsForSecret, object: secretOf("platform"), want: []string{"shared"},
		},
		"OwnSecret":       {reason: "Who names a configuration depends on its Secret", fn: w.requestsForSecret, object: secretOf("team-a"), want: []string{"own"}},
		"SecretElsewhere": {reason: "A Secret of another namespace requeues no delivery.", fn: w.requestsForSecret, object: secretOf("team-b")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range tc.fn(t.Context(), tc.object) {
				got = append(got, r.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwoken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForgot(t *testing.T) {
	remembers := delivery("web", order(1, "a"))
	remembers.Status.AtProvider.Ledger = &ledger.State{}
	finalized := delivery("web", order(1, "a"))
	finalized.SetFinalizers([]string{"foregroundDeletion"})

	cases := map[string]struct {
		reason        string
		before, after client.Object
		want          bool
	}{
		"Wiped": {reason: "A status that lost its memory gets it back at once", before: remembers, after: delivery("web", order(1, "a")), want: true},
		"Ours":  {reason: "A status update of the provider itself requeues no delivery.", before: delivery("web", order(1, "a")), after: remembers},
		"Released": {
			reason: "A deletion continues once the object has lost another finalizer.",
			before: finalized, after: delivery("web", order(1, "a")), want: true,
		},
		"Other": {reason: "Another kind is none of ours", before: site("edge1"), after: site("edge1")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := statusOrFinalizerLost().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nUpdate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInterval(t *testing.T) {
	kube := wakers(t)
	ownDelivery := delivery("own", order(1, "a"))
	ownDelivery.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
	missing := delivery("missing", order(1, "a"))
	missing.Spec.ProviderConfigReference = nil

	cases := map[string]struct {
		reason   string
		delivery *v1alpha1.GitDelivery
		want     time.Duration
	}{
		"Own":     {reason: "The configuration says how often", delivery: ownDelivery, want: 10 * time.Second},
		"Shared":  {reason: "The provider's own interval holds where it is shorter", delivery: delivery("web", order(1, "a")), want: 10 * time.Minute},
		"Missing": {reason: "Without a configuration the provider's own interval holds", delivery: missing, want: 10 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			unchanged := fastpath.New(time.Hour, time.Now, func() float64 { return 0 })
			if got := pollIntervalHook(kube, unchanged)(tc.delivery, 10*time.Minute); got < tc.want || got > tc.want+tc.want/5 {
				t.Errorf("\n%s\ninterval(...): want %s, at most 20%% more, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
