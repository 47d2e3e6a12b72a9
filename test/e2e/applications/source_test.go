package applications

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestKpackLater has an Application that is built before kpack is installed: it waits, and goes on by itself. It runs before all others that need kpack.
func TestKpackLater(t *testing.T) {
	s := newUnbuiltStage(t, namespaced)
	s.Apply(s.app)
	u := s.awaitBuildState("Waiting", "KpackMissing")
	if phase := scene.Field(u, "status", "phase"); phase != "Pending" {
		t.Errorf("phase without kpack: %s", phase)
	}
	var err error
	s.kpack, err = builder()
	s.requireNoError(err)
	s.awaitRunning(s.first)
}

// TestProviderKilled kills the provider in each step from a commit to the Application that runs. In the end each commit has one Build and one revision, and
// all have the same Image. Then another stack makes another image of the same commit.
func TestProviderKilled(t *testing.T) {
	s := newSourceStage(t, namespaced)
	cp.KillProvider()
	s.Apply(s.app)
	s.Await(s.composedImageBuild(), "asked for", func(*unstructured.Unstructured) bool { return true })
	s.restartProvider()
	s.wantRegistryImage(s.awaitRunning(s.first))
	image := s.Now(s.kpackObject("Image", "shop")).GetUID()
	s.wantSingleBuilds("before it sees the ImageBuild", image, 1)
	last := ""
	for i, step := range killedSteps() {
		last = step.kill(s, fmt.Sprint(i+2))
		s.wantRegistryImage(s.awaitRunning(last))
		s.wantSingleBuilds(step.name, image, i+2)
	}
	s.updateStack(last)
}

// TestSource follows an Application of each shape from its first commit over a second commit and a failing commit to its deletion.
func TestSource(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Apply(s.app)
		s.wantRegistryImage(s.awaitRunning(s.first))
		s.deliverNextCommit()
		s.failNextBuild()
		s.wantBuildsReported()
		s.deleteBuilt()
	})
}

// TestRejectedCommit pushes a commit that a Gate rejects: the image before comes back in Git, and the next commit runs.
func TestRejectedCommit(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.Set(s.app, []any{judges.singleWebCheck(s.Namespace)}, "spec", "deploy", "gatesConfig", "checks")
		s.Apply(s.app)
		first := s.awaitRunning(s.first)
		judges.setJudgeAnswer(s.Namespace, true)
		bad := s.pushSourceCommit("main", "2")
		u := s.Await(s.app, "Degraded", func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == "Degraded" && scene.Field(u, "status", "commit") == bad
		})
		if outcome := scene.Field(u, "status", "deployment", "outcome"); outcome != "RolledBack" {
			s.T.Errorf("outcome of a rejected commit: %s", outcome)
		}
		if text := s.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]; !strings.Contains(text, first) {
			s.T.Errorf("the image before is not in Git:\n%s", text)
		}
		judges.setJudgeAnswer(s.Namespace, false)
		s.awaitRunning(s.pushSourceCommit("main", "3"))
	})
}

// TestBranchLater names a branch that is made later, and then pushes twice during one build: the commit between is never delivered.
func TestBranchLater(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.setSourceRevision("release")
		s.Apply(s.app)
		u := s.awaitBuildState("Waiting", "RevisionNotFound")
		if phase := scene.Field(u, "status", "phase"); phase != "Pending" || len(s.buildsOfApplication()) != 0 {
			s.T.Errorf("phase %s with %d Builds", phase, len(s.buildsOfApplication()))
		}
		s.awaitRunning(s.pushSourceCommit("release", "2"))
		hold := make(chan struct{})
		s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
		middleCommit := s.pushSourceCommit("release", "3")
		s.awaitBuildState("Building", "Building")
		last := s.pushSourceCommit("release", "4")
		s.awaitBuildState("Waiting", "Queued")
		close(hold)
		s.awaitRunning(last)
		if got := scene.Number(s.Now(s.app), "status", "deployment", "revision"); got != 2 || len(s.buildsOfApplication()) != 3 {
			s.T.Errorf("revision %d after %d Builds, the commit between was %s", got, len(s.buildsOfApplication()), middleCommit)
		}
	})
}

