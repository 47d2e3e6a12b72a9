package claims

import (
	"fmt"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestWrongRepositoryURL gives one configuration of two a URL that is wrong until the provider has tried it, and the right one again. Then
// that configuration really names another repository.
func TestWrongRepositoryURL(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	otherRepository, third := s.Namespace+"-other", s.Namespace+"-third"
	for _, repo := range []string{otherRepository, third} {
		if err := s.Git.CreateRepo(t.Context(), repo, map[string]string{"README.md": "Not ours.\n"}); err != nil {
			t.Fatal(err)
		}
	}
	s.Apply(s.Set(s.ClusterProviderConfig(), s.Git.URL(otherRepository), "spec", "git", "url"))
	s.Apply(s.Set(s.NewSite("edge2"), map[string]any{"name": s.Namespace}, "spec", "repository", "providerConfigRef"))
	claim := s.Claim("shop", intentWithReplicas(s, 2, "edge1", "edge2"))
	s.Succeed(claim)
	previous := observedDeliveries(s)
	setURL := func(repo string) {
		s.Patch(s.ClusterProviderConfig(), fmt.Sprintf(`{"spec":{"git":{"url":%q}}}`, s.Git.URL(repo)))
	}

	setURL("there-is-no-such-repository")
	count := func(reason xpv2.ConditionReason) int {
		n := 0
		for _, d := range s.Deliveries() {
			if d.GetCondition(xpv2.TypeReady).Reason == reason {
				n++
			}
		}
		return n
	}
	s.Until("one GitDelivery is Unreachable", patience.Limit, func() bool { return count(deliveryv1alpha1.ReasonUnreachable) == 1 })
	setURL(otherRepository)
	s.Until("both GitDeliveries are Delivered", patience.Limit, func() bool { return count(deliveryv1alpha1.ReasonDelivered) == 2 })
	observed := s.Succeed(claim)
	if diff := cmp.Diff(previous, observedDeliveries(s), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("recorded status of the GitDeliveries after a URL was wrong for a while: -want, +got:\n%s", diff)
	}
	if got := scene.Number(observed, "status", "revision"); got != 1 {
		t.Errorf("revision after a URL was wrong for a while: want 1, got %d", got)
	}

	setURL(third)
	s.Await(claim, "delivered to the third repository", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "liveRevision") == 2 && scene.Field(u, "status", "phase") == "Succeeded"
	})
	files, err := s.Git.Files(t.Context(), third, "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := files[s.Directory("edge2", "shop")+"/deployment-shop.yaml"]; !ok {
		t.Errorf("the repository that the URL names now has no files of the claim: %q", scene.Names(files))
	}
}
