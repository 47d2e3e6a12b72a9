package scene

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Request describes a RolloutRequest to a deployment that has a revision.
func (s *Scene) Request(name string, target *unstructured.Unstructured, action rolloutv1alpha1.Action, revision int64) *unstructured.Unstructured {
	return s.newUnstructured(rolloutv1alpha1.GroupVersion.String(), "RolloutRequest", s.Namespace, name, map[string]any{
		"deploymentRef": map[string]any{"apiGroup": target.GroupVersionKind().Group, "kind": target.GetKind(), "name": target.GetName()},
		"action":        string(action),
		"revision":      revision,
		"requestedBy":   "ann",
	})
}

// AwaitRefusal waits until a RolloutRequest is refused with a reason.
func (s *Scene) AwaitRefusal(o *unstructured.Unstructured, reason rolloutv1alpha1.Result) {
	s.T.Helper()
	s.Await(o, "refused: "+string(reason), func(u *unstructured.Unstructured) bool {
		return Is(u, string(rolloutv1alpha1.TypeAccepted), corev1.ConditionFalse, string(reason))
	})
}

// Release puts a version of the scene's Blueprint, which annotates its Deployment with its version, into the channel stable. Earlier versions
// leave it first.
func (s *Scene) Release(version string, earlier ...string) {
	s.T.Helper()
	for _, old := range earlier {
		s.Apply(s.Blueprint(old, "before"))
	}
	b := s.Blueprint(version, "stable")
	const head = "kind: Deployment\nmetadata:\n"
	files, _, err := unstructured.NestedStringMap(b.Object, "spec", "files")
	s.Must(err)
	if !strings.Contains(files["deployment.yaml"], head) {
		s.T.Fatal("the Blueprint has no Deployment")
	}
	text := strings.Replace(files["deployment.yaml"], head, head+"  annotations: {example.org/version: \""+version+"\"}\n", 1)
	s.Apply(s.Set(b, text, "spec", "files", "deployment.yaml"))
}
