package sites

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// deleteManaged deletes all that Crossplane composed in the scene's namespace, while the deployments live.
func (r *trial) deleteManaged() {
	r.T.Helper()
	r.Run("delete", "managed", "--all", "-n", r.Namespace, "--wait", "--timeout=50s")
}

// wantUntouched waits until the deployment has succeeded with a revision, and fails the test if anything of it was delivered again.
func (r *trial) wantUntouched(o *unstructured.Unstructured, revision int64, commits int) {
	r.T.Helper()
	seen := r.Await(o, "as it was before", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "") &&
			scene.Number(u, "status", "verifiedRevision") == revision && scene.Number(u, "status", "liveRevision") == revision
	})
	if got := scene.Number(seen, "status", "revision"); got != revision {
		r.T.Errorf("revision: want %d, got %d", revision, got)
	}
	if got := len(r.Commits()); got != commits {
		r.T.Errorf("commits: want %d, got %d", commits, got)
	}
	if got := r.replicas(); got != int32(revision) {
		r.T.Errorf("replicas at the Site: want %d, got %d", revision, got)
	}
}

// TestDeletedObjects deletes the GitDelivery, the SiteSync and the Gate of a deployment that lives: once when all is well, and once while a
// Gate measures. Nothing is delivered again, no revision is made, and the Gate measures from its beginning.
func TestDeletedObjects(t *testing.T) {
	t.Parallel()
	r := onTrial(newStage(t, siteDirectory))
	r.Succeed(r.judged(1, 1))
	o := r.judged(2, 1)
	r.Succeed(o)
	commits := len(r.Commits())
	sync := r.composed("SiteSync").GetUID()
	r.deleteManaged()
	r.Until("the SiteSync is there again", scene.Patience, func() bool {
		all := r.Inside("get", "sitesyncs.delivery.intentplane.dev", "-o", "jsonpath={.items[*].metadata.uid}")
		return all != "" && all != string(sync)
	})
	r.wantUntouched(o, 2, commits)

	next := r.judged(3, 30)
	r.Reach(next, "validated", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == 3 && scene.Field(u, "status", "phase") == "Validating"
	})
	r.Until("the Gate measures", scene.Patience, func() bool {
		reasons := r.Inside("get", "gates.rollout.intentplane.dev", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].reason}`)
		return strings.Contains(reasons, string(rolloutv1alpha1.ReasonMeasuring))
	})
	r.deleteManaged()
	r.wantUntouched(next, 3, commits+1)
}
