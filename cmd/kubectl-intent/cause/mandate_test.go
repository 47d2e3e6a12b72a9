package cause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// TestMeanwhile has a revision that was rejected, and a status that the function wrote before or after that.
func TestMeanwhile(t *testing.T) {
	const (
		rejected = "Meanwhile the provider, by its mandate, rejected revision 7 (GateFailed: latency_p99 at edge2 is 812ms, not <= 500ms)"
		older    = ". The status is older: Crossplane has not called the function since."
	)
	takeBefore := func(f *cause.Facts, events int64) {
		observation := &f.Deliveries[0].Status.AtProvider
		reserved := observation.Ledger.Head
		reserved.Seq -= events
		observation.Taken = &reserved
	}
	silence := func(f *cause.Facts) {
		f.Deployment.Status.Transitions = slices.DeleteFunc(f.Deployment.Status.Transitions, func(t deploymentv1alpha1.Transition) bool {
			return t.Rejected != "" || t.To == deploymentv1alpha1.PhaseRollingBack
		})
	}
	cases := map[string]struct {
		reason string
		sample func() *samples.Sample
		change func(f *cause.Facts)
		want   string
	}{
		"RollsBack": {
			reason: "A rollback that the function does not know yet is told.", sample: samples.RollingBack,
			change: func(f *cause.Facts) { takeBefore(f, 2); silence(f) }, want: rejected + " and began to roll back to revision 5" + older,
		},
		"Restored": {
			reason: "The end of a rollback that the function does not know yet is told.", sample: samples.RolledBack,
			change: func(f *cause.Facts) { takeBefore(f, 3); silence(f) }, want: rejected + " and restored revision 5" + older,
		},
		"Rejected": {
			reason: "A rejection without a rollback is told.", sample: samples.RollingBack,
			change: func(f *cause.Facts) {
				takeBefore(f, 1)
				silence(f)
				f.Deliveries[0].Status.AtProvider.Ledger.Cursor.Attempt = 0
			}, want: rejected + older,
		},
		"Reported": {
			reason: "A status that shows the rollback is up to date.", sample: samples.RollingBack,
			change: func(f *cause.Facts) { takeBefore(f, 2) },
		},
		"EndReported": {
			reason: "A status that shows the end of the rollback is up to date.", sample: samples.RolledBack,
			change: func(f *cause.Facts) {
				takeBefore(f, 3)
				all := f.Deployment.Status.Transitions
				all[len(all)-1].Rejected, all[len(all)-1].Restored = "GateFailed", 5
			},
		},
		"EndIsLate": {
			reason: "A status that shows the rejection alone is older than the end of the rollback.", sample: samples.RolledBack,
			change: func(f *cause.Facts) {
				takeBefore(f, 3)
				for i := range f.Deployment.Status.Transitions {
					f.Deployment.Status.Transitions[i].Restored = 0
				}
			}, want: rejected + " and restored revision 5" + older,
		},
		"BySpec": {
			reason: "The function knows the events of its own spec.", sample: samples.RollingBack, change: silence,
		},
		"AllTaken": {
			reason: "Without an event after those of the spec the provider did nothing by its mandate.", sample: samples.RollingBack,
			change: func(f *cause.Facts) { takeBefore(f, 0); silence(f) },
		},
		"OtherEpoch": {
			reason: "Events of an earlier epoch are no events by the mandate.", sample: samples.RollingBack,
			change: func(f *cause.Facts) {
				takeBefore(f, 2)
				silence(f)
				f.Deliveries[0].Status.AtProvider.Taken.Epoch++
			},
		},
		"NotRejected": {
			reason: "A verified revision has nothing to tell.", sample: samples.Verified, change: func(f *cause.Facts) { takeBefore(f, 1); silence(f) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := edit(tc.sample(), tc.change)
			got := cause.FindForDeployment(f, samples.Now())
			if diff := cmp.Diff(tc.want, got.Meanwhile); diff != "" {
				t.Errorf("\n%s\nFindForDeployment(...).Meanwhile: -want, +got:\n%s", tc.reason, diff)
			}
			if strings.HasSuffix(got.Meanwhile, "..") {
				t.Errorf("\n%s\nMeanwhile ends with two full stops: %s", tc.reason, got.Meanwhile)
			}
		})
	}
}
