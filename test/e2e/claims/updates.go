package claims

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// awaitRevision waits until a deployment succeeded with a revision.
func awaitRevision(s *scene.Scene, o *unstructured.Unstructured, want int64) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, "Succeeded and Ready with another revision", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == want && scene.Field(u, "status", "phase") == "Succeeded" &&
			scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
}

// awaitUpdate waits until a deployment's status has a waiting Blueprint. Empty means no waiting Blueprint.
func awaitUpdate(s *scene.Scene, o *unstructured.Unstructured, want string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(o, "update "+want, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "update", "blueprint") == want && scene.Field(u, "status", "phase") == "Succeeded"
	})
}

// wantVersion fails the test unless the Deployment at a Site is of a version of the Blueprint. Empty is the first one.
func wantVersion(s *scene.Scene, site, want string) {
	s.T.Helper()
	file := s.FilesBelow(s.Directory(site, "shop"))["deployment-shop.yaml"]
	_, got, _ := strings.Cut(file, "example.org/version: ")
	got, _, _ = strings.Cut(got, "\n")
	s.WantEqual("version at "+site, want, got)
}

// pendingUpdate has a deployment whose Blueprint has a newer version, which a user has to approve.
func pendingUpdate(t *testing.T, shape shape) (*scene.Scene, *unstructured.Unstructured) {
	t.Helper()
	s := scene.New(t, cp, "edge1")
	o := s.Set(shape.describe(s, "shop", intentWithReplicas(s, 1, "edge1")), "Manual", "spec", "blueprint", "updatePolicy")
	s.Succeed(o)
	s.Release("1.1.0", "1.0.0")
	observed := awaitUpdate(s, o, newestVersion(s))
	if message := scene.Field(observed, "status", "message"); !strings.Contains(message, "An update waits: Blueprint "+newestVersion(s)) {
		t.Errorf("status.message does not name the waiting Blueprint: %q", message)
	}
	return s, o
}

func newestVersion(s *scene.Scene) string { return s.BlueprintName() + "-1.1.0" }

// wantFirstVersion fails the test unless the delivered files are still of the first version, after so many commits.
func wantFirstVersion(s *scene.Scene, commits int) {
	s.T.Helper()
	s.AwaitCommits(commits)
	wantVersion(s, "edge1", "")
}
