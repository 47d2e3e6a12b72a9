package mandate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestFollowerFails has a SiteSync that followed the ledger and reports a failure, and a home whose spec names the step before.
func TestFollowerFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *scene, sync *v1alpha1.SiteSync)
		want   []string
	}{
		"Failed": {
			reason: "A step that an engine could not apply is rejected.",
			change: func(*scene, *v1alpha1.SiteSync) {},
			want:   []string{"Rejected SyncFailed", "RolledBack"},
		},
		"Earlier": {
			reason: "A failure at another position does not count.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Status.AtProvider.Position.Step = 0 },
		},
		"Later": {
			reason: "A SiteSync whose spec is at a later position than its status says nothing.",
			change: func(_ *scene, sync *v1alpha1.SiteSync) { sync.Spec.ForProvider.Position.Attempt = 1 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newWaves(t)
			c.withoutGates()
			sync := c.observe(corev1.ConditionFalse, "Failed")
			sync.Status.AtProvider.Position.Step = 1
			sync.Status.AtProvider.Sites = []v1alpha1.SiteObservation{{Name: "edge1", Tree: "two1"}, {Name: "edge2", Tree: "two2", DesiredTree: "later2"}}
			c.goOn(advanced(1, 0))
			c.Applied = c.recorded.Position()
			tc.change(c, sync)
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describe(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
