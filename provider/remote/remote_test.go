package remote

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/repository"
)

// newOpener returns an opener for a cluster with one configuration, which one namespace may use.
func newOpener(t *testing.T) Opener {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, configv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	c := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "narrow"}}
	c.Spec.ControlPlane, c.Spec.Git.URL, c.Spec.Git.Branch = "prod", "https://git.example.org/fleet", "main"
	c.Spec.Policy.AllowedNamespaces = []string{"team-a"}
	cluster := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "cluster-1"}}
	kube := kubefake.NewClientBuilder().WithScheme(s).WithObjects(c, cluster).Build()
	now := func() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }
	pool := repository.NewPool(repository.Options{Now: now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: time.Minute})
	return Opener{Kube: kube, Pool: pool, Now: now}
}

// TestOpener opens the repository of a configuration, for callers that may use the configuration.
func TestOpener(t *testing.T) {
	o := newOpener(t)
	cases := map[string]struct {
		reason    string
		ref       rolloutv1alpha1.ConfigReference
		namespace string
		anyone    bool
		want      string
	}{
		"Allowed": {
			reason: "A namespace that the configuration names may use it.",
			ref:    rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "narrow"}, namespace: "team-a",
		},
		"Denied": {
			reason: "A namespace that the configuration does not name may not use it.",
			ref:    rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "narrow"}, namespace: "team-b", want: "PolicyDenied",
		},
		"Anyone": {
			reason: "A caller that may use each configuration may use a configuration with limits.",
			ref:    rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "narrow"}, namespace: "crossplane-system", anyone: true,
		},
		"Missing": {
			reason: "A configuration that does not exist is reported.",
			ref:    rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "none"}, namespace: "team-a", want: "CredentialsGone",
		},
		"Own": {
			reason: "A ProviderConfig belongs to the namespace of the reference.",
			ref:    rolloutv1alpha1.ConfigReference{Kind: "ProviderConfig", Name: "narrow"}, namespace: "team-a", want: "CredentialsGone",
		},
		"NotAKind": {
			reason: "A reference to another kind than a configuration is refused.",
			ref:    rolloutv1alpha1.ConfigReference{Kind: "Secret", Name: "narrow"}, namespace: "team-a", want: "Invalid",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := o.Open(t.Context(), tc.ref, tc.namespace, tc.anyone)
			if tc.want == "" {
				if err != nil || got.Config == nil || got.Config.ControlPlane != "prod" || got.ClusterUID != "cluster-1" || got.Repository == nil {
					t.Errorf("\n%s\nOpen(...): %+v, %v", tc.reason, got, err)
				}
				return
			}
			if err == nil || string(ReasonOf(err)) != tc.want {
				t.Errorf("\n%s\nOpen(...): want %s, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
