package applications

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// requestRefresh asks an ImageBuild to look at its repository at once.
const lookNow = "build.intentplane.dev/look-now"

// A sourceStage is a stage whose Application is built of a repository of its own.
type sourceStage struct {
	*stage

	kpack *kpack.Kpack
	// repository of the source, and first its first commit.
	repository, first string
}

// newSourceStage describes an Application of a shape that is built of the branch "main".
func newSourceStage(t *testing.T, apiVersion string) *sourceStage {
	t.Helper()
	k, err := builder()
	if err != nil {
		t.Fatal(err)
	}
	s := newUnbuiltStage(t, apiVersion)
	s.kpack = k
	return s
}

// newUnbuiltStage is a stage in whose cluster kpack may be missing.
func newUnbuiltStage(t *testing.T, apiVersion string) *sourceStage {
	t.Helper()
	s := &sourceStage{stage: newAppStage(t, apiVersion)}
	s.repository = s.Namespace + "-source"
	s.requireNoError(s.Git.CreateRepo(t.Context(), s.repository, map[string]string{"main.txt": "1"}))
	s.first = s.lastSourceCommit()
	config := s.Set(s.ClusterProviderConfig(), map[string]any{
		"registry": cp.Registry() + "/apps", "builder": map[string]any{"kind": "ClusterBuilder", "name": kpack.Builder},
	}, "spec", "build")
	s.Apply(s.Set(config, []any{judges.hostOfServer()}, "spec", "policy", "webCheckHosts"))
	s.setSourceRevision("main")
	s.Set(s.app, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deploy", "deliveryConfig", "gitOpsRepo")
	t.Cleanup(s.explainBuild)
	return s
}

// setSourceRevision lets the Application be built of a revision.
func (s *sourceStage) setSourceRevision(revision string) {
	unstructured.RemoveNestedField(s.app.Object, "spec", "image")
	s.Set(s.app, map[string]any{"git": map[string]any{"url": s.Git.URL(s.repository), "revision": revision}, "interval": "30m"}, "spec", "source")
}

func (s *sourceStage) explainBuild() {
	if !s.T.Failed() {
		return
	}
	for _, args := range [][]string{
		{"get", "imagebuilds.build.intentplane.dev", "-n", s.Namespace, "-o", "yaml"},
		{"get", "images.kpack.io,builds.kpack.io,pods", "-n", s.Namespace, "-o", "yaml"},
	} {
		out, err := s.Kubectl(context.WithoutCancel(s.T.Context()), args...)
		s.T.Logf("kubectl %s\n%s%v", strings.Join(args, " "), out, err)
	}
	if s.kpack != nil {
		s.T.Logf("the player of pods: %v", s.kpack.Failure())
	}
}

// lastSourceCommit returns the last commit of the source.
func (s *sourceStage) lastSourceCommit() string {
	s.T.Helper()
	id, err := s.Git.Git(s.T.Context(), s.repository, "rev-parse", "main")
	s.requireNoError(err)
	return strings.TrimSpace(id)
}

// pushSourceCommit adds a commit to a branch of the source, and asks the ImageBuild to look at it.
func (s *sourceStage) pushSourceCommit(branch, content string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.repository, branch, map[string]string{"main.txt": content}, "Version "+content)
	s.requireNoError(err)
	s.requestRefresh(id)
	return id
}

func (s *sourceStage) requestRefresh(token string) {
	s.T.Helper()
	s.Patch(s.composedImageBuild(), fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, lookNow, token))
}

func (s *sourceStage) composedImageBuild() *unstructured.Unstructured {
	return s.composedBehind("build.intentplane.dev/v1alpha1", "ImageBuild")
}

// kpackObject describes an object of kpack.
func (s *sourceStage) kpackObject(kind, name string) *unstructured.Unstructured {
	o := s.composedBehind("kpack.io/v1alpha2", kind)
	o.SetName(name)
	return o
}

