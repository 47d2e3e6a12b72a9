package applications

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// newLocalStage is a stage whose Site is the control plane's own cluster, without an engine. It starts no other cluster.
func newLocalStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	s.applyBlueprint("app-internal-1.0.0")
	s.app = s.newApplication(claims)
	t.Cleanup(s.explainFailure)
	return s
}

func (s *stage) applyObjects(all []*unstructured.Unstructured) {
	s.T.Helper()
	for _, o := range all {
		s.Apply(o)
	}
}

// awaitRevision waits until Applications have deployed an image as a revision.
func (s *stage) awaitRevision(revision int64, image int, all ...*unstructured.Unstructured) {
	s.T.Helper()
	for _, o := range all {
		s.Await(o, fmt.Sprintf("revision %d", revision), func(u *unstructured.Unstructured) bool {
			isOf := scene.Number(u, "status", "deployment", "revision") == revision && scene.Field(u, "status", "image") == imageByNumber(image)
			return isOf && scene.Is(u, "Deployed", corev1.ConditionTrue, "Deployed")
		})
	}
}

// awaitAskedImage waits until an image is the desired image of an Application's deployment.
func (s *stage) awaitAskedImage(name, image string) {
	s.T.Helper()
	o := s.composedBehind(namespaced, "IntentDeployment")
	o.SetName(name)
	s.Await(o, image, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "spec", "expectation", "image") == image
	})
}

// awaitDeliveries waits until so many GitDeliveries have a reason.
func (s *stage) awaitDeliveries(reason string, want int) {
	s.T.Helper()
	s.Until(fmt.Sprint(want, " GitDeliveries ", reason), patience.Limit, func() bool {
		n := 0
		for _, d := range s.Deliveries() {
			if string(d.GetCondition("Ready").Reason) == reason {
				n++
			}
		}
		return n == want
	})
}

// annotateComposed annotates the composites of Applications that are claims, and annotateDeployments the deployments of all.
func (s *stage) annotateComposed(annotation string) {
	s.T.Helper()
	s.Run("annotate", "xapplications.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace="+s.Namespace, annotation)
}

func (s *stage) annotateDeployments(annotation string) {
	s.T.Helper()
	s.Run("annotate", "intentdeployments.intentplane.dev", "-n", s.Namespace, "-l", "intentplane.dev/application", annotation)
}

// headOfBranch returns the commit of the branch.
func (s *stage) headOfBranch() string {
	s.T.Helper()
	refs, err := s.Git.Refs(s.T.Context(), s.Namespace)
	s.requireNoError(err)
	return refs["refs/heads/main"]
}
