package applications

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/crane"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// lookNow asks an ImageBuild to look at its repository at once.
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
	s := &sourceStage{stage: newStage(t, apiVersion)}
	s.repository = s.Namespace + "-source"
	s.must(s.Git.CreateRepo(t.Context(), s.repository, map[string]string{"main.txt": "1"}))
	s.first = s.tip()
	config := s.Set(s.ClusterProviderConfig(), map[string]any{
		"registry": cp.Registry() + "/apps", "builder": map[string]any{"kind": "ClusterBuilder", "name": kpack.Builder},
	}, "spec", "build")
	s.Apply(s.Set(config, []any{judges.host()}, "spec", "policy", "webCheckHosts"))
	s.buildFrom("main")
	s.Set(s.app, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deploy", "deliveryConfig", "gitOpsRepo")
	t.Cleanup(s.explainBuild)
	return s
}

// buildFrom lets the Application be built of a revision.
func (s *sourceStage) buildFrom(revision string) {
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

// tip returns the last commit of the source.
func (s *sourceStage) tip() string {
	s.T.Helper()
	id, err := s.Git.Git(s.T.Context(), s.repository, "rev-parse", "main")
	s.must(err)
	return strings.TrimSpace(id)
}

// push adds a commit to a branch of the source, and asks the ImageBuild to look at it.
func (s *sourceStage) push(branch, content string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.repository, branch, map[string]string{"main.txt": content}, "Version "+content)
	s.must(err)
	s.look(id)
	return id
}

func (s *sourceStage) look(token string) {
	s.T.Helper()
	s.Patch(s.imageBuild(), fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, lookNow, token))
}

func (s *sourceStage) imageBuild() *unstructured.Unstructured {
	return s.behind("build.intentplane.dev/v1alpha1", "ImageBuild")
}

// kpackObject describes an object of kpack.
func (s *sourceStage) kpackObject(kind, name string) *unstructured.Unstructured {
	o := s.behind("kpack.io/v1alpha2", kind)
	o.SetName(name)
	return o
}

// builds returns the Builds of the Application.
func (s *sourceStage) builds() []unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("kpack.io/v1alpha2")
	l.SetKind("BuildList")
	s.must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	return l.Items
}

// built waits until the deployment was verified with the image of a commit, and returns the image.
func (s *sourceStage) built(commit string) string {
	s.T.Helper()
	u := s.Await(s.app, "delivered image of "+commit, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "commit") == commit && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
	})
	return scene.Field(u, "status", "image")
}

// runs waits until the image of a commit was delivered, lets its pods be ready, and waits until it is Running.
func (s *sourceStage) runs(commit string) string {
	s.T.Helper()
	image := s.built(commit)
	s.reportOf(image, readyStatus(corev1.ConditionTrue))
	s.Await(s.app, "Running with "+commit, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Running" && scene.Field(u, "status", "commit") == commit
	})
	return image
}

// state waits until the build has a state and a reason.
func (s *sourceStage) state(state, reason string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, "build "+state+" "+reason, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "build", "state") == state && (reason == "" || scene.Field(u, "status", "build", "reason") == reason)
	})
}

// wantImage fails the test unless an image is the one in the registry.
func (s *sourceStage) wantImage(image string) {
	s.T.Helper()
	repository := strings.Join([]string{cp.Registry(), "apps", s.Namespace, "shop"}, "/")
	digest, err := crane.Digest(repository)
	if err != nil || image != repository+"@"+digest {
		s.T.Errorf("the Application has %s, the registry %s: %v", image, digest, err)
	}
}
