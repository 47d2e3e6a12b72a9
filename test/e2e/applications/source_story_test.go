package applications

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestKpackLater has an Application that is built before kpack is installed: it waits, and goes on by itself. It runs before all others that need kpack.
func TestKpackLater(t *testing.T) {
	s := newUnbuiltStage(t, namespaced)
	s.Apply(s.app)
	u := s.state("Waiting", "KpackMissing")
	if phase := scene.Field(u, "status", "phase"); phase != "Pending" {
		t.Errorf("phase without kpack: %s", phase)
	}
	var err error
	s.kpack, err = builder()
	s.must(err)
	s.runs(s.first)
}

// TestProviderKilled kills the provider before the Image is made, while it is built, and between its image and the commit. There is one Image, one Build,
// and one revision in the end. Then another stack makes another image of the same commit.
func TestProviderKilled(t *testing.T) {
	s := newSourceStage(t, namespaced)
	held := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: held})
	cp.KillProvider()
	s.Apply(s.app)
	s.Await(s.imageBuild(), "asked for", func(*unstructured.Unstructured) bool { return true })
	s.restart()
	image := s.Await(s.kpackObject("Image", "shop"), "building", func(u *unstructured.Unstructured) bool { return condition(u, "Ready", "reason") == "BuildRunning" })
	cp.KillProvider()
	s.restart()
	cp.KillProvider()
	close(held)
	s.Await(image, "UpToDate", func(u *unstructured.Unstructured) bool { return condition(u, "Ready", "reason") == "UpToDate" })
	s.restart()
	s.wantImage(s.runs(s.first))
	u := s.Now(s.app)
	if got := scene.Number(u, "status", "deployment", "revision"); got != 1 || len(s.builds()) != 1 || s.Now(image).GetUID() != image.GetUID() {
		t.Errorf("revision %d, %d Builds, Image %s, before %s", got, len(s.builds()), s.Now(image).GetUID(), image.GetUID())
	}
	s.updateStack()
}

func (s *sourceStage) restart() {
	s.T.Helper()
	s.must(cp.StartProvider(s.T.Context(), controlplane.Program{}))
}

// updateStack gives the builder another run image, of which kpack builds the same commit again. The Application delivers it.
func (s *sourceStage) updateStack() {
	s.T.Helper()
	before := scene.Field(s.Now(s.app), "status", "image")
	s.must(s.kpack.UpdateStack(s.T.Context(), "run 2"))
	u := s.Await(s.app, "the image of another stack", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "image") != before && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
	})
	if got := scene.Field(u, "status", "commit"); got != s.first || scene.Number(u, "status", "deployment", "revision") != 2 {
		s.T.Errorf("commit %s with revision %d after a rebuild", got, scene.Number(u, "status", "deployment", "revision"))
	}
	s.runs(s.first)
}

// TestSource follows an Application of each shape from its first commit over a second one and one that cannot be built to its deletion.
func TestSource(t *testing.T) {
	t.Parallel()
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSourceStage(t, apiVersion)
			s.Apply(s.app)
			s.wantImage(s.runs(s.first))
			s.nextCommit()
			s.failBuild()
			s.deleteBuilt()
		})
	}
}

// nextCommit pushes a commit: the phases begin again, and never say Running for the image before.
func (s *sourceStage) nextCommit() {
	s.T.Helper()
	from := next(s.Now(s.app))
	image := s.runs(s.push("main", "2"))
	s.wantImage(image)
	if diff := cmp.Diff([]string{"Pending", "Deploying", "Running"}, withoutRepeats(phases(s.Now(s.app), from))); diff != "" {
		s.T.Errorf("phases of another commit: -want, +got:\n%s", diff)
	}
	if text := s.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]; !strings.Contains(text, image) {
		s.T.Errorf("the image is not in Git:\n%s", text)
	}
}

// withoutRepeats leaves out that the phases began again for the same commit: an image is another start. A build of a second may be over before the phase
// says Building.
func withoutRepeats(all []string) []string {
	out := []string{}
	for _, phase := range all {
		if phase == "Building" || slices.Contains(out, phase) {
			continue
		}
		out = append(out, phase)
	}
	return out
}

// failBuild pushes a commit that cannot be built. What runs stays, and the status says where the log is. The next commit runs.
func (s *sourceStage) failBuild() {
	s.T.Helper()
	before, commits := s.Now(s.app), len(s.Commits())
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
	s.push("main", "3")
	u := s.state("Failed", "StepFailed")
	if scene.Field(u, "status", "phase") != "Failed" || scene.Field(u, "status", "image") != scene.Field(before, "status", "image") {
		s.T.Errorf("phase %s with image %s", scene.Field(u, "status", "phase"), scene.Field(u, "status", "image"))
	}
	if step, logs := scene.Field(u, "status", "build", "step"), scene.Field(u, "status", "build", "logs"); step != "build" || logs != "kubectl logs -n "+s.Namespace+" shop-build-3-build-pod -c build" {
		s.T.Errorf("step %q failed, its log is at %q", step, logs)
	}
	s.says("Available", "True", "EarlierImage")
	if got := len(s.Commits()); got != commits || len(s.podsOf(scene.Field(before, "status", "image"))) != 1 {
		s.T.Errorf("a failed build left %d commits of %d", got, commits)
	}
	s.wantImage(s.runs(s.push("main", "4")))
}

