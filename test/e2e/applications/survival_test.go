package applications

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestOldBackupOfBuilds restores a backup of the cluster from before the second commit of two Applications, one of each shape, and follows
// docs/operations/after-a-loss.md: the second commit is built again, and nothing is delivered. Then the third commit runs. It rebuilds the cluster of all
// tests, so it runs before the tests that run beside each other, and after TestKpackLater.
func TestOldBackupOfBuilds(t *testing.T) {
	all := []*restoredSource{{sourceStage: newSourceStage(t, claims)}, {sourceStage: newSourceStage(t, namespaced)}}
	for _, s := range all {
		s.Apply(s.app)
		s.awaitRunning(s.first)
	}
	backup, err := cp.Backup(t.Context())
	all[0].requireNoError(err)
	for _, s := range all {
		s.commit = s.pushSourceCommit("main", "2")
		s.image = s.awaitRunning(s.commit)
		s.branch = s.headOfBranch()
	}

	all[0].requireNoError(cp.Rebuild(t.Context(), backup, func() error {
		for _, s := range all {
			s.pauseRestored()
			s.Apply(s.app)
		}
		return nil
	}))
	all[0].requireNoError(all[0].kpack.Restart(t.Context()))
	for _, s := range all {
		s.awaitDeliveries("OrderBehind", 1)
		s.resumeApplication()
		s.Await(s.app, "built commit "+s.commit, func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "build", "commit") == s.commit && scene.Field(u, "status", "build", "state") == "Succeeded"
		})
		s.awaitAskedImage(s.app.GetName(), s.image)
		s.WantEqual("the branch while the deployment is held back", s.branch, s.headOfBranch())
		s.annotateDeployments("crossplane.io/paused-")
		s.awaitDeliveries("Delivered", 1)
		s.WantEqual("the image of the second commit", s.image, s.awaitRunning(s.commit))
		s.WantEqual("the branch", s.branch, s.headOfBranch())
		s.awaitRunning(s.pushSourceCommit("main", "3"))
		s.WantEqual("the revision of the third commit", int64(3), scene.Number(s.Now(s.app), "status", "deployment", "revision"))
	}
}

// A restoredSource is an Application whose cluster is restored, with the last commit, its image and the branch from before the loss.
type restoredSource struct {
	*sourceStage

	commit, image, branch string
}

// pauseRestored pauses the composites of a restored Application.
func (s *restoredSource) pauseRestored() {
	s.T.Helper()
	if s.app.GetAPIVersion() == claims {
		s.annotateComposed("crossplane.io/paused=true")
	}
	s.annotateDeployments("crossplane.io/paused=true")
}

// resumeApplication resumes the composite of an Application that is a claim, once its spec is the spec of the claim.
func (s *restoredSource) resumeApplication() {
	s.T.Helper()
	if s.app.GetAPIVersion() == claims {
		s.Run("wait", applications, "--all", "-n", s.Namespace, "--for=condition=Synced", "--timeout="+patience.Limit.String())
		s.annotateComposed("crossplane.io/paused-")
	}
}
