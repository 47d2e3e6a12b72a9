package claims

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRequestedBy checks that no user can make a request in the name of another user, once the example's policy is applied. It is
// bound to one namespace here.
func TestRequestedBy(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	ask := func(requester string) *unstructured.Unstructured {
		o := s.Request("ask", s.Claim("shop", intentWithReplicas(s, 1, "edge1")), rolloutv1alpha1.ActionApproveUpdate, 1)
		if requester == "" {
			unstructured.RemoveNestedField(o.Object, "spec", "requestedBy")
			return o
		}
		return s.Set(o, requester, "spec", "requestedBy")
	}
	if answer := dryRunCreate(s, "bob", ask("ann")); answer != "" {
		t.Fatalf("without the policy: %s", answer)
	}
	bindPolicies(s)
	s.Until("the policy holds", patience.Limit, func() bool { return dryRunCreate(s, "bob", ask("ann")) != "" })
	for name, tc := range map[string]struct{ user, by, want string }{
		"Own":    {user: "bob", by: "bob"},
		"Others": {user: "bob", by: "ann", want: "spec.requestedBy: must be bob, who asks"},
		"Nobody": {user: "bob", by: "", want: "spec.requestedBy: must be bob, who asks"},
	} {
		got := dryRunCreate(s, tc.user, ask(tc.by))
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s asks as %q: want %q, got %q", name, tc.user, tc.by, tc.want, got)
		}
	}
}
