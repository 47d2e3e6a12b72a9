package applications

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

// applications of the claimed shape.
const applications = "applications.claims.intentplane.dev"

// approvalPolicy returns the policy of the examples and its binding, which is for the namespace of a scene alone.
func approvalPolicy(s *stage) []*unstructured.Unstructured {
	s.T.Helper()
	b := s.ProjectFile("examples", "policies", "approvals.yaml")
	objects, err := kubernetes.ParseYAML(b)
	s.requireNoError(err)
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
	for _, o := range approvalPolicy(s) {
		s.T.Cleanup(func() {
			// The test's own context has ended by then.
			if err := s.Client.Delete(context.WithoutCancel(s.T.Context()), o.DeepCopy()); err != nil {
				s.T.Errorf("cannot delete %s: %v", o.GetName(), err)
			}
		})
		s.Apply(o)
	}
}

// grantUserVerbs gives a user verbs on a resource in the namespace of a scene.
func grantUserVerbs(s *stage, user, verbs, resource string) {
	s.T.Helper()
	name := user + "-" + strings.ReplaceAll(resource, ".", "-")
	s.Run("create", "role", name, "-n", s.Namespace, "--verb="+verbs, "--resource="+resource)
	s.Run("create", "rolebinding", name, "-n", s.Namespace, "--role="+name, "--user="+user)
}

// dryRunPatch patches Application shop as a user, keeps nothing of it, and returns the refusal or nothing.
func dryRunPatch(s *stage, user, patch string) string {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	_, err := s.Kubectl(ctx, "patch", applications, "shop", "-n", s.Namespace, "--as="+user, "--dry-run=server", "--type=merge", "-p", patch)
	if err == nil {
		return ""
	}
	return err.Error()
}
