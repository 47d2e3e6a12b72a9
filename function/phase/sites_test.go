package phase

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/evidence"
)

// TestClusterWaitStatus compares why a Site waits for its cluster with what the SiteSync reports of it.
func TestClusterWaitStatus(t *testing.T) {
	s := ledger.State{Head: ledger.Head{Epoch: 1}, Current: newRevision(2)}
	s.Current.Plan = []ledger.Step{{Sites: []string{"edge1"}}}
	unknown := v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "It is not known yet whether the Site's cluster is ready."}
	cases := map[string]struct {
		reason string
		change func(*siteView)
		want   v1alpha1.SiteStatus
	}{
		"Waits": {
			reason: "The SiteSync says why the cluster is not ready.", change: func(*siteView) {},
			want: v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "ClusterNotReady: Its control plane starts."},
		},
		"NoMessage": {
			reason: "A reason stands alone where the SiteSync says no more.", want: v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "ClusterNotReady"},
			change: func(f *siteView) {
				f.observations["edge1"] = deliveryv1alpha1.SiteObservation{State: deliveryv1alpha1.SiteWaitingForCluster, Reason: "ClusterNotReady"}
			},
		},
		"NoReason": {
			reason: "A SiteSync without a reason does not take away what is said.", want: unknown,
			change: func(f *siteView) {
				f.observations["edge1"] = deliveryv1alpha1.SiteObservation{State: deliveryv1alpha1.SiteWaitingForCluster, Message: "Words."}
			},
		},
		"Pending": {
			reason: "A Site that the SiteSync did not look at yet is not known.", want: unknown,
			change: func(f *siteView) {
				f.observations["edge1"] = deliveryv1alpha1.SiteObservation{State: deliveryv1alpha1.SitePending, Reason: "Pending"}
			},
		},
		"OtherPosition": {
			reason: "What was observed for another revision says nothing.", want: unknown,
			change: func(f *siteView) { f.ObservedSync.Status.AtProvider.Position.Revision = 1 },
		},
		"NoSite":     {reason: "A Site that the SiteSync does not name is not known.", want: unknown, change: func(f *siteView) { clear(f.observations) }},
		"NoRevision": {reason: "Without a revision nothing is known of a Site.", want: unknown, change: func(f *siteView) { f.State.Current = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sync := &deliveryv1alpha1.SiteSync{}
			sync.Status.AtProvider.Position = new(s.Position())
			f := &siteView{Input: &Input{Comparison: evidence.Comparison{State: s, ObservedSync: sync}}, observations: map[string]deliveryv1alpha1.SiteObservation{
				"edge1": {State: deliveryv1alpha1.SiteWaitingForCluster, Reason: "ClusterNotReady", Message: "Its control plane starts."},
			}}
			tc.change(f)
			if diff := cmp.Diff(tc.want, f.clusterWaitStatus("edge1")); diff != "" {
				t.Errorf("\n%s\nclusterWaitStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