// buildsOfApplication returns the Builds of the Application.
func (s *sourceStage) buildsOfApplication() []unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("kpack.io/v1alpha2")
	l.SetKind("BuildList")
	s.requireNoError(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	return l.Items
}

// awaitVerifiedImage waits until the deployment was verified with the image of a commit, and returns the image.
func (s *sourceStage) awaitVerifiedImage(commit string) string {
	s.T.Helper()
	u := s.Await(s.app, "delivered image of "+commit, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "commit") == commit && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
	})
	return scene.Field(u, "status", "image")
}

// awaitRunning waits until the image of a commit was delivered, lets its pods be ready, and waits until it is Running.
func (s *sourceStage) awaitRunning(commit string) string {
	s.T.Helper()
	image := s.awaitVerifiedImage(commit)
	s.reportPodsByRef(image, readyStatus(corev1.ConditionTrue))
	s.Await(s.app, "Running with "+commit, func(u *unstructured.Unstructured) bool { return isRunningCommit(u, commit) })
	return image
}

// awaitDesiredImage waits until the desired image of the deployment is the image of a commit, and returns the image. With a progressTimeout it is
// verified only once pods serve.
func (s *sourceStage) awaitDesiredImage(commit string) string {
	s.T.Helper()
	u := s.Await(s.app, "image of "+commit, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "commit") == commit && scene.Field(u, "status", "image") != ""
	})
	return scene.Field(u, "status", "image")
}

// serveCommit lets pods of the image of a commit be ready, waits until it is Running, and returns the image.
func (s *sourceStage) serveCommit(commit string) string {
	s.T.Helper()
	image := s.awaitDesiredImage(commit)
	s.reportPodsByRef(image, readyStatus(corev1.ConditionTrue))
	s.Await(s.app, "Running with "+commit, func(u *unstructured.Unstructured) bool { return isRunningCommit(u, commit) })
	return image
}

// isRunningCommit reports whether an Application runs the image of a commit.
func isRunningCommit(u *unstructured.Unstructured, commit string) bool {
	return scene.Field(u, "status", "phase") == "Running" && scene.Field(u, "status", "commit") == commit
}

// awaitBuildState waits until the build has a state and a reason.
func (s *sourceStage) awaitBuildState(state, reason string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, "build "+state+" "+reason, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "build", "state") == state && (reason == "" || scene.Field(u, "status", "build", "reason") == reason)
	})
}

// wantRegistryImage fails the test unless an image is equal to the image in the registry.
func (s *sourceStage) wantRegistryImage(image string) {
	s.T.Helper()
	repository := strings.Join([]string{cp.Registry(), "apps", s.Namespace, "shop"}, "/")
	digest, err := crane.Digest(repository)
	if err != nil || image != repository+"@"+digest {
		s.T.Errorf("the Application has %s, the registry %s: %v", image, digest, err)
	}
}

func (s *sourceStage) restartProvider() {
	s.T.Helper()
	s.requireNoError(cp.StartProvider(s.T.Context(), controlplane.Program{}))
}

// updateStack gives the builder another run image, of which kpack builds the last commit again. The Application delivers it.
func (s *sourceStage) updateStack(last string) {
	s.T.Helper()
	previous := s.Now(s.app)
	s.requireNoError(s.kpack.UpdateStack(s.T.Context(), "run 2"))
	u := s.Await(s.app, "the image of another stack", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "image") != scene.Field(previous, "status", "image") && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
	})
	got, want := scene.Number(u, "status", "deployment", "revision"), scene.Number(previous, "status", "deployment", "revision")+1
	if commit := scene.Field(u, "status", "commit"); commit != last || got != want {
		s.T.Errorf("commit %s with revision %d after a rebuild, want %s and %d", commit, got, last, want)
	}
	s.awaitRunning(last)
}

