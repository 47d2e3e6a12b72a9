package sites

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/scene"
)

func (s *stage) intent(replicas int) string {
	return fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": %d}`, s.Site("edge1"), replicas)
}

// replicas of the claim's Deployment at the Site, or -1 without one.
func (s *stage) replicas() int32 {
	s.T.Helper()
	return s.replicasOf(s.Namespace, "shop")
}

func (s *stage) replicasOf(namespace, name string) int32 {
	s.T.Helper()
	d := &appsv1.Deployment{}
	err := s.edge.Client.Get(s.T.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d)
	if kerrors.IsNotFound(err) {
		return -1
	}
	s.must(err)
	return *d.Spec.Replicas
}

// TestClaim takes a claim from apply to what runs in another cluster, and back. Nobody polls: Flux's intervals are an hour.
func TestClaim(t *testing.T) {
	t.Parallel()
	s := newStage(t, siteDirectory)
	claim := s.Claim("shop", s.intent(2))
	began := time.Now()
	seen := s.Succeed(claim)
	t.Logf("Succeeded after %s", time.Since(began))
	if diff := cmp.Diff(int32(2), s.replicas()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
	want := map[string]string{"state": "Live", "ready": "1/1", "sync": "Live", "live": "1", "verified": "1"}
	got := map[string]string{
		"state": scene.Field(seen, "status", "delivery", "sites", s.Site("edge1"), "state"), "ready": scene.Field(seen, "status", "delivery", "sitesReady"),
		"sync": scene.Field(seen, "status", "delivery", "syncState"),
		"live": fmt.Sprint(number(seen, "liveRevision")), "verified": fmt.Sprint(number(seen, "verifiedRevision")),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status: -want, +got:\n%s", diff)
	}
	if !scene.Is(seen, "Available", corev1.ConditionTrue, "Live") || !scene.Is(seen, "Supported", corev1.ConditionTrue, "Supported") {
		t.Errorf("conditions: %v, %v", scene.Condition(seen, "Available"), scene.Condition(seen, "Supported"))
	}
	commits := len(s.Commits())

	s.Succeed(s.Set(claim, s.intent(3), "spec", "intent"))
	if diff := cmp.Diff(int32(3), s.replicas()); diff != "" {
		t.Errorf("replicas at the Site: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(commits+1, len(s.Commits())); diff != "" {
		t.Errorf("commits: -want, +got:\n%s", diff)
	}

	s.drift(claim)

	s.Delete(claim)
	s.Gone(claim)
	s.applied(s.Commits()[0].ID)
	s.Until("Flux prunes what the last claim left", scene.Patience, func() bool { return s.replicas() == -1 })
}

// drift by a stranger, which the claim's driftPolicy leaves: Ready is lost, and the phase stays.
func (s *stage) drift(claim *unstructured.Unstructured) {
	s.T.Helper()
	s.patch(s.engine(), `{"spec":{"suspend":true}}`)
	s.Await(claim, "Drifted", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Reconciling", corev1.ConditionTrue, "Drifted") && scene.Is(u, "Ready", corev1.ConditionFalse, "") &&
			scene.Field(u, "status", "phase") == "Succeeded" && strings.Contains(scene.Condition(u, "Reconciling").Message, "Suspended")
	})
	s.patch(s.engine(), `{"spec":{"suspend":false}}`)
	s.Await(claim, "Ready again", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionTrue, "") && scene.Is(u, "Reconciling", corev1.ConditionFalse, "Idle")
	})
}

func number(u *unstructured.Unstructured, field string) int64 {
	n, _, _ := unstructured.NestedInt64(u.Object, "status", field)
	return n
}

// TestRejected lets a Site not run what was delivered: the revision is rejected, and held until the intent changes.
func TestRejected(t *testing.T) {
	t.Parallel()
	s := newStage(t, siteDirectory)
	s.patch(s.engine(), `{"spec":{"suspend":true}}`)
	claim := s.Set(s.Claim("shop", s.intent(2)), "3s", "spec", "deliveryConfig", "syncWaitTimeout")
	s.Apply(claim)
	s.Await(claim, "Failed", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && scene.Is(u, "Stalled", corev1.ConditionTrue, "SyncTimedOut") &&
			scene.Is(u, "Recorded", corev1.ConditionTrue, "Recorded") && strings.Contains(scene.Field(u, "status", "message"), "Suspended")
	})
	commits := len(s.Commits())
	s.patch(s.engine(), `{"spec":{"suspend":false}}`)
	s.Await(claim, "Live, and Failed all the same", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "delivery", "sites", s.Site("edge1"), "state") == "Live" && scene.Field(u, "status", "phase") == "Failed"
	})
	if diff := cmp.Diff(commits, len(s.Commits())); diff != "" {
		t.Errorf("commits while the revision is held: -want, +got:\n%s", diff)
	}
	seen := s.Succeed(s.Set(claim, s.intent(3), "spec", "intent"))
	if diff := cmp.Diff(int64(2), number(seen, "revision")); diff != "" {
		t.Errorf("revision: -want, +got:\n%s", diff)
	}
}
