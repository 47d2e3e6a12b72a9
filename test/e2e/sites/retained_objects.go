package sites

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// deleteManaged deletes all that Crossplane composed in the scene's namespace, while the deployments live.
func (r *trial) deleteManaged() {
	r.T.Helper()
	r.Run("delete", "managed", "--all", "-n", r.Namespace, "--wait", "--timeout="+patience.Limit.String())
}

// wantUntouched waits until the deployment has succeeded with a revision, and fails the test if anything of it was delivered again.
func (r *trial) wantUntouched(o *unstructured.Unstructured, revision int64, commits int) {
	r.T.Helper()
	observed := r.Await(o, "as it was before", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "") &&
			scene.Number(u, "status", "verifiedRevision") == revision && scene.Number(u, "status", "liveRevision") == revision
	})
	if got := scene.Number(observed, "status", "revision"); got != revision {
		r.T.Errorf("revision: want %d, got %d", revision, got)
	}
	if got := len(r.Commits()); got != commits {
		r.T.Errorf("commits: want %d, got %d", commits, got)
	}
	if got := r.replicasAtSite(); got != int32(revision) {
		r.T.Errorf("replicas at the Site: want %d, got %d", revision, got)
	}
}