// deliverNextCommit pushes a commit: the phases begin again, and never say Running for the previous image.
func (s *sourceStage) deliverNextCommit() {
	s.T.Helper()
	from := nextTransition(s.Now(s.app))
	image := s.awaitRunning(s.pushSourceCommit("main", "2"))
	s.wantRegistryImage(image)
	s.WantEqual("phases of another commit", []string{"Pending", "Deploying", "Running"}, withoutRepeats(phasesSince(s.Now(s.app), from)))
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

// describeRunning returns the delivered image with its revision and commits, and the UIDs of the pods of an image.
func (s *sourceStage) describeRunning(image string) []string {
	s.T.Helper()
	u := s.Now(s.app)
	out := []string{fmt.Sprint(scene.Field(u, "status", "image"), " as revision ", scene.Number(u, "status", "deployment", "revision"), " after ", len(s.Commits()), " commits"), s.deploymentInGit()}
	for _, p := range s.podsOfImage(image) {
		out = append(out, string(p.GetUID()))
	}
	return out
}

// failNextBuild pushes a commit that cannot be built. The running image stays, and the status says where the log is. The next commit runs.
func (s *sourceStage) failNextBuild() {
	s.T.Helper()
	previous, commits := s.Now(s.app), len(s.Commits())
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"})
	s.pushSourceCommit("main", "3")
	u := s.awaitBuildState("Failed", "StepFailed")
	if scene.Field(u, "status", "phase") != "Failed" || scene.Field(u, "status", "image") != scene.Field(previous, "status", "image") {
		s.T.Errorf("phase %s with image %s", scene.Field(u, "status", "phase"), scene.Field(u, "status", "image"))
	}
	if step, logs := scene.Field(u, "status", "build", "step"), scene.Field(u, "status", "build", "logs"); step != "build" || logs != "kubectl logs -n "+s.Namespace+" shop-build-3-build-pod -c build" {
		s.T.Errorf("step %q failed, its log is at %q", step, logs)
	}
	s.awaitCondition("Available", "True", "EarlierImage")
	if got := len(s.Commits()); got != commits || len(s.podsOfImage(scene.Field(previous, "status", "image"))) != 1 {
		s.T.Errorf("a failed build left %d commits of %d", got, commits)
	}
	s.wantRegistryImage(s.awaitRunning(s.pushSourceCommit("main", "4")))
}

// wantBuildsReported looks at the events and the metrics of builds, of which one failed in its step build.
func (s *sourceStage) wantBuildsReported() {
	s.T.Helper()
	events := s.Run("get", "events", "-n", s.Namespace, "--field-selector", "involvedObject.kind=ImageBuild", "-o", "jsonpath={range .items[*]}{.reason}: {.message}{\"\\n\"}{end}")
	for _, want := range []string{"BuildStarted: Build shop-build-", "BuildSucceeded: Build shop-build-1 made ", "BuildFailed: Build shop-build-3 failed: StepFailed: "} {
		if !strings.Contains(events, want) {
			s.T.Errorf("no event says %q:\n%s", want, events)
		}
	}
	m, err := s.ProviderMetrics(s.T.Context())
	s.requireNoError(err)
	if m.Sum("application_builds_total", map[string]string{"result": "Succeeded"}) < 3 || m.Sum("application_builds_total", map[string]string{"result": "Failed", "reason": "StepFailed"}) < 1 {
		s.T.Error("Builds that succeeded, or that failed, were not counted")
	}
	if m.Count("application_build_duration_seconds", nil) < 1 {
		s.T.Error("no duration of a Build was counted")
	}
}

// deleteBuilt deletes the Application while the next commit is built: everything goes with it.
func (s *sourceStage) deleteBuilt() {
	s.T.Helper()
	hold := make(chan struct{})
	s.T.Cleanup(func() { close(hold) })
	s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
	s.pushSourceCommit("main", "5")
	s.awaitBuildState("Building", "Building")
	s.wantAllDeleted()
	s.Gone(s.composedImageBuild())
	s.Gone(s.kpackObject("Image", "shop"))
	s.Gone(s.kpackObject("Build", "shop-build-5"))
}
