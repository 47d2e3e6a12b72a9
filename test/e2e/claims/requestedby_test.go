package claims

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// as tries to make an object as somebody, and returns the refusal or nothing. It is not kept.
func as(s *scene.Scene, user string, o *unstructured.Unstructured) string {
	s.T.Helper()
	file := filepath.Join(s.T.TempDir(), "request.yaml")
	write(s, file, o)
	ctx, cancel := s.Context()
	defer cancel()
	_, err := s.Kubectl(ctx, "create", "--dry-run=server", "--as="+user, "--as-group=system:masters", "-f", file)
	if err == nil {
		return ""
	}
	return err.Error()
}

// bindPolicies of the examples to the namespace of a scene alone.
func bindPolicies(s *scene.Scene) {
	s.T.Helper()
	for _, o := range examples(s, "policies") {
		o.SetName(s.Namespace + "." + o.GetName())
		if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
			s.Set(o, o.GetName(), "spec", "policyName")
			s.Set(o, map[string]any{"kubernetes.io/metadata.name": s.Namespace}, "spec", "matchResources", "namespaceSelector", "matchLabels")
		}
		s.T.Cleanup(func() {
			// The test's own context has ended by then.
			if err := s.Client.Delete(context.WithoutCancel(s.T.Context()), o.DeepCopy()); err != nil {
				s.T.Errorf("cannot delete %s: %v", o.GetName(), err)
			}
		})
		s.Apply(o)
	}
}

// TestRequestedBy lets nobody ask in the name of somebody else, once the example's policy is there. It is bound to one namespace here.
func TestRequestedBy(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	ask := func(by string) *unstructured.Unstructured {
		o := s.Request("ask", s.Claim("shop", intent(s, 1, "edge1")), rolloutv1alpha1.ActionApproveUpdate, 1)
		if by == "" {
			unstructured.RemoveNestedField(o.Object, "spec", "requestedBy")
			return o
		}
		return s.Set(o, by, "spec", "requestedBy")
	}
	if said := as(s, "bob", ask("ann")); said != "" {
		t.Fatalf("without the policy: %s", said)
	}
	bindPolicies(s)
	s.Until("the policy holds", time.Minute, func() bool { return as(s, "bob", ask("ann")) != "" })
	for name, tc := range map[string]struct{ user, by, want string }{
		"Own":    {user: "bob", by: "bob"},
		"Others": {user: "bob", by: "ann", want: "spec.requestedBy: must be bob, who asks"},
		"Nobody": {user: "bob", by: "", want: "spec.requestedBy: must be bob, who asks"},
	} {
		got := as(s, tc.user, ask(tc.by))
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s asks as %q: want %q, got %q", name, tc.user, tc.by, tc.want, got)
		}
	}
}
