package claims

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

func TestDriftIsRestored(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2"))
	previous := s.Succeed(claim)
	want := s.FilesBelow("clusters")
	theirs := commitDrift(s, map[string]string{"deployment-shop.yaml": "changed: true\n", "more.yaml": "a: 1\n"})
	commits := s.AwaitCommits(3)
	if diff := cmp.Diff(want, s.FilesBelow("clusters")); diff != "" {
		t.Errorf("files after the restore: -want, +got:\n%s", diff)
	}
	if !strings.Contains(commits[0].Message, theirs) {
		t.Errorf("the message does not name the commit that it replaces, %s:\n%s", theirs, commits[0].Message)
	}
	if diff := cmp.Diff("1", commits[0].Trailers["Intentplane-Revision"]); diff != "" {
		t.Errorf("revision of the restore: -want, +got:\n%s", diff)
	}
	observed := s.Await(claim, "DriftRestored", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Delivered", corev1.ConditionTrue, "DriftRestored")
	})
	message := scene.Condition(observed, "Delivered").Message
	for _, id := range []string{theirs, commits[0].ID} {
		if !strings.Contains(message, id) {
			t.Errorf("message of Delivered: want commit %s in it, got %q", id, message)
		}
	}
	if diff := cmp.Diff(scene.Condition(previous, "Ready"), scene.Condition(observed, "Ready")); diff != "" {
		t.Errorf("Ready of the claim while drift was restored: -want, +got:\n%s", diff)
	}
	s.Until("an event on the claim", patience.Limit, func() bool {
		return strings.Contains(s.Inside("get", "events", "--field-selector", "reason=DriftRestored,involvedObject.name=shop,involvedObject.kind=IntentDeployment"), commits[0].ID)
	})
	awaitSucceededUnchanged(s, claim)
	s.AwaitCommits(3)
	if diff := cmp.Diff(int64(1), scene.Number(s.Now(claim), "status", "revision")); diff != "" {
		t.Errorf("status.revision: -want, +got:\n%s", diff)
	}
}

func TestDriftIsReported(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	claim := s.Set(s.Claim("shop", intentWithReplicas(s, 2, "edge1")), "Report", "spec", "deliveryConfig", "driftPolicy")
	s.Succeed(claim)
	previousFiles := s.FilesBelow(s.Directory("edge1", "shop"))
	theirs := commitDrift(s, map[string]string{"deployment-shop.yaml": "changed: true\n"})
	observed := s.Await(claim, "Drifted", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Reconciling", corev1.ConditionTrue, "Drifted") && scene.Is(u, "Ready", corev1.ConditionFalse, "")
	})
	if diff := cmp.Diff("Succeeded/Succeeded", scene.Field(observed, "status", "phase")+"/"+scene.Field(observed, "status", "outcome")); diff != "" {
		t.Errorf("phase and outcome: -want, +got:\n%s", diff)
	}
	if !scene.Is(observed, "Stalled", corev1.ConditionFalse, "") {
		t.Errorf("Stalled beside Reconciling: %v", scene.Condition(observed, "Stalled"))
	}
	if diff := cmp.Diff(theirs, s.AwaitCommits(2)[0].ID); diff != "" {
		t.Errorf("tip of the branch: -want, +got:\n%s", diff)
	}
	// When the other writer reverts it, all is well again.
	commitDrift(s, map[string]string{"deployment-shop.yaml": previousFiles["deployment-shop.yaml"]})
	awaitSucceededUnchanged(s, claim)
	s.AwaitCommits(3)
}
