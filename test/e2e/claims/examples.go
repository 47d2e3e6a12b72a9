package claims

import (
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/scene"
)

const fleet = "fleet"

// readExamples returns the examples of a folder, in the order in which they are applied.
func readExamples(s *scene.Scene, folder string) []*unstructured.Unstructured {
	s.T.Helper()
	root, err := toolbox.Root()
	s.Must(err)
	files, err := kubernetes.YAMLFiles(filepath.Join(root, "examples", folder))
	s.Must(err)
	var out []*unstructured.Unstructured
	for _, f := range files {
		b, err := os.ReadFile(f)
		s.Must(err)
		objects, err := kubernetes.ParseYAML(b)
		s.Must(err)
		out = append(out, objects...)
	}
	return out
}

// awaitAnswer waits for the result of an example at the quickstart, which succeeded and has one version of its Blueprint.
func awaitAnswer(s *scene.Scene, o *unstructured.Unstructured) {
	s.T.Helper()
	switch action := rolloutv1alpha1.Action(scene.Field(o, "spec", "action")); action {
	case rolloutv1alpha1.ActionAbort:
		s.AwaitRefusal(o, rolloutv1alpha1.ResultAlreadyJudged)
	case rolloutv1alpha1.ActionMoveLedger:
		s.AwaitRefusal(o, rolloutv1alpha1.ResultUnknownRepository)
	case rolloutv1alpha1.ActionApproveUpdate:
		s.AwaitRefusal(o, rolloutv1alpha1.ResultNoUpdate)
	case rolloutv1alpha1.ActionRollbackTo:
		s.AwaitRefusal(o, rolloutv1alpha1.ResultNothingToRestore) // Revision 2, of the retry, has the files of revision 1.
	case rolloutv1alpha1.ActionRetry:
		s.Await(o, "done", func(u *unstructured.Unstructured) bool {
			return scene.Is(u, string(rolloutv1alpha1.TypeCompleted), corev1.ConditionTrue, string(rolloutv1alpha1.ResultDone))
		})
	case rolloutv1alpha1.ActionPromote:
		// It is about the deployment of examples/delivery/canary.yaml, whose Blueprint needs a gateway at its Sites.
		s.AwaitRefusal(o, rolloutv1alpha1.Result(rolloutv1alpha1.ReasonUnknownDeployment))
	}
}
