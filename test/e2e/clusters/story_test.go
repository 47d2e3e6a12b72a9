package clusters

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestStory waits for a cluster, delivers to it, and stays delivered whatever becomes of the cluster.
func TestStory(t *testing.T) {
	t.Parallel()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	h := s.host(k)
	s.bring(k)
	wc, mc := s.workload("mine", s.publishing()), s.managed("mine", nil)
	said := s.follow(wc, phases())
	s.Apply(wc)
	site := s.Namespace + ".mine"
	shop := s.Claim("shop", `{"service":"shop","type":"web","sites":["`+site+`"],"replicas":1}`)
	s.Apply(shop)
	s.phase(shop, "Pending", site)

	// A Site of the administrators that names the cluster is there before the cluster is.
	theirs := s.Set(s.NewSite("theirs"), map[string]any{"clusterRef": map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "namespace": s.Namespace, "name": name,
	}}, "spec", "cluster")
	s.Apply(theirs)
	early := s.Claim("early", `{"service":"early","type":"web","sites":["`+theirs.GetName()+`"],"replicas":1}`)
	s.Apply(early)
	s.phase(early, "Delivering", theirs.GetName(), "HostedCluster "+name)
	if n := len(s.Commits()); n > 1 { // The stranger's.
		t.Errorf("something was delivered before the cluster was ready: %v", s.Commits())
	}

	h.build()
	s.ready(mc)
	s.provisioned(wc)
	s.phase(early, "Succeeded")
	s.phase(shop, "Succeeded")
	s.runs(k)

	h.available("False", "etcd has no leader")
	s.contains(mc, "Ready", "Degraded: NotReady: HostedControlPlane "+name+": etcd has no leader")
	s.until(wc, "is degraded", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Degraded" })
	why := "NotReady: HostedControlPlane " + name + ": etcd has no leader"
	s.says(shop, site, degraded{
		Site: "The Site's cluster is degraded: " + why, Message: ailing(site, why), Available: strings.TrimPrefix(ailing(site, why), "Every Site runs the revision. "),
	})
	s.broken(h)
	// The provider cannot observe the Site any more, so the deployment does not say that the Site runs the revision.
	s.says(shop, site, degraded{
		Site: "KubeconfigGone: the Secret with the kubeconfig, or its key, does not exist",
		Message: fmt.Sprintf("The revision was verified, and not every Site is known to run it now: Syncing: Site %q: KubeconfigGone. The cluster of Site %q is degraded: "+
			"KubeconfigEmpty: Secret %s-kubeconfig: its key value is missing or empty.", site, site, name),
	})
	if got := scene.Field(s.Now(shop), "status", "phase"); got != "Succeeded" {
		t.Errorf("what was delivered is rolled back: phase %s", got)
	}
	s.runs(k)
	s.protected(wc, mc, shop)
	said.check(t, pair{"Provisioned", "Provisioned"}, pair{"Provisioned", "Degraded"})
	s.audited(0)
}
