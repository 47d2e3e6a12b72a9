package claims

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestTransitionEvents compares the events about both shapes with their statuses, and finds the metrics.
func TestTransitionEvents(t *testing.T) {
	t.Parallel()
	for name, shape := range shapesOfClaims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			o := shape.describe(s, "shop", intentWithReplicas(s, 1, "edge1"))
			s.Succeed(o)
			o = s.Now(o)
			log, _, err := unstructured.NestedSlice(o.Object, "status", "transitions")
			if err != nil {
				t.Fatal(err)
			}
			want := []string{}
			for _, entryValue := range log {
				entry, _ := entryValue.(map[string]any)
				from, _ := entry["from"].(string)
				target, _ := entry["to"].(string)
				if from == "" {
					want = append(want, "Transitioned to "+target)
					continue
				}
				want = append(want, "Transitioned from "+from+" to "+target)
			}
			slices.Sort(want)
			s.Until("each transition has its event", patience.Limit, func() bool { return len(transitionEvents(s, o)) >= len(want) })
			if diff := cmp.Diff(want, transitionEvents(s, o)); diff != "" {
				t.Errorf("events: -want (status), +got:\n%s", diff)
			}
			ctx, cancel := s.Context()
			defer cancel()
			m, err := cp.ProviderMetrics(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if m.Sum("intentdeployment_phase_transitions_total", map[string]string{"from": "Validating", "to": "Succeeded"}) == 0 {
				t.Error("no transition is counted")
			}
			functionMetrics, err := cp.FunctionMetrics(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, stage := range []string{"Compiling", "Rendering"} {
				if functionMetrics.Count("intentplane_function_stage_duration_seconds", map[string]string{"stage": stage}) == 0 {
					t.Errorf("the function measured no %s", stage)
				}
			}
			if m.Sum("intentplane_git_operations_total", map[string]string{"operation": "push", "class": "Succeeded"}) == 0 {
				t.Error("no push is counted")
			}
		})
	}
}
