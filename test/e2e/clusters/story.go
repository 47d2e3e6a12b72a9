package clusters

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/scene"
)

// edge is the other cluster, with Flux in it.
var edge = sync.OnceValues(func() (*kubernetes.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	return k, k.StartFlux(ctx)
})

// publishedCluster is an existing cluster with a published Site.
func (s *stage) publishedCluster() map[string]any {
	o := &unstructured.Unstructured{Object: s.existingCluster()}
	s.Set(o, map[string]any{"publish": true, "engine": map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": kubernetes.FluxNamespace, "name": "{claimNamespace}",
	}}}, "site")
	return o.Object
}

// bringDirectory applies the Site's directory to the other cluster.
func (s *stage) bringDirectory(k *kubernetes.Cluster) {
	s.T.Helper()
	dir := "clusters/" + s.Namespace + "/mine"
	_, err := s.Git.Commit(s.T.Context(), s.Namespace, "main", map[string]string{dir + "/placeholder": "An empty directory is none.\n"}, "An unmanaged commit")
	s.Must(err)
	s.Must(k.Client.Create(s.T.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	s.Must(k.ApplyYAML(s.T.Context(), load.Kustomization(s.Namespace, s.Git.URL(s.Namespace), dir)))
}

// awaitPhaseMessage waits until a deployment has a phase and a message.
func (s *stage) awaitPhaseMessage(o *unstructured.Unstructured, phase string, words ...string) {
	s.T.Helper()
	s.awaitObject(o, phase+" "+strings.Join(words, " "), func(u *unstructured.Unstructured) bool {
		var messages strings.Builder
		for _, c := range []string{"Ready", "SitesFound", "Delivered"} {
			messages.WriteString(scene.Condition(u, c).Message + "\n")
		}
		for _, w := range words {
			if !strings.Contains(messages.String(), w) {
				return false
			}
		}
		return scene.Field(u, "status", "phase") == phase
	})
}

// degraded is the expected status of a deployment while the cluster of one of its Sites is degraded.
type degraded struct{ Site, Message, Available string }

// messageWhileUnhealthy is the message of a deployment whose Site has a cluster with that trouble.
func messageWhileUnhealthy(site, cause string) string {
	return fmt.Sprintf("Every Site runs the revision. The cluster of Site %q is degraded: %s.", site, cause)
}

// awaitSiteMessage waits until a deployment has the expected messages about a Site.
func (s *stage) awaitSiteMessage(o *unstructured.Unstructured, site string, want degraded) {
	s.T.Helper()
	s.awaitObject(o, fmt.Sprintf("says %q", want), func(u *unstructured.Unstructured) bool {
		message, _, _ := unstructured.NestedString(u.Object, "status", "delivery", "sites", site, "message")
		return want == degraded{Site: message, Message: scene.Field(u, "status", "message"), Available: scene.Condition(u, "Available").Message}
	})
}

// awaitServiceRuns waits for the service in the other cluster.
func (s *stage) awaitServiceRuns(k *kubernetes.Cluster) {
	s.T.Helper()
	d := s.describeObject("apps/v1", "Deployment", "shop")
	s.Must(k.Client.Get(s.T.Context(), client.ObjectKeyFromObject(d), d))
}

// breakKubeconfig takes the kubeconfig away.
func (s *stage) breakKubeconfig(h *hosted) {
	s.T.Helper()
	s.Patch(h.describeObject("v1", "Secret", name+"-kubeconfig"), `{"data":{"value":null}}`)
}

// wantSiteProtected keeps the Site while the deployment uses it, and both go after that. The Cluster belongs to another user, and stays.
func (s *stage) wantSiteProtected(wc, mc, shop *unstructured.Unstructured) {
	s.T.Helper()
	s.Delete(wc)
	s.awaitMessage(mc, "Synced", "InUse: deployments use Site "+s.Namespace+".mine: "+s.Namespace+"/shop")
	s.Delete(shop)
	s.awaitObjectGone(shop)
	s.awaitObjectGone(mc)
	s.awaitObjectGone(wc)
	site := s.NewSite("x")
	site.SetName(s.Namespace + ".mine")
	s.awaitObjectGone(site)
	s.wantNotDeleted(s.clusterNamed())
}
