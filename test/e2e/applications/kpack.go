package applications

import (
	"context"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// builder is the kpack of all tests of this package, which is installed when a test first asks for it.
var builder = sync.OnceValues(func() (*kpack.Kpack, error) { return kpack.Start(context.Background(), cp) })

// An imageScene is a scene with an Image of kpack that a user makes.
type imageScene struct {
	*scene.Scene

	kpack *kpack.Kpack
	image *unstructured.Unstructured
}

func newImageScene(t *testing.T) *imageScene {
	t.Helper()
	k, err := builder()
	if err != nil {
		t.Fatal(err)
	}
	s := &imageScene{Scene: scene.New(t, cp), kpack: k}
	s.image = s.imageObject("Image", "shop")
	s.Set(s.image, map[string]any{
		"tag": cp.Registry() + "/apps/" + s.Namespace + "/shop", "builder": map[string]any{"kind": "ClusterBuilder", "name": kpack.Builder},
		"source": map[string]any{"git": map[string]any{"url": s.Git.URL(s.Namespace), "revision": s.addSourceCommit("1")}},
	}, "spec")
	t.Cleanup(func() {
		if t.Failed() {
			out, err := s.Kubectl(context.WithoutCancel(t.Context()), "get", "images.kpack.io,builds.kpack.io,pods", "-n", s.Namespace, "-o", "yaml")
			t.Logf("%v\n%s%v", k.Failure(), out, err)
		}
	})
	return s
}

func (s *imageScene) imageObject(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("kpack.io/v1alpha2")
	o.SetKind(kind)
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// addSourceCommit adds a commit to the repository of the scene.
func (s *imageScene) addSourceCommit(content string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.Namespace, "main", map[string]string{"main.txt": content}, "Version "+content)
	s.Must(err)
	return id
}

// askForCommit asks for a commit.
func (s *imageScene) askForCommit(commit string) {
	s.T.Helper()
	s.Patch(s.image, `{"spec":{"source":{"git":{"revision":"`+commit+`"}}}}`)
}

// awaitReached waits until the Image says so of its current generation and of a Build.
func (s *imageScene) awaitReached(reason, build string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.image, reason+" of "+build, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "latestBuildRef") == build && fieldOfCondition(u, "Ready", "reason") == reason &&
			scene.Number(u, "status", "observedGeneration") == u.GetGeneration()
	})
}

// fieldOfCondition returns a field of a condition. Conditions of kpack have no times where they have not changed.
func fieldOfCondition(u *unstructured.Unstructured, typ, field string) string {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		if m, ok := c.(map[string]any); ok && m["type"] == typ {
			text, _ := m[field].(string)
			return text
		}
	}
	return ""
}

// failBuildStep lets a step of the next commit fail: the image before it stays, and the Build says which steps have ended.
func (s *imageScene) failBuildStep(first string) {
	s.T.Helper()
	s.kpack.Plan(s.Namespace, kpack.Play{Fails: "build"}, kpack.Play{Evicted: true})
	s.askForCommit(s.addSourceCommit("2"))
	u := s.awaitReached("BuildFailed", "shop-build-2")
	if scene.Field(u, "status", "latestImage") != first {
		s.T.Errorf("the image after a failed build is %s, before %s", scene.Field(u, "status", "latestImage"), first)
	}
	b := s.Now(s.imageObject("Build", "shop-build-2"))
	steps, _, _ := unstructured.NestedStringSlice(b.Object, "status", "stepsCompleted")
	s.WantEqual("steps that have ended", []string{"prepare", "analyze", "detect", "restore"}, steps)
	if message := fieldOfCondition(b, "Succeeded", "message"); !strings.Contains(message, "kubectl logs -n "+s.Namespace+" "+scene.Field(b, "status", "podName")+" -c build`") {
		s.T.Errorf("message of a step that failed: %q", message)
	}
}

// rebuildCommit asks for another Build of the same commit, whose pod is evicted, and then for a Build that succeeds.
func (s *imageScene) rebuildCommit() {
	s.T.Helper()
	patch := `{"metadata":{"annotations":{"image.kpack.io/additionalBuildNeeded":"1"}}}`
	s.Patch(s.imageObject("Build", "shop-build-2"), patch)
	s.awaitReached("BuildFailed", "shop-build-3")
	if message := fieldOfCondition(s.Now(s.imageObject("Build", "shop-build-3")), "Succeeded", "message"); !strings.Contains(message, "low on resource") {
		s.T.Errorf("message of an evicted pod: %q", message)
	}
	s.Patch(s.imageObject("Build", "shop-build-3"), patch)
	u := s.awaitReached("UpToDate", "shop-build-4")
	if reason := scene.Field(u, "status", "latestBuildReason"); reason != "TRIGGER" {
		s.T.Errorf("reason of a Build that was asked for: %s", reason)
	}
}

// deleteBuildPod deletes the pod of a Build that runs: kpack makes it once more, and the Build goes on. Another commit waits until it has ended.
func (s *imageScene) deleteBuildPod() {
	s.T.Helper()
	hold := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: hold}, kpack.Play{Held: hold})
	s.askForCommit(s.addSourceCommit("3"))
	running := func(u *unstructured.Unstructured) bool {
		steps, _, _ := unstructured.NestedStringSlice(u.Object, "status", "stepsCompleted")
		return len(steps) == 4
	}
	b := s.imageObject("Build", "shop-build-5")
	pod := s.imageObject("Pod", scene.Field(s.Await(b, "running", running), "status", "podName"))
	pod.SetAPIVersion("v1")
	uid := s.Now(pod).GetUID()
	s.Delete(pod)
	s.Await(pod, "made once more", func(u *unstructured.Unstructured) bool { return u.GetUID() != uid })
	last := s.addSourceCommit("4")
	s.askForCommit(last)
	s.awaitReached("BuildRunning", "shop-build-5")
	close(hold)
	s.awaitReached("UpToDate", "shop-build-6")
	if got := scene.Field(s.Now(s.imageObject("Build", "shop-build-6")), "spec", "source", "git", "revision"); got != last {
		s.T.Errorf("the last Build is of %s, want %s", got, last)
	}
}
