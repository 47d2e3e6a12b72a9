package applications

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// applications of the claimed shape.
const applications = "applications.claims.intentplane.dev"

// approvals returns the policy of the examples and its binding, which is for the namespace of a scene alone.
func approvals(s *stage) []*unstructured.Unstructured {
	s.T.Helper()
	root, err := controlplane.Root()
	s.must(err)
	b, err := os.ReadFile(filepath.Join(root, "examples", "policies", "approvals.yaml"))
	s.must(err)
	objects, err := controlplane.ParseYAML(b)
	s.must(err)
	for _, o := range objects {
		o.SetName(s.Namespace + "." + o.GetName())
	}
	binding := objects[1]
	s.Set(binding, objects[0].GetName(), "spec", "policyName")
	s.Set(binding, map[string]any{"kubernetes.io/metadata.name": s.Namespace}, "spec", "matchResources", "namespaceSelector", "matchLabels")
	return objects
}

// bindApprovals applies the policy until the end of the test.
func bindApprovals(s *stage) {
	s.T.Helper()
	for _, o := range approvals(s) {
		s.T.Cleanup(func() {
			// The test's own context has ended by then.
			if err := s.Client.Delete(context.WithoutCancel(s.T.Context()), o.DeepCopy()); err != nil {
				s.T.Errorf("cannot delete %s: %v", o.GetName(), err)
			}
		})
		s.Apply(o)
	}
}

// allowUser gives a user verbs on a resource in the namespace of a scene.
func allowUser(s *stage, user, verbs, resource string) {
	s.T.Helper()
	name := user + "-" + strings.ReplaceAll(resource, ".", "-")
	s.Run("create", "role", name, "-n", s.Namespace, "--verb="+verbs, "--resource="+resource)
	s.Run("create", "rolebinding", name, "-n", s.Namespace, "--role="+name, "--user="+user)
}

// tryPatch patches Application shop as a user, keeps nothing of it, and returns the refusal or nothing.
func tryPatch(s *stage, user, patch string) string {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	_, err := s.Kubectl(ctx, "patch", applications, "shop", "-n", s.Namespace, "--as="+user, "--dry-run=server", "--type=merge", "-p", patch)
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestApplicationIsApprovedByApprovers lets a user who may edit an Application, and not create RolloutRequests, change nothing of what a revision is
// held to, once the policy of the examples is there.
func TestApplicationIsApprovedByApprovers(t *testing.T) { //nolint:tparallel // Its cases edit one object.
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp)}
	editor, approver := s.Namespace+"-editor", s.Namespace+"-approver"
	for _, user := range []string{editor, approver} {
		allowUser(s, user, "get,update,patch", applications)
	}
	allowUser(s, approver, "create", "rolloutrequests.rollout.intentplane.dev")
	s.Apply(s.newApplication(claims))
	const noGates = `{"spec":{"deploy":{"gatesConfig":{"enabled":false}}}}`
	s.Until("the editor may edit", scene.Patience, func() bool { return tryPatch(s, editor, noGates) == "" && tryPatch(s, approver, noGates) == "" })
	bindApprovals(s)
	s.Until("the policy holds", scene.Patience, func() bool { return tryPatch(s, editor, noGates) != "" })
	for name, tc := range map[string]struct{ reason, patch, want string }{
		"Blueprint": {reason: "An editor chooses no other Blueprint.", patch: `{"spec":{"deploy":{"blueprint":{"channel":"edge"}}}}`, want: "spec.deploy.blueprint: who may"},
		"Gates":     {reason: "An editor turns no gate off.", patch: noGates, want: "spec.deploy.gatesConfig: who may"},
		"Waves": {
			reason: "An editor changes no wave.", patch: `{"spec":{"deploy":{"deliveryConfig":{"waves":[{"name":"first","sites":["edge1"]}]}}}}`,
			want: "spec.deploy.deliveryConfig.waves: who may",
		},
		"Canary": {
			reason: "An editor turns no canary off.", patch: `{"spec":{"deploy":{"deliveryConfig":{"canary":{"enabled":false}}}}}`,
			want: "spec.deploy.deliveryConfig.canary: who may",
		},
		"Replicas": {reason: "An editor asks for more pods.", patch: `{"spec":{"replicas":3}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tryPatch(s, editor, tc.patch); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant %q, got %q", tc.reason, tc.want, got)
			}
			if got := tryPatch(s, approver, tc.patch); got != "" {
				t.Errorf("\nA user who may create RolloutRequests changes all of that.\n%q", got)
			}
		})
	}
}
