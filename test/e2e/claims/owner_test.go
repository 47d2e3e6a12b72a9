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

func TestAdoptFiles(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	theirs, err := s.Git.Commit(t.Context(), s.Namespace, "main", map[string]string{s.Directory("edge1", "shop") + "/theirs.yaml": "a: 1\n"}, "Ours")
	if err != nil {
		t.Fatal(err)
	}
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1"))
	observed := awaitBlocked(s, claim, "NotOwner")
	if got := scene.Condition(observed, "Stalled").Message; !strings.Contains(got, s.Directory("edge1", "shop")) {
		t.Errorf("the message does not name the directory: %s", got)
	}
	if diff := cmp.Diff(theirs, s.AwaitCommits(1)[0].ID); diff != "" {
		t.Errorf("tip of the branch: -want, +got:\n%s", diff)
	}
	s.Succeed(s.Set(claim, true, "spec", "deliveryConfig", "adopt"))
	if _, ok := s.FilesBelow(s.Directory("edge1", "shop"))["theirs.yaml"]; ok {
		t.Error("the unmanaged file is still there")
	}
	s.AwaitCommits(2)
}

func TestShapesOfOneName(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	first := s.Claim("shop", intentWithReplicas(s, 2, "edge1"))
	s.Succeed(first)
	delivery := s.Raw()
	second := s.Composite("shop", intentWithReplicas(s, 5, "edge1"))
	awaitBlocked(s, second, "NotOwner")
	s.AwaitCommits(1)
	if diff := cmp.Diff(delivery.Object["spec"], s.Now(delivery).Object["spec"]); diff != "" {
		t.Errorf("spec of the first one's GitDelivery: -want, +got:\n%s", diff)
	}
	// Crossplane writes old conditions again when its cache is behind, and corrects them with its next try.
	s.Await(first, "Ready", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Ready", corev1.ConditionTrue, "") })
	// A claim that never wrote anything removes nothing.
	s.Delete(second)
	s.Gone(second)
	s.AwaitCommits(1)
}

// TestDeletedInUse deletes the configuration of a claim. Its status names the objects that its deletion waits for, and it
// is deleted with the claim.
func TestDeletedInUse(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	claim := s.Claim("shop", intentWithReplicas(s, 1, "edge1"))
	s.Succeed(claim)
	config := s.ProviderConfig()
	s.Delete(config)
	observed := s.Await(config, "Terminating", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Terminating", corev1.ConditionTrue, "InUse")
	})
	user := s.Namespace + "/" + s.Delivery().GetName()
	if message := scene.Condition(observed, "Terminating").Message; !strings.Contains(message, user) {
		t.Errorf("message of Terminating: want GitDelivery %s in it, got %q", user, message)
	}
	s.Until("an event on the configuration", patience.Limit, func() bool {
		return strings.Contains(s.Inside("get", "events", "--field-selector", "reason=InUse,involvedObject.kind=ProviderConfig"), user)
	})
	s.Delete(claim)
	s.Gone(claim)
	s.Gone(config)
}
