package claims

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// refusalOfDryRun runs kubectl as a user, as a dry run, and returns the refusal or nothing.
func refusalOfDryRun(s *scene.Scene, user string, args ...string) string {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	if _, err := s.Kubectl(ctx, append(args, "-n", s.Namespace, "--as="+user, "--dry-run=server")...); err != nil {
		return err.Error()
	}
	return ""
}

// grantUserVerbs allows a user verbs on resources in the namespace of a scene.
func grantUserVerbs(s *scene.Scene, user, verbs, resources string) {
	s.T.Helper()
	name := user + "-" + strings.NewReplacer(".", "-", ",", "-", "/", "-").Replace(resources)
	s.Run("create", "role", name, "-n", s.Namespace, "--verb="+verbs, "--resource="+resources)
	s.Run("create", "rolebinding", name, "-n", s.Namespace, "--role="+name, "--user="+user)
}

// serviceAccountOf is the name of a service account of Crossplane's namespace.
func serviceAccountOf(name string) string {
	return fmt.Sprintf("system:serviceaccount:%s:%s", controlplane.Namespace, name)
}

// writeBatchScript writes one file with an edit that each editor may make, then an edit that approves, then a RolloutRequest.
func writeBatchScript(s *scene.Scene, deployment *unstructured.Unstructured) string {
	s.T.Helper()
	labelled, automatic := deployment.DeepCopy(), deployment.DeepCopy()
	labelled.SetLabels(map[string]string{"a": "b"})
	s.Set(automatic, "Automatic", "spec", "blueprint", "updatePolicy")
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, o := range []*unstructured.Unstructured{labelled, automatic, s.Request("ask", deployment, rolloutv1alpha1.ActionApproveUpdate, 1)} {
		list.Items = append(list.Items, *o)
	}
	file := filepath.Join(s.T.TempDir(), "batch.yaml")
	writeYAMLFile(s, file, &unstructured.Unstructured{Object: list.UnstructuredContent()})
	return file
}
