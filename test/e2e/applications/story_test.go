package applications

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestStory follows an Application of each shape from its first image to its deletion. The first seven sentences are the sentences of the first
// design that an image has.
func TestStory(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newAppStage, func(s *stage) {
		s.Apply(s.app)
		s.awaitDeployed(1) // No pod is available.
		s.reportPodsReady(1)
		u := s.awaitReached("Running", 1)
		if scene.Field(u, "status", "available") != "1/1" || scene.Number(u, "status", "availableReplicas") != 1 || scene.Number(u, "status", "deployment", "revision") != 1 {
			s.T.Errorf("status of a running Application: %v", u.Object["status"])
		}
		s.awaitCondition("Ready", "True", "Available")
		s.failAndDeletePods()
		s.changeImage()
		s.wantCrashLoop()
		s.wantReported()
		s.wantAllDeleted()
	})
}

// TestNameTaken makes Applications whose name another object has.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, claims)
	theirs := s.Set(s.Composite("shop", `{"service": "other", "site": "`+s.Site("edge1")+`"}`), true, "spec", "suspend")
	s.Apply(theirs)
	previous := s.Await(theirs, "a status", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") != "" })
	s.Apply(s.app)
	s.awaitCondition("Valid", "False", "NameTaken")
	current := s.Now(theirs)
	if diff := cmp.Diff(previous.Object["spec"], current.Object["spec"]); diff != "" || len(current.GetOwnerReferences()) > 0 || previous.GetGeneration() != current.GetGeneration() {
		t.Errorf("the deployment of a user was changed: owners %v, -before, +after:\n%s", current.GetOwnerReferences(), diff)
	}
	application := s.newApplication(namespaced)
	s.Delete(theirs)
	s.awaitDeployed(1) // The name is looked at again by itself.
	if s.Now(theirs).GetUID() == current.GetUID() {
		t.Error("the deployment of a user was taken over while it was deleted")
	}
	s.Apply(application)
	u := s.Await(application, "NameTaken", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Stalled", "True", "NameTaken") })
	if !strings.Contains(scene.Field(u, "status", "message"), "belongs to another Application") {
		t.Errorf("message: %s", scene.Field(u, "status", "message"))
	}
	s.Delete(application)
	s.Gone(application)
	if s.Now(s.composedBehind(namespaced, "IntentDeployment")).GetDeletionTimestamp() != nil {
		t.Error("the deletion of the second Application removed an object of the first")
	}
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
}

// TestSuspended holds an edit back, and the order of variables follows an edit.
func TestSuspended(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, namespaced)
	s.Set(s.app, []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B", "value": "2"}}, "spec", "env")
	s.Apply(s.app)
	s.awaitDeployed(1)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
	s.editApplication(`{"spec":{"env":[{"name":"B","value":"2"},{"name":"A","value":"1"}],"deploy":{"suspend":true}}}`)
	s.awaitCondition("Deployed", "False", "HeldBack")
	s.awaitReached("Pending", 1)
	s.editApplication(`{"spec":{"deploy":{"suspend":false}}}`)
	s.awaitDeployed(1)
	text := s.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]
	if b, a := strings.Index(text, "name: B"), strings.Index(text, "name: A"); b < 0 || a < b {
		t.Errorf("the variables are not in the order of the spec:\n%s", text)
	}
	s.awaitImageAgain(1)
}
