package sites

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/scene"
)

// TestOnePerClaim has one Kustomization for each claim and Site, which the Site names with placeholders: in the Site's cluster, or on the
// control plane (a hub), from where it applies to the Site.
func TestOnePerClaim(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		location string
	}{
		"Site": {reason: "Flux is in the Site's cluster.", location: "Site"},
		"Hub":  {reason: "Flux is on the control plane.", location: "ControlPlane"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &stage{Scene: scene.New(t, cp)}
			var err error
			s.edge, err = edge()
			s.Must(err)
			s.Must(hub())
			s.createKubeconfig()
			s.Must(s.edge.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
			site := s.Set(s.NewSite("edge1"), map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": secret}}, "spec", "cluster")
			s.Apply(s.Set(site, map[string]any{"type": "Flux", "location": tc.location, "objectRef": map[string]any{
				"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": "{claimNamespace}", "name": "{claimName}-{site}",
			}}, "spec", "engine"))
			kustomization := func(extra string) []byte {
				return fmt.Appendf(nil, perClaim, s.Namespace, s.Git.URL(s.Namespace), s.Site("edge1"), s.Directory("edge1", "shop"), extra)
			}
			if tc.location == "Site" {
				s.Must(s.edge.ApplyYAML(t.Context(), kustomization("")))
			}
			if tc.location == "ControlPlane" {
				s.Must(s.ApplyYAML(t.Context(), kustomization(", kubeConfig: {secretRef: {name: "+secret+"}}")))
			}
			claim := s.Claim("shop", s.intentWithReplicas(2))
			s.Succeed(claim)
			if diff := cmp.Diff(int32(2), s.replicasAtSite()); diff != "" {
				t.Errorf("\n%s\nreplicas at the Site: -want, +got:\n%s", tc.reason, diff)
			}
			s.Succeed(s.Set(claim, s.intentWithReplicas(3), "spec", "intent"))
			if diff := cmp.Diff(int32(3), s.replicasAtSite()); diff != "" {
				t.Errorf("\n%s\nreplicas at the Site: -want, +got:\n%s", tc.reason, diff)
			}
			s.withoutClaim(claim, tc.location)
		})
	}
}
