package prune

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestFlux prunes the last directory of a Site that Flux reads. A file in its place keeps the path, so that Flux removes the objects.
func TestFlux(t *testing.T) {
	s := &stage{scene.New(t, cp)}
	s.Must(cp.StartFlux(t.Context()))
	s.Apply(s.Set(s.NewSite("edge1"), map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": kubernetes.FluxNamespace, "name": s.Namespace,
	}}, "spec", "engine"))
	s.Must(s.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: kubernetes.FluxNamespace, Name: s.Namespace}, Data: map[string][]byte{"ca.crt": s.Git.CA()},
	}))
	s.Must(cp.ApplyYAML(t.Context(), fmt.Appendf(nil, `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {namespace: flux-system, name: %[1]s}
spec: {url: %[2]s, interval: 2s, ref: {branch: main}, secretRef: {name: %[1]s}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {namespace: flux-system, name: %[1]s}
spec: {path: ./clusters/edge1, interval: 2s, retryInterval: 2s, prune: true, sourceRef: {kind: GitRepository, name: %[1]s}}
`, s.Namespace, s.Git.URL(s.Namespace))))
	o := s.describeShop("gone")
	s.Succeed(o)
	s.wantDeployments(1)
	s.Delete(o)
	s.Gone(o)
	s.Until("the GitDelivery is gone", patience.Limit, func() bool { return len(s.Deliveries()) == 0 })
	s.wantDeployments(1)
	s.wantPruneOutput(s.runPruneCommand("--confirm"), 0, "removed 1 directory")
	s.wantDeployments(0)
	if files := s.FilesBelow("clusters/edge1"); len(files) != 1 {
		t.Errorf("one file keeps the path of the Site: %v", scene.Names(files))
	}
}
