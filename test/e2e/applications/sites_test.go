package applications

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestTwoSites has an Application at two Sites, each in a cluster of its own: the first Site loses its last pod, and then the second.
func TestTwoSites(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, namespaced)
	k, err := farEdge()
	s.requireNoError(err)
	far := &stage{Scene: s.Scene, edge: k, app: s.app}
	far.addEdgeSite("edge2")
	s.Set(s.app, []any{s.Site("edge1"), s.Site("edge2")}, "spec", "deploy", "sites")
	s.Apply(s.app)
	s.awaitDeployed(1) // No pod is available.
	s.reportPodsReady(1)
	s.awaitServing("Degraded", "1/2")
	far.reportPodsReady(1)
	s.awaitServing("Running", "2/2")
	far.reportPodsUnready(1)
	u := s.awaitServing("Degraded", "1/2")
	if available, missing := scene.Number(u, "status", "sites", s.Site("edge1"), "available"), scene.Number(u, "status", "sites", s.Site("edge2"), "available"); available != 1 || missing != 0 {
		t.Errorf("available pods at the Site that serves: %d, at the other one: %d", available, missing)
	}
	s.reportPodsUnready(1)
	s.awaitServing("Deploying", "0/2")
	far.reportPodsReady(1)
	s.awaitServing("Degraded", "1/2")
	s.reportPodsReady(1)
	s.awaitServing("Running", "2/2")
}

// TestOtherTenant has an Application in a namespace that the Site does not accept, beside a running Application: it is delivered nowhere, and reads
// nothing of its neighbour.
func TestOtherTenant(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, namespaced)
	s.Apply(s.app)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
	tenant := &stage{Scene: scene.New(t, cp), edge: s.edge}
	tenant.app = tenant.newApplication(namespaced)
	tenant.Set(tenant.app, []any{s.Site("edge1")}, "spec", "deploy", "sites")
	tenant.Apply(tenant.app)
	u := tenant.Await(tenant.app, "a refusal", func(u *unstructured.Unstructured) bool {
		return strings.Contains(scene.Field(u, "status", "message"), s.Site("edge1"))
	})
	if phase := scene.Field(u, "status", "phase"); phase != "Pending" && phase != "Failed" {
		t.Errorf("phase of an Application at a Site of another tenant: %s", phase)
	}
	forged := tenant.composedBehind("delivery.intentplane.dev/v1alpha1", "SiteHealth")
	forged.SetName("forged")
	for namespace, reason := range map[string]string{s.Namespace: "PolicyDenied", tenant.Namespace: "PolicyDenied"} {
		o := forged.DeepCopy()
		o.SetName("of-" + namespace)
		tenant.Set(o, map[string]any{
			"claimRef": map[string]any{"apiGroup": "intentplane.dev", "kind": "IntentDeployment", "namespace": namespace, "name": "shop"},
			"image":    imageByNumber(1), "sites": []any{map[string]any{"name": s.Site("edge1")}},
		}, "spec", "forProvider")
		tenant.Apply(o)
		h := tenant.Await(o, reason, func(u *unstructured.Unstructured) bool { return scene.Is(u, "Ready", corev1.ConditionFalse, reason) })
		if sites, _, _ := unstructured.NestedSlice(h.Object, "status", "atProvider", "sites"); len(sites) > 0 && scene.Number(h, "status", "atProvider", "sitesServing") > 0 {
			t.Errorf("a SiteHealth of another tenant reads %v", sites)
		}
	}
	if files := tenant.FilesBelow("clusters"); len(files) > 0 {
		t.Errorf("files for a Site of another tenant: %v", scene.Names(files))
	}
	if u := s.Now(s.app); scene.Field(u, "status", "phase") != "Running" || len(s.podsServingImage(1)) != 1 {
		t.Errorf("the Application of the tenant is %s", scene.Field(u, "status", "phase"))
	}
}
