package sites

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestDeletedObjects deletes the GitDelivery, the SiteSync and the Gate of a deployment that lives: once when all is well, and once while a
// Gate measures. Nothing is delivered again, no revision is made, and the Gate measures from its beginning.
func TestDeletedObjects(t *testing.T) {
	t.Parallel()
	r := newMeasuredTrial(newSiteStage(t, siteDirectory))
	r.Succeed(r.describeJudged(1, 1))
	o := r.describeJudged(2, 1)
	r.Succeed(o)
	commits := len(r.Commits())
	sync := r.composedObject("SiteSync").GetUID()
	r.deleteManaged()
	r.Until("the SiteSync is there again", patience.Limit, func() bool {
		all := r.Inside("get", "sitesyncs.delivery.intentplane.dev", "-o", "jsonpath={.items[*].metadata.uid}")
		return all != "" && all != string(sync)
	})
	r.wantUntouched(o, 2, commits)

	next := r.describeJudged(3, 90) // The measurement takes so long that a busy machine observes it.
	r.Reach(next, "validated", func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == 3 && scene.Field(u, "status", "phase") == "Validating"
	})
	r.Until("the Gate measures", patience.Limit, func() bool {
		reasons := r.Inside("get", "gates.rollout.intentplane.dev", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].reason}`)
		return strings.Contains(reasons, string(rolloutv1alpha1.ReasonMeasuring))
	})
	r.deleteManaged()
	r.wantUntouched(next, 3, commits+1)
}
