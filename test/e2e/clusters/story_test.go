package clusters

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestDeliverToCluster waits for a cluster, delivers to it, and stays delivered whatever becomes of the cluster.
func TestDeliverToCluster(t *testing.T) {
	t.Parallel()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := newClusterStage(t)
	h := s.hostCluster(k)
	s.bringDirectory(k)
	wc, mc := s.describeWorkload("mine", s.publishedCluster()), s.describeManaged("mine", nil)
	followed := s.followObject(wc, phasesInOrder())
	s.Apply(wc)
	site := s.Namespace + ".mine"
	shop := s.Claim("shop", `{"service":"shop","type":"web","sites":["`+site+`"],"replicas":1}`)
	s.Apply(shop)
	s.awaitPhaseMessage(shop, "Pending", site)

	// An administrator's Site with the cluster exists before the cluster.
	theirs := s.Set(s.NewSite("theirs"), map[string]any{"clusterRef": map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "namespace": s.Namespace, "name": name,
	}}, "spec", "cluster")
	s.Apply(theirs)
	early := s.Claim("early", `{"service":"early","type":"web","sites":["`+theirs.GetName()+`"],"replicas":1}`)
	s.Apply(early)
	s.awaitPhaseMessage(early, "Delivering", theirs.GetName(), "HostedCluster "+name)
	if n := len(s.Commits()); n > 1 { // A file of another user.
		t.Errorf("files were delivered before the cluster was ready: %v", s.Commits())
	}

	h.buildHosted()
	s.awaitClusterReady(mc)
	s.provisioned(wc)
	s.awaitPhaseMessage(early, "Succeeded")
	s.awaitPhaseMessage(shop, "Succeeded")
	s.awaitServiceRuns(k)

	h.awaitAvailable("False", "etcd has no leader")
	s.awaitMessage(mc, "Ready", "Degraded: NotReady: HostedControlPlane "+name+": etcd has no leader")
	s.awaitObject(wc, "is degraded", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Degraded" })
	cause := "NotReady: HostedControlPlane " + name + ": etcd has no leader"
	s.awaitSiteMessage(shop, site, degraded{
		Site: "The Site's cluster is degraded: " + cause, Message: messageWhileUnhealthy(site, cause),
		Available: strings.TrimPrefix(messageWhileUnhealthy(site, cause), "Every Site runs the revision. "),
	})
	s.breakKubeconfig(h)
	// The provider cannot observe the Site any more, so the deployment does not report that the Site runs the revision.
	s.awaitSiteMessage(shop, site, degraded{
		Site: "KubeconfigGone: the Secret with the kubeconfig, or its key, does not exist",
		Message: fmt.Sprintf("The revision was verified, and not every Site is known to run it now: Syncing: Site %q: KubeconfigGone. The cluster of Site %q is degraded: "+
			"KubeconfigEmpty: Secret %s-kubeconfig: its key value is missing or empty.", site, site, name),
	})
	if got := scene.Field(s.Now(shop), "status", "phase"); got != "Succeeded" {
		t.Errorf("the delivered revision is rolled back: phase %s", got)
	}
	s.awaitServiceRuns(k)
	s.wantSiteProtected(wc, mc, shop)
	followed.awaitStateOrder(s, pair{"Provisioned", "Provisioned"}, pair{"Provisioned", "Degraded"})
	s.wantOnlyOurWrites(0)
}
