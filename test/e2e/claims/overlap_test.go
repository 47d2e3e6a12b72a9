package claims

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestTwoClaimsOneObject has two claims with the same objects at one Site. The later claim is refused as long as the first claim exists, so that kustomize
// builds the directories of the Site.
func TestTwoClaimsOneObject(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	kustomize := s.Tool("KUSTOMIZE")
	first := s.Claim("first", intentWithReplicas(s, 1, "edge1"))
	s.Succeed(first)
	second := s.Claim("second", intentWithReplicas(s, 1, "edge1"))
	observed := s.Fail(second)
	want := "claim " + s.Namespace + "/second may not deliver ConfigMap " + s.Namespace + "/shop to Site \"" + s.Site("edge1") + "\": claim " + s.Namespace + "/first delivers it there already"
	for _, typ := range []string{"Delivered", "Stalled"} {
		if c := scene.Condition(observed, typ); string(c.Reason) != "ObjectConflict" || !strings.Contains(c.Message, want) {
			t.Errorf("condition %s does not name both claims: %+v, want %q", typ, c, want)
		}
	}
	if left := s.FilesBelow(s.Directory("edge1", "second")); len(left) > 0 {
		t.Errorf("the repository holds files of the claim that was refused: %q", scene.Names(left))
	}
	wantKustomizeBuilds(s, kustomize)
	s.Delete(first)
	s.Gone(first)
	s.Await(second, "Succeeded once the first claim is gone", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
	wantKustomizeBuilds(s, kustomize)
}
