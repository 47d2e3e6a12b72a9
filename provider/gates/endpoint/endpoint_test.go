package endpoint

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

const (
	atSite   = "https://site.example.org"
	atConfig = "https://config.example.org"
)

func newReader(t *testing.T, objects ...client.Object) client.Reader {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return kubefake.NewClientBuilder().WithScheme(s).WithObjects(objects...).Build()
}

// measuredSite is a Site with a Prometheus server, whose token is in a Secret.
func measuredSite(secret string) *catalogv1alpha1.Site {
	s := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1"}}
	s.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{
		Address: atSite, SecretRef: &catalogv1alpha1.NamespacedSecretReference{Namespace: "metrics", Name: secret},
	}}
	return s
}

func TestFind(t *testing.T) {
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "metrics", Name: "token"}, Data: map[string][]byte{"token": []byte("hunter2")}}
	measured := configv1alpha1.ProviderConfigSpec{Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: atConfig}}}
	type want struct {
		Base, Token, Problem string
		IsOutage             bool
	}
	cases := map[string]struct {
		reason  string
		site    *catalogv1alpha1.Site
		spec    configv1alpha1.ProviderConfigSpec
		address string
		want    want
	}{
		"Site": {
			reason: "The server of the Site comes before the server of the configuration, and gets its credentials.",
			site:   measuredSite("token"), spec: measured, want: want{Base: atSite, Token: "hunter2"},
		},
		"Configuration": {
			reason: "The server of the configuration is asked where the Site has none.",
			site:   &catalogv1alpha1.Site{}, spec: measured, want: want{Base: atConfig},
		},
		"Own": {
			reason: "A server that the check names gets no credentials.",
			site:   measuredSite("token"), spec: measured, address: "https://mine.example.org/p", want: want{Base: "https://mine.example.org/p"},
		},
		"SaidAgain": {
			reason: "A check that names the server of the Site uses the credentials for it.",
			site:   measuredSite("token"), spec: measured, address: atSite, want: want{Base: atSite, Token: "hunter2"},
		},
		"SecretGone": {
			reason: "A server without its credentials counts as unavailable, since an administrator may write the Secret again.",
			site:   measuredSite("gone"), spec: measured, want: want{Problem: problemSecret + " (" + atSite + ")", IsOutage: true},
		},
		"OwnInvalid": {
			reason: "An invalid address of a check is no outage, and no message shows it.",
			site:   measuredSite("token"), address: "https://user:pass@mine.example.org", want: want{Problem: problemAddress},
		},
		"Nowhere": {
			reason: "A check has no server if Site and configuration name none.",
			site:   &catalogv1alpha1.Site{}, want: want{Problem: problemNowhere},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := Find(t.Context(), newReader(t, token), Config{Kind: policy.KindClusterProviderConfig, Spec: &tc.spec}, tc.site, tc.address)
			if err != nil {
				t.Fatal(err)
			}
			got := want{Token: string(e.Server.Credentials.Token), Problem: e.Problem, IsOutage: e.IsOutage}
			if e.Server.Base != nil {
				got.Base = e.Server.Base.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nFind(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadConfig(t *testing.T) {
	shared := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	foreign := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	foreign.Spec.Policy.AllowedNamespaces = []string{"team-b"}
	own := &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}}
	cases := map[string]struct {
		reason    string
		kind      string
		name      string
		namespace string
		problem   string
	}{
		"Cluster":    {reason: "A configuration of the cluster has no namespace.", kind: policy.KindClusterProviderConfig, name: "default"},
		"Namespaced": {reason: "A configuration of the Gate's namespace is read.", kind: policy.KindProviderConfig, name: "own", namespace: "team-a"},
		"Missing": {
			reason: "A missing configuration is a problem that a user may fix.",
			kind:   policy.KindProviderConfig, name: "gone", problem: "the configuration does not exist",
		},
		"Refused": {
			reason: "A configuration that the namespace may not use is a problem.", kind: policy.KindClusterProviderConfig, name: "foreign",
			problem: `spec.policy.allowedNamespaces: the configuration may not be used from namespace "team-a"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref := xpv2.ProviderConfigReference{Kind: tc.kind, Name: tc.name}
			got, err := ReadConfig(t.Context(), newReader(t, shared, foreign, own), ref, "team-a")
			if err != nil {
				t.Fatal(err)
			}
			if got.Problem != tc.problem || got.Namespace != tc.namespace || (got.Spec == nil) != (tc.problem != "") {
				t.Errorf("\n%s\nReadConfig(...): want namespace %q and problem %q, got %+v", tc.reason, tc.namespace, tc.problem, got)
			}
			if got.Problem == "" {
				return
			}
			e, err := Find(t.Context(), newReader(t), got, &catalogv1alpha1.Site{}, atSite)
			if err != nil || e.Problem != tc.problem {
				t.Errorf("\n%s\nFind(...): want problem %q, got %q, %v", tc.reason, tc.problem, e.Problem, err)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	trusting := measuredSite("token")
	trusting.Spec.Metrics.Prometheus.CABundleSecretRef = &catalogv1alpha1.NamespacedSecretKeyReference{
		NamespacedSecretReference: catalogv1alpha1.NamespacedSecretReference{Namespace: "metrics", Name: "ca"}, Key: "ca.crt",
	}
	cases := map[string]struct {
		reason string
		site   *catalogv1alpha1.Site
		want   []client.ObjectKey
	}{
		"None": {reason: "A Site without a server names no Secret.", site: &catalogv1alpha1.Site{}},
		"Both": {
			reason: "The Secrets of the credentials and of the certificates are named, also where they do not exist.", site: trusting,
			want: []client.ObjectKey{{Namespace: "metrics", Name: "token"}, {Namespace: "metrics", Name: "ca"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Secrets(tc.site)); diff != "" {
				t.Errorf("\n%s\nSecrets(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
