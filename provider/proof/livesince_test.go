package proof

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestMovedSite has a Site that is live since noon by the engine of a cluster. A minute later the engine of its Site has the same tree.
func TestMovedSite(t *testing.T) {
	holds := func(s *SiteFacts) { s.Engine.StillApplied = true }
	cases := map[string]struct {
		reason    string
		last      string
		site      SiteFacts
		target    string
		state     v1alpha1.SiteState
		liveSince time.Time
	}{
		"Same": {reason: "A Site stays live since noon.", last: "a", site: live(), target: "a", state: v1alpha1.SiteLive, liveSince: noon()},
		"Moved": {
			reason: "The tree runs in another cluster since now.",
			last:   "a", site: live(), target: "b", state: v1alpha1.SiteLive, liveSince: noon().Add(time.Minute),
		},
		"Earlier": {reason: "An earlier version recorded no target.", site: live(), target: "b", state: v1alpha1.SiteLive, liveSince: noon()},
		"Unknown": {reason: "An object without a UID proves no move.", last: "a", site: live(), state: v1alpha1.SiteLive, liveSince: noon()},
		"AtWork": {
			reason: "An engine that is at work in another cluster has not applied the tree there yet.",
			last:   "a", site: says(v1alpha1.SiteReasonProgressing, holds), target: "b", state: v1alpha1.SiteSyncing,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.site.Engine.Target = tc.target
			f := testFacts(tc.site, was(positionOf(2, 0), v1alpha1.SiteLive))
			f.Last.Sites[0].Engine = &v1alpha1.EngineObservation{Target: tc.last}
			o := Decide(f).Next.Sites[0]
			got := time.Time{}
			if o.LiveSince != nil {
				got = o.LiveSince.UTC()
			}
			if diff := cmp.Diff(tc.liveSince, got); diff != "" || o.State != tc.state {
				t.Errorf("\n%s\nDecide(...): want %s, got %s; liveSince: -want, +got:\n%s", tc.reason, tc.state, o.State, diff)
			}
			if diff := cmp.Diff(tc.target, o.Engine.Target); diff != "" {
				t.Errorf("\n%s\nThe status names the present target: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