// TestForgedBuild has an Image of that name that a user created, and then a Build whose status names another repository: neither is delivered. The
// user's Image names a builder that does not exist. Otherwise kpack would create a Build and a pod of it, whose names equal the names of the
// Application's first Build.
func TestForgedBuild(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	theirs := s.Set(s.kpackObject("Image", "shop"), map[string]any{
		"tag": cp.Registry() + "/theirs", "builder": map[string]any{"kind": "ClusterBuilder", "name": "no-such-builder"},
		"source": map[string]any{"git": map[string]any{"url": s.Git.URL(s.repository), "revision": s.first}},
	}, "spec")
	s.Apply(theirs)
	previous := s.Now(theirs)
	s.Apply(s.app)
	s.awaitBuildState("Waiting", "NameTaken")
	if current := s.Now(theirs); current.GetUID() != previous.GetUID() || current.GetGeneration() != previous.GetGeneration() || len(current.GetOwnerReferences()) > 0 {
		t.Errorf("the Image of a user was changed: %v", current.Object)
	}
	s.Delete(theirs)
	image := s.awaitRunning(s.first)
	_, digest, _ := strings.Cut(image, "@")
	s.Patch(s.kpackObject("Build", "shop-build-1"), `{"status":{"latestImage":"`+cp.Registry()+`/evil@`+digest+`"}}`, "status")
	s.Await(s.composedImageBuild(), "ForeignImage", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionFalse, "ForeignImage")
	})
	if u := s.Now(s.app); scene.Field(u, "status", "image") != image || scene.Number(u, "status", "deployment", "revision") != 1 {
		t.Errorf("image %s, want %s", scene.Field(u, "status", "image"), image)
	}
	s.wantRegistryImage(s.awaitRunning(s.pushSourceCommit("main", "2")))
}

// TestInfrastructure has a pod that no node accepts, a pod that is deleted, and a pod that is evicted, whose Build is
// retried.
func TestInfrastructure(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	s.kpack.Plan(s.Namespace, kpack.Play{Unschedulable: true}, kpack.Play{Evicted: true})
	s.Apply(s.app)
	pod := s.kpackObject("Pod", "shop-build-1-build-pod")
	pod.SetAPIVersion("v1")
	s.Await(pod, "unschedulable", func(u *unstructured.Unstructured) bool {
		return strings.Contains(s.Inside("get", "pod", u.GetName(), "-o", "jsonpath={.status.conditions}"), "Unschedulable")
	})
	s.Delete(pod) // kpack makes it once more, and the Build goes on.
	u := s.awaitBuildState("Building", "Retrying")
	if failed := s.Now(s.composedImageBuild()); scene.Field(failed, "status", "atProvider", "failed", "reason") != "Evicted" {
		t.Errorf("an eviction is reported as %v", failed.Object["status"])
	}
	if phase := scene.Field(u, "status", "phase"); phase != "Building" {
		t.Errorf("phase while a Build is tried again: %s", phase)
	}
	s.awaitRunning(s.first) // After 30 seconds.
	if got := len(s.buildsOfApplication()); got != 2 {
		t.Errorf("%d Builds, want 2", got)
	}
}

// TestPodPending has Builds, of an Application of each shape, whose pods no node accepts for longer than two minutes: the Application reports the
// message of the scheduler, and goes on once a node accepts them.
func TestPodPending(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.kpack.Plan(s.Namespace, kpack.Play{Unschedulable: true})
		s.Apply(s.app)
		u := s.awaitBuildState("Building", "PodPending")
		if phase, message := scene.Field(u, "status", "phase"), scene.Field(u, "status", "build", "message"); phase != "Building" || !strings.Contains(message, "Insufficient memory") {
			s.T.Errorf("phase %s, and the message of the build is %q", phase, message)
		}
		pod := s.kpackObject("Pod", "shop-build-1-build-pod")
		pod.SetAPIVersion("v1")
		s.Delete(pod) // kpack makes it once more.
		s.awaitRunning(s.first)
		if got := len(s.buildsOfApplication()); got != 1 {
			s.T.Errorf("%d Builds, want 1", got)
		}
	})
}

