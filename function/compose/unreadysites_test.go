package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestRetainUnreadySites changes one thing at a time about Site a, whose cluster is not ready, in a revision that comes to Site c too.
func TestRetainUnreadySites(t *testing.T) {
	type site struct {
		wanted, observed map[string]*deliveryv1alpha1.GitDelivery
		sync             *deliveryv1alpha1.SiteSync
		clustered        map[string]bool
	}
	s := inWaves(1)
	now := s.Position()
	const waitingTree, through = "d a Keep 0", "d a Desired tree-a1"
	cases := map[string]struct {
		reason string
		change func(*site)
		want   string
		awaits bool
	}{
		"Waits": {reason: "A Site whose cluster is not ready keeps its tree.", change: func(*site) {}, want: waitingTree, awaits: true},
		"Admitted": {
			reason: "A cluster that was seen ready for the tree lets its Site through, which is asked for only then.",
			change: func(w *site) { w.sync.Status.AtProvider.Sites[0].Cluster.PassedAt = &metav1.Time{} }, want: through, awaits: true,
		},
		"Through": {
			reason: "The tree of a Site that was let through is requested from then on.",
			change: func(w *site) { w.observed["d"] = asking(now, "a", "c") }, want: through,
		},
		"Unmanaged": {reason: "A Site without a cluster to wait for gets the revision at once.", change: func(w *site) { w.clustered = nil }, want: through},
		"New":       {reason: "A revision that was never asked for waits, and does not go on alone.", change: func(w *site) { w.observed = nil }, want: waitingTree},
		"OtherOne": {reason: "A Site that was let through for the previous revision is let through again.", want: waitingTree, change: func(w *site) {
			previous := now
			previous.Revision = 1
			w.observed["d"] = asking(previous, "a", "c")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			waiting := asking(now, "a", "c")
			keep(waiting)
			sync := &deliveryv1alpha1.SiteSync{}
			sync.Spec.ForProvider.Sites = []deliveryv1alpha1.SiteTree{{Name: "a", Tree: "tree-a"}}
			sync.Status.AtProvider.Position = &now
			sync.Status.AtProvider.Sites = []deliveryv1alpha1.SiteObservation{{Name: "a", Cluster: &deliveryv1alpha1.SiteClusterObservation{}}}
			w := &site{
				wanted:   map[string]*deliveryv1alpha1.GitDelivery{"d": asking(now, "a", "c")},
				observed: map[string]*deliveryv1alpha1.GitDelivery{"d": waiting}, sync: sync, clustered: map[string]bool{"a": true},
			}
			tc.change(w)
			if diff := cmp.Diff([]string{tc.want, "d c Desired tree-c1"}, actions(RetainUnreadySites(w.wanted, w.observed, w.sync, s, w.clustered))); diff != "" {
				t.Errorf("\n%s\nRetainUnreadySites(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got := HasUnreadySites(w.wanted, w.observed, s, w.clustered); got != tc.awaits {
				t.Errorf("\n%s\nHasUnreadySites(...): want %t, got %t", tc.reason, tc.awaits, got)
			}
		})
	}
}
