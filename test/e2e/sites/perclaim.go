package sites

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
)

const perClaim = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: %[1]s}
spec: {interval: 1h, url: %[2]q, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop-%[3]s, namespace: %[1]s}
spec: {interval: 1h, retryInterval: 2s, prune: true, path: "./%[4]s", sourceRef: {kind: GitRepository, name: fleet}%[5]s}
`

// withoutClaim deletes a claim. Its Kustomization finds no directory any more, and prunes when a user deletes it too.
func (s *stage) withoutClaim(claim *unstructured.Unstructured, location string) {
	s.T.Helper()
	s.Delete(claim)
	s.Gone(claim)
	k := newFluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "shop-"+s.Site("edge1"))
	k.SetNamespace(s.Namespace)
	client := s.edge.Client
	if location == "ControlPlane" {
		client = s.Client
	}
	s.Must(client.Delete(s.T.Context(), k))
	s.Until("Flux prunes the files that the claim left", patience.Limit, func() bool { return s.replicasAtSite() == -1 })
}
