package claims

import (
	"context"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// dryRunCreate tries to make an object as a user, and returns the refusal or nothing. It is not kept.
func dryRunCreate(s *scene.Scene, user string, o *unstructured.Unstructured) string {
	s.T.Helper()
	file := filepath.Join(s.T.TempDir(), "request.yaml")
	writeYAMLFile(s, file, o)
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
	for _, o := range readExamples(s, "policies") {
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
