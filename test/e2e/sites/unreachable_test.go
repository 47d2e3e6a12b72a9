package sites

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestUnreachableCluster cuts the wire to one of two clusters. The other may not suffer.
func TestUnreachableCluster(t *testing.T) {
	t.Parallel()
	s := newManySites(t, "near", "far")
	far := s.moveBehindWire("far")
	s.suspendEngine("near", false)
	s.suspendEngine("far", false)
	bothSites := s.Claim("both", s.intentForSites("both", 1, "near", "far"))
	near := s.Claim("near", s.intentForSites("near", 1, "near"))
	alone := s.Claim("alone", s.intentForSites("alone", 1, "far"))
	for _, c := range []*unstructured.Unstructured{bothSites, near, alone} {
		s.Apply(c)
	}
	for _, c := range []*unstructured.Unstructured{bothSites, near, alone} {
		s.Succeed(c)
	}
	commits, nearBefore := len(s.Commits()), s.Now(near)

	s.Must(far.Cut())
	unreachable := func(u *unstructured.Unstructured) bool {
		return s.stateOfSite(u, "far") == "Syncing" && strings.Contains(scene.Field(u, "status", "delivery", "sites", s.Site("far"), "message"), "ClusterUnreachable") &&
			scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Reconciling", corev1.ConditionTrue, "Drifted") && scene.Is(u, "Ready", corev1.ConditionFalse, "")
	}
	s.Await(alone, "the running tree is unknown", unreachable)
	observed := s.Await(bothSites, "the running tree at one Site is unknown", unreachable)
	if s.stateOfSite(observed, "near") != "Live" {
		t.Errorf("the Site that can be reached is %s", s.stateOfSite(observed, "near"))
	}
	nearNow := s.Now(near)
	if !scene.Is(nearNow, "Ready", corev1.ConditionTrue, "") {
		t.Errorf("a claim that does not go there is not Ready: %v", scene.Condition(nearNow, "Ready"))
	}
	for _, o := range []*unstructured.Unstructured{nearBefore, nearNow} {
		unstructured.RemoveNestedField(o.Object, "status", "conditions") // Crossplane moves their times.
	}
	if diff := cmp.Diff(nearBefore.Object["status"], nearNow.Object["status"]); diff != "" {
		t.Errorf("a claim that does not go there has another status: -before, +after:\n%s", diff)
	}
	if got := len(s.Commits()); got != commits {
		t.Errorf("want %d commits, got %d", commits, got)
	}

	// The others continue.
	began := time.Now()
	s.Succeed(s.Set(near, s.intentForSites("near", 2, "near"), "spec", "intent"))
	t.Logf("a claim that does not go there succeeded after %s", time.Since(began))
	s.Reach(s.Set(bothSites, s.intentForSites("both", 2, "near", "far"), "spec", "intent"), "live where it can be", func(u *unstructured.Unstructured) bool {
		return s.stateOfSite(u, "near") == "Live" && s.stateOfSite(u, "far") == "Syncing" && scene.Field(u, "status", "phase") == "Delivering"
	})

	s.Must(far.Connect(t.Context()))
	s.Succeed(bothSites)
	s.Succeed(alone)
}

// TestDeliveryTimesOut has a repository that is not reached within deliveryTimeout. It would hold the ledger: so nothing is judged, the deployment
// names the repository that it waits for, and continues automatically once the repository exists.
func TestDeliveryTimesOut(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	s.Apply(s.Set(s.ClusterProviderConfig(), "http://127.0.0.1:1/nothing.git", "spec", "git", "url"))
	o := s.Set(s.Claim(claim, s.intentWithReplicas(1)), map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
	s.Set(o, "5s", "spec", "deliveryConfig", "deliveryTimeout")
	s.Apply(o)
	observed := s.Await(o, "LedgerUnreachable", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Delivering" && scene.Is(u, "Stalled", corev1.ConditionTrue, "LedgerUnreachable")
	})
	if message := scene.Condition(observed, "Stalled").Message; !strings.Contains(message, "connection refused") {
		t.Errorf("the deployment says %q", message)
	}
	s.Apply(s.ClusterProviderConfig())
	observed = s.Succeed(o)
	if scene.Number(observed, "status", "liveRevision") != scene.Number(observed, "status", "revision") || !strings.Contains(s.FilesBelow(s.Directory("edge1", claim))["deployment-shop.yaml"], "replicas: 1") {
		t.Errorf("the revision: %v", observed.Object["status"])
	}
}