// deleteBuilt deletes the Application while the next commit is built: everything goes with it.
func (s *sourceStage) deleteBuilt() {
	s.T.Helper()
	held := make(chan struct{})
	s.T.Cleanup(func() { close(held) })
	s.kpack.Plan(s.Namespace, kpack.Play{Held: held})
	s.push("main", "5")
	s.state("Building", "Building")
	s.deleted()
	s.Gone(s.imageBuild())
	s.Gone(s.kpackObject("Image", "shop"))
	s.Gone(s.kpackObject("Build", "shop-build-5"))
}

// TestRejectedCommit pushes a commit that a Gate rejects: the image before comes back in Git, and the next commit runs.
func TestRejectedCommit(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	s.Set(s.app, []any{judges.check(s.Namespace)}, "spec", "deploy", "gatesConfig", "checks")
	s.Apply(s.app)
	first := s.runs(s.first)
	judges.set(s.Namespace, true)
	bad := s.push("main", "2")
	u := s.Await(s.app, "Degraded", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Degraded" && scene.Field(u, "status", "commit") == bad
	})
	if outcome := scene.Field(u, "status", "deployment", "outcome"); outcome != "RolledBack" {
		t.Errorf("outcome of a rejected commit: %s", outcome)
	}
	if text := s.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]; !strings.Contains(text, first) {
		t.Errorf("the image before is not in Git:\n%s", text)
	}
	judges.set(s.Namespace, false)
	s.runs(s.push("main", "3"))
}

// TestBranchLater names a branch that is made later, and then pushes twice during one build: the commit between is never delivered.
func TestBranchLater(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	s.buildFrom("release")
	s.Apply(s.app)
	u := s.state("Waiting", "RevisionNotFound")
	if phase := scene.Field(u, "status", "phase"); phase != "Pending" || len(s.builds()) != 0 {
		t.Errorf("phase %s with %d Builds", phase, len(s.builds()))
	}
	s.runs(s.push("release", "2"))
	held := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: held})
	between := s.push("release", "3")
	s.state("Building", "Building")
	last := s.push("release", "4")
	s.state("Waiting", "Queued")
	close(held)
	s.runs(last)
	if got := scene.Number(s.Now(s.app), "status", "deployment", "revision"); got != 2 || len(s.builds()) != 3 {
		t.Errorf("revision %d after %d Builds, the commit between was %s", got, len(s.builds()), between)
	}
}

// TestForgedBuild has an Image of that name that a user made, and then a Build whose status names another repository: neither is delivered.
func TestForgedBuild(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, claims)
	theirs := s.Set(s.kpackObject("Image", "shop"), map[string]any{
		"tag": cp.Registry() + "/theirs", "builder": map[string]any{"kind": "ClusterBuilder", "name": kpack.Builder},
		"source": map[string]any{"git": map[string]any{"url": s.Git.URL(s.repository), "revision": s.first}},
	}, "spec")
	s.Apply(theirs)
	before := s.Now(theirs)
	s.Apply(s.app)
	s.state("Waiting", "NameTaken")
	if after := s.Now(theirs); after.GetUID() != before.GetUID() || after.GetGeneration() != before.GetGeneration() || len(after.GetOwnerReferences()) > 0 {
		t.Errorf("the Image of a user was changed: %v", after.Object)
	}
	s.Delete(theirs)
	image := s.runs(s.first)
	_, digest, _ := strings.Cut(image, "@")
	s.Patch(s.kpackObject("Build", "shop-build-1"), `{"status":{"latestImage":"`+cp.Registry()+`/evil@`+digest+`"}}`, "status")
	s.Await(s.imageBuild(), "ForeignImage", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionFalse, "ForeignImage")
	})
	if u := s.Now(s.app); scene.Field(u, "status", "image") != image || scene.Number(u, "status", "deployment", "revision") != 1 {
		t.Errorf("image %s, want %s", scene.Field(u, "status", "image"), image)
	}
	s.wantImage(s.runs(s.push("main", "2")))
}

// TestInfrastructure has a pod that no node takes, one that is deleted, and one that is evicted, whose Build is tried again.
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
	u := s.state("Building", "Retrying")
	if failed := s.Now(s.imageBuild()); scene.Field(failed, "status", "atProvider", "failed", "reason") != "Evicted" {
		t.Errorf("an eviction is reported as %v", failed.Object["status"])
	}
	if phase := scene.Field(u, "status", "phase"); phase != "Building" {
		t.Errorf("phase while a Build is tried again: %s", phase)
	}
	s.runs(s.first) // After 30 seconds.
	if got := len(s.builds()); got != 2 {
		t.Errorf("%d Builds, want 2", got)
	}
}

// TestImageAndSource moves an Application from an image to a source and back: what runs stays until there is the next image.
func TestImageAndSource(t *testing.T) {
	t.Parallel()
	s := newSourceStage(t, namespaced)
	source, _, _ := unstructured.NestedMap(s.app.Object, "spec", "source")
	byImage := s.app.DeepCopy()
	unstructured.RemoveNestedField(byImage.Object, "spec", "source")
	s.Apply(s.Set(byImage, imageOf(1), "spec", "image"))
	s.serve(1)
	s.reaches("Running", 1)
	held := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: held})
	s.Apply(s.Set(s.app, source, "spec", "source"))
	u := s.state("Building", "Building")
	if got := scene.Field(u, "status", "image"); got != imageOf(1) || len(s.pods(1)) != 1 {
		t.Errorf("image %s while the source is built", got)
	}
	close(held)
	s.runs(s.first)
	s.Apply(byImage)
	s.serve(1)
	s.reaches("Running", 1)
	s.Gone(s.imageBuild())
	s.Gone(s.kpackObject("Image", "shop"))
}
