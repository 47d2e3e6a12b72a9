package phase

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestClusterWaitStatus compares the reason why a Site waits for its cluster with the report of the SiteSync.
func TestClusterWaitStatus(t *testing.T) {
	s := ledger.State{Head: ledger.Head{Epoch: 1}, Current: newRevision(2)}
	s.Current.Plan = []ledger.Step{{Sites: []string{"edge1"}}}
	undetermined := v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "It is not known yet whether the Site's cluster is ready."}
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
			reason: "A reason stands alone where the SiteSync says no more.",
			want:   v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "ClusterNotReady"},
			change: func(f *siteView) {
				f.observations["edge1"] = deliveryv1alpha1.SiteObservation{State: deliveryv1alpha1.SiteWaitingForCluster, Reason: "ClusterNotReady"}
			},
		},
		"NoReason": {
			reason: "A SiteSync without a reason does not remove the message.", want: undetermined,
			change: func(f *siteView) {
				f.observations["edge1"] = deliveryv1alpha1.SiteObservation{State: deliveryv1alpha1.SiteWaitingForCluster, Message: "Words."}
			},
		},
		"Pending": {
			reason: "A Site that the SiteSync did not look at yet is not known.", want: undetermined,
			change: func(f *siteView) {
				f.observations["edge1"] = deliveryv1alpha1.SiteObservation{State: deliveryv1alpha1.SitePending, Reason: "Pending"}
			},
		},
		"OtherPosition": {
			reason: "An observation of another revision proves nothing.", want: undetermined,
			change: func(f *siteView) { f.ObservedSync.Status.AtProvider.Position.Revision = 1 },
		},
		"NoSite":     {reason: "A Site that the SiteSync does not name is not known.", want: undetermined, change: func(f *siteView) { clear(f.observations) }},
		"NoRevision": {reason: "Without a revision nothing is known of a Site.", want: undetermined, change: func(f *siteView) { f.State.Current = nil }},
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

