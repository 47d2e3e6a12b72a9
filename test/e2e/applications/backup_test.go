package applications

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
)

// TestOldBackup restores a backup of the cluster from before the second image of two Applications, one of each shape, and follows
// docs/operations/after-a-loss.md: nothing of that day is delivered, and nothing is delivered again. It rebuilds the cluster of all tests, so it runs
// before the tests that start other clusters.
func TestOldBackup(t *testing.T) {
	s := newLocalStage(t)
	shop, cart := s.newApplication(claims), s.newApplication(namespaced)
	cart.SetName("cart")
	objects := []*unstructured.Unstructured{shop, cart}
	s.applyObjects(objects)
	s.awaitRevision(1, 1, objects...)
	backup, err := cp.Backup(t.Context())
	s.requireNoError(err)
	for _, o := range objects {
		s.Set(o, imageByNumber(2), "spec", "image")
	}
	s.applyObjects(objects)
	s.awaitRevision(2, 2, objects...)
	branch := s.headOfBranch()

	s.requireNoError(cp.Rebuild(t.Context(), backup, func() error {
		s.annotateComposed("crossplane.io/paused=true")
		s.annotateDeployments("crossplane.io/paused=true")
		s.applyObjects(objects)
		return nil
	}))
	s.awaitDeliveries("OrderBehind", 2)
	s.Run("wait", applications, "--all", "-n", s.Namespace, "--for=condition=Synced", "--timeout="+patience.Limit.String())
	s.annotateComposed("crossplane.io/paused-")
	for _, o := range objects {
		s.awaitAskedImage(o.GetName(), imageByNumber(2))
	}
	s.WantEqual("the branch while the deployments are held back", branch, s.headOfBranch())
	s.annotateDeployments("crossplane.io/paused-")
	s.awaitDeliveries("Delivered", 2)
	s.awaitRevision(2, 2, objects...)
	s.WantEqual("the branch", branch, s.headOfBranch())

	// The two Applications deliver again, as the next revision.
	for _, o := range objects {
		s.Patch(o, fmt.Sprintf(`{"spec":{"image":%q}}`, imageByNumber(3)))
	}
	s.awaitRevision(3, 3, objects...)
}