// TestDrained drains the node of a Build: the step ends with a failure, which is not the author's, and the Build is tried again.
func TestDrained(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	s.kpack.Plan(s.Namespace, kpack.Play{Drained: true})
	s.Apply(s.app)
	u := s.awaitBuildState("Building", "Retrying")
	if failed := s.Now(s.composedImageBuild()); scene.Field(failed, "status", "atProvider", "failed", "reason") != "Evicted" || scene.Field(u, "status", "phase") != "Building" {
		t.Errorf("phase %s; a drained node is reported as %v", scene.Field(u, "status", "phase"), failed.Object["status"])
	}
	s.awaitRunning(s.first) // After 30 seconds.
	if got := len(s.buildsOfApplication()); got != 2 {
		t.Errorf("%d Builds, want 2", got)
	}
}

// TestExportFails has a commit whose image cannot be pushed, while the previous commit serves: the Build is retried as often as retries says, and has
// failed then. The running image stays, and another trigger builds the commit.
func TestExportFails(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	s.Apply(s.app)
	first := s.awaitRunning(s.first)
	previous := s.describeRunning(first)
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "export"}, kpack.Play{Fails: "export"})
	second := s.pushSourceCommit("main", "2")
	u := s.awaitBuildState("Building", "Retrying")
	if phase := scene.Field(u, "status", "phase"); phase != "Building" {
		t.Errorf("phase while a Build is tried again: %s", phase)
	}
	u = s.awaitBuildState("Failed", "StepFailed") // After 30 seconds.
	if phase, step := scene.Field(u, "status", "phase"), scene.Field(u, "status", "build", "step"); phase != "Failed" || step != "export" {
		t.Errorf("phase %s after step %s failed", phase, step)
	}
	if failed := s.Now(s.composedImageBuild()); scene.Number(failed, "status", "atProvider", "failed", "attempts") != 2 || len(s.buildsOfApplication()) != 3 {
		t.Errorf("%d Builds with one retry: %v", len(s.buildsOfApplication()), failed.Object["status"])
	}
	s.awaitCondition("Available", "True", "EarlierImage")
	s.WantEqual("running image after a failing export", previous, s.describeRunning(first))
	s.editApplication(`{"spec":{"source":{"trigger":"again"}}}`)
	s.wantRegistryImage(s.awaitRunning(second))
	if got := len(s.buildsOfApplication()); got != 4 {
		t.Errorf("%d Builds after another trigger, want 4", got)
	}
}

// TestNoRetries has an image that cannot be pushed, of an Application without retries: it has failed at once.
func TestNoRetries(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	s.Set(s.app, int64(0), "spec", "build", "retries")
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "export"})
	s.Apply(s.app)
	u := s.awaitBuildState("Failed", "StepFailed")
	if phase := scene.Field(u, "status", "phase"); phase != "Failed" || len(s.buildsOfApplication()) != 1 {
		t.Errorf("phase %s after %d Builds", phase, len(s.buildsOfApplication()))
	}
	s.awaitRunning(s.pushSourceCommit("main", "2"))
}

// TestImageAndSource moves an Application from an image to a source and back: the running image stays until the next image
// is built.
func TestImageAndSource(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		source, _, _ := unstructured.NestedMap(s.app.Object, "spec", "source")
		byImage := s.app.DeepCopy()
		unstructured.RemoveNestedField(byImage.Object, "spec", "source")
		s.Apply(s.Set(byImage, imageByNumber(1), "spec", "image"))
		s.reportPodsReady(1)
		s.awaitReached("Running", 1)
		hold := make(chan struct{})
		s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
		s.Apply(s.Set(s.app, source, "spec", "source"))
		u := s.awaitBuildState("Building", "Building")
		if got := scene.Field(u, "status", "image"); got != imageByNumber(1) || len(s.podsServingImage(1)) != 1 {
			s.T.Errorf("image %s while the source is built", got)
		}
		close(hold)
		s.awaitRunning(s.first)
		s.Apply(byImage)
		s.awaitImageAgain(1)
		s.Gone(s.composedImageBuild())
		s.Gone(s.kpackObject("Image", "shop"))
	})
}
