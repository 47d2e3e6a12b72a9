package sites

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestPassesByDefaultRules delivers a healthy service with objectives alone: no rules, and a Blueprint of the quickstart. As long as it has no
// requests it is neither rejected nor passed; without a single error among its first requests it succeeds.
func TestPassesByDefaultRules(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	r.Apply(r.Blueprint("1.0.0", "before"))
	r.Apply(r.measuredBlueprint())
	o := r.Claim(claim, fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q],
		"slos": {"latency_p99": "<= 500ms", "error_rate": "< 1 %%", "availability": ">= 99 %%"}}`, r.Site("edge1")))
	r.Apply(o)
	// Crossplane writes the conditions of a claim and its status one after the other.
	r.Until("the claim says that its Gate waits for requests", patience.Limit, func() bool {
		now := r.Now(o)
		return scene.Is(now, "Validated", corev1.ConditionUnknown, "NoData") && strings.Contains(scene.Field(now, "status", "message"), "waits for data")
	})
	r.serveQuickly()
	r.Until("Succeeded", patience.Limit, func() bool { return scene.Field(r.Now(o), "status", "phase") == "Succeeded" })
	results, _, err := unstructured.NestedSlice(r.Now(o).Object, "status", "validationResults")
	r.Must(err)
	got := map[string]any{}
	for _, result := range results {
		result := result.(map[string]any)
		got[fmt.Sprint(result["name"])] = result["passed"]
	}
	if diff := cmp.Diff(map[string]any{"latency_p99": true, "error_rate": true, "availability": true}, got); diff != "" {
		t.Errorf("checks that judged the claim: -want, +got:\n%s", diff)
	}
	r.AwaitCommits(1)
}
