package gitdelivery

import (
	"testing"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestOpener opens the repository of a configuration, for callers that may use the configuration.
func TestOpener(t *testing.T) {
	w := newWorld(t)
	config := w.config()
	config.Name, config.Spec.Policy.AllowedNamespaces = "narrow", []string{"team-a"}
	if err := w.kube.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	o := Opener{Kube: w.kube, Pool: w.pool, Now: w.now}
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
			reason: "Another namespace may not.",
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
			reason: "A ProviderConfig is one of the namespace.",
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
