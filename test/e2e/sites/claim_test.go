package sites

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestClaimToWorkload takes a claim from apply to the running workload in another cluster, and back. No component polls: Flux's
// intervals are an hour.
func TestClaimToWorkload(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, siteDirectory)
	claim := s.Claim("shop", s.intentWithReplicas(2))
	began := time.Now()
	observed := s.Succeed(claim)
	t.Logf("Succeeded after %s", time.Since(began))
	if diff := cmp.Diff(int32(2), s.replicasAtSite()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
	want := map[string]string{"state": "Live", "ready": "1/1", "sync": "Live", "live": "1", "verified": "1"}
	got := map[string]string{
		"state": scene.Field(observed, "status", "delivery", "sites", s.Site("edge1"), "state"), "ready": scene.Field(observed, "status", "delivery", "sitesReady"),
		"sync": scene.Field(observed, "status", "delivery", "syncState"),
		"live": fmt.Sprint(statusNumber(observed, "liveRevision")), "verified": fmt.Sprint(statusNumber(observed, "verifiedRevision")),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status: -want, +got:\n%s", diff)
	}
	if !scene.Is(observed, "Available", corev1.ConditionTrue, "Live") || !scene.Is(observed, "Supported", corev1.ConditionTrue, "Supported") {
		t.Errorf("conditions: %v, %v", scene.Condition(observed, "Available"), scene.Condition(observed, "Supported"))
	}
	commits := len(s.Commits())

	s.Succeed(s.Set(claim, s.intentWithReplicas(3), "spec", "intent"))
	if diff := cmp.Diff(int32(3), s.replicasAtSite()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(commits+1, len(s.Commits())); diff != "" {
		t.Errorf("commits: -want, +got:\n%s", diff)
	}

	s.wantDriftLeft(claim)

	s.Delete(claim)
	s.Gone(claim)
	s.awaitApplied(s.Commits()[0].ID)
	s.Until("Flux prunes the objects of the deleted claim", patience.Limit, func() bool { return s.replicasAtSite() == -1 })
}

// TestRejectedRevision has a Site that does not run its delivered tree: the revision is rejected, and blocked until the intent changes.
func TestRejectedRevision(t *testing.T) {
	t.Parallel()
	s := newSiteStage(t, siteDirectory)
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":true}}`)
	claim := s.Set(s.Claim("shop", s.intentWithReplicas(2)), "3s", "spec", "deliveryConfig", "syncWaitTimeout")
	s.Apply(claim)
	s.Await(claim, "Failed", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "Stalled", corev1.ConditionTrue, "SyncTimedOut") &&
			scene.Is(u, "Recorded", corev1.ConditionTrue, "Recorded") && strings.Contains(scene.Field(u, "status", "message"), "Suspended")
	})
	commits := len(s.Commits())
	s.patchAtSite(s.kustomizationAtSite(), `{"spec":{"suspend":false}}`)
	s.Await(claim, "Live, and Failed all the same", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "delivery", "sites", s.Site("edge1"), "state") == "Live" && scene.Field(u, "status", "phase") == "Failed"
	})
	if diff := cmp.Diff(commits, len(s.Commits())); diff != "" {
		t.Errorf("commits while the revision is held: -want, +got:\n%s", diff)
	}
	observed := s.Succeed(s.Set(s.Set(claim, s.intentWithReplicas(3), "spec", "intent"), "10m", "spec", "deliveryConfig", "syncWaitTimeout"))
	if diff := cmp.Diff(int64(2), statusNumber(observed, "revision")); diff != "" {
		t.Errorf("revision: -want, +got:\n%s", diff)
	}
}