// TestSiteStatus looks at a Site that its delivery leaves as it is.
func TestSiteStatus(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*siteView)
		want   v1alpha1.SiteStatus
	}{
		"Rollback": {
			reason: "A Site that a rollback leaves unchanged shows its current tree.",
			change: func(f *siteView) { f.State.Cursor.Attempt, f.State.Verdict = 1, verdicts()[2] },
			want:   v1alpha1.SiteStatus{State: v1alpha1.SiteDelivered, Commit: "0123456789abcdef", Message: "The rollback does not change it."},
		},
		"Rejected": {
			reason: "A revision that was rejected before it came to a Site says there why.",
			change: func(f *siteView) {
				f.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedDeliveryRefused}
			},
			want: v1alpha1.SiteStatus{State: v1alpha1.SiteFailed, Message: rolloutv1alpha1.RejectedDeliveryRefused},
		},
		"Cluster": {
			reason: "A Site that a revision leaves as it is waits for its cluster.", change: func(*siteView) {},
			want: v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "It is not known yet whether the Site's cluster is ready."},
		},
		"Wave": {
			reason: "A Site whose wave has not come waits for that.", change: func(f *siteView) { staged(f.Input, 0); f.State.Current.Plan[0].Sites = []string{"z"} },
			want: v1alpha1.SiteStatus{State: v1alpha1.SitePending, Message: "Its wave has not come."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := &Input{}
			place(in, true, deliveryv1alpha1.ActionKeep, done, done)
			f := &siteView{Input: in}
			tc.change(f)
			if diff := cmp.Diff(tc.want, siteStatus(f, 0, &in.Desired["b"].Spec.ForProvider.Trees[0], in.Observed["b"])); diff != "" {
				t.Errorf("\n%s\nsiteStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHasWrittenPath asks whether revision 2, which was rejected, came to a directory.
func TestUnprovenSite(t *testing.T) {
	observed := deliveryv1alpha1.SiteObservation{Name: "edge1", State: deliveryv1alpha1.SiteLive, Unproven: []string{"Deployment shop/worker: annotation a: b", "Service shop/web: kind c"}}
	want := v1alpha1.SiteStatus{State: v1alpha1.SiteLive, Message: "Not proven: Deployment shop/worker: annotation a: b; Service shop/web: kind c"}
	if diff := cmp.Diff(want, observedSiteStatus(observed, v1alpha1.SiteStatus{})); diff != "" {
		t.Errorf("\nA live Site names the objects that the proof does not cover.\nobservedSiteStatus(...): -want, +got:\n%s", diff)
	}
}

func TestHasWrittenPath(t *testing.T) {
	cases := map[string]struct {
		reason  string
		verdict string
		tree    deliveryv1alpha1.DeliveredTree
		want    bool
	}{
		"Failed": {reason: "A revision that failed at a Site was there.", verdict: rolloutv1alpha1.RejectedSyncFailed, want: true},
		"Written": {
			reason:  "A delivery that holds a tree of the revision in the directory brought it there.",
			verdict: rolloutv1alpha1.RejectedDeliveryRefused, tree: deliveryv1alpha1.DeliveredTree{Path: "a", Revision: 2}, want: true,
		},
		"Other": {
			reason:  "A tree in another directory does not count.",
			verdict: rolloutv1alpha1.RejectedDeliveryRefused, tree: deliveryv1alpha1.DeliveredTree{Path: "b", Revision: 2},
		},
		"Earlier": {
			reason:  "A tree of an earlier revision does not count.",
			verdict: rolloutv1alpha1.RejectedDeliveryTimedOut, tree: deliveryv1alpha1.DeliveredTree{Path: "a", Revision: 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{tc.tree}
			s := ledger.State{Current: newRevision(2), Verdict: &ledger.Verdict{Result: ledger.VerdictRejected, Reason: tc.verdict}}
			if got := hasWrittenPath(d, s, "a"); got != tc.want {
				t.Errorf("\n%s\nhasWrittenPath(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestDeliveredSiteStatus looks at a Site whose repository holds the tree.
func TestDeliveredSiteStatus(t *testing.T) {
	const delivered = "0123456789abcdef"
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   v1alpha1.SiteStatus
	}{
		"Live": {
			reason: "A Site that runs the tree names the commit that it runs.",
			change: func(*Input) {}, want: v1alpha1.SiteStatus{State: v1alpha1.SiteLive, Commit: "fedcba9876543210"},
		},
		"NoCommit": {
			reason: "Where the engine names no commit, that of the repository stands.",
			change: func(f *Input) { f.ObservedSync.Status.AtProvider.Sites[0].Commit = "" },
			want:   v1alpha1.SiteStatus{State: v1alpha1.SiteLive, Commit: delivered},
		},
		"Unwatched": {
			reason: "Of a Site that the SiteSync is not to observe the delivery alone is known.",
			change: func(f *Input) { f.Sync.Spec.ForProvider.Sites = f.Sync.Spec.ForProvider.Sites[1:] },
			want:   v1alpha1.SiteStatus{State: v1alpha1.SiteDelivered, Commit: delivered},
		},
		"NoEngine": {
			reason: "Of a Site without an engine the delivery alone is known.",
			change: func(f *Input) { f.Unobserved["a"] = true }, want: v1alpha1.SiteStatus{State: v1alpha1.SiteDelivered, Commit: delivered},
		},
		"Unproven": {
			reason: "A Site without an engine whose delivery does not count says so.",
			change: func(f *Input) { f.Unobserved["a"] = false },
			want:   v1alpha1.SiteStatus{State: v1alpha1.SiteUnobserved, Commit: delivered, Message: "No engine reports the running tree of the Site."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := judged(nil, -1, done, done, live)
			tc.change(f)
			if diff := cmp.Diff(tc.want, deliveredSiteStatus(newSiteView(f), &f.Desired["a"].Spec.ForProvider.Trees[0], delivered)); diff != "" {
				t.Errorf("\n%s\ndeliveredSiteStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
