package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestPromote asks to release the second of two waves, neither of which waits for a person.
func TestPromote(t *testing.T) {
	type result struct {
		Revision   int64
		IsPromoted bool
		Results    string
	}
	cases := map[string]struct {
		reason string
		say    string
		want   result
	}{
		"Unpaused": {
			reason: "A step that no pause holds back cannot be released, and the order stays as it is.",
			want:   result{Revision: 2, Results: "p=UnknownStep"},
		},
		"Next": {
			reason: "A call that starts revision 3 refuses a request about revision 2.",
			say:    `{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 4}`,
			want:   result{Revision: 3, Results: "p=Stale"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
			w.settle()
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			w.apply(w.call())
			w.deliver()
			w.ask("p", 2, action("Promote"), func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Step = new(int32(1)) })
			if tc.say != "" {
				w.say(tc.say)
			}
			out := w.call()
			got := result{Results: w.updated(out).Results}
			for _, d := range w.deliveries(out) {
				got.Revision = max(got.Revision, d.Spec.ForProvider.Position.Revision)
				for _, e := range d.Spec.ForProvider.Ledger.Events {
					got.IsPromoted = got.IsPromoted || e.Promoted != nil
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
