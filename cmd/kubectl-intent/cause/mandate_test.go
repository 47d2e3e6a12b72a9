package cause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// TestMeanwhile has a revision that the provider went on with by its mandate, and a status that the function wrote before or after that.
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
	inSecondWave := func(f *cause.Facts, message string) {
		s := f.Deliveries[0].Status.AtProvider.Ledger
		s.Current.Plan, s.Current.Track, s.Cursor = []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}, "", ledger.Cursor{Step: 1}
		f.Deployment.Status.Canary = nil
		f.Deployment.Status.Delivery.Sites = map[string]deploymentv1alpha1.SiteStatus{"edge2": {State: deploymentv1alpha1.SitePending, Message: message}}
	}
	canary := func() *samples.Sample { return samples.Canary(false) }
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
		"VerdictReported": {
			reason: "A status that shows the verdict is up to date.", sample: samples.Verified,
			change: func(f *cause.Facts) { takeBefore(f, 1); silence(f) },
		},
		"Verified": {
			reason: "A verdict that the function does not know yet is told.", sample: samples.Verified,
			change: func(f *cause.Facts) { takeBefore(f, 1); f.Deployment.Status.VerifiedRevision = 5 },
			want:   "Meanwhile the provider, by its mandate, verified revision 7" + older,
		},
		"Step": {
			reason: "A step that the function does not know yet is told.", sample: canary,
			change: func(f *cause.Facts) { takeBefore(f, 1); f.Deliveries[0].Status.AtProvider.Ledger.Cursor.Step = 2 },
			want:   "Meanwhile the provider, by its mandate, began step 3 of 4 of revision 7" + older,
		},
		"StepReported": {
			reason: "A status that shows the step is up to date.", sample: canary, change: func(f *cause.Facts) { takeBefore(f, 1) },
		},
		"Wave": {
			reason: "A wave that the function does not know yet is told.", sample: canary,
			change: func(f *cause.Facts) { takeBefore(f, 1); inSecondWave(f, deploymentv1alpha1.SiteMessageWaveAwaited) },
			want:   "Meanwhile the provider, by its mandate, began wave 2 of 2 of revision 7" + older,
		},
		"WaveReported": {
			reason: "A status that shows the wave is up to date.", sample: canary, change: func(f *cause.Facts) { takeBefore(f, 1); inSecondWave(f, "") },
		},
		"Held": {
			reason: "The reason why the provider holds the next step back is told.", sample: canary,
			change: func(f *cause.Facts) {
				m := &deliveryv1alpha1.MandateStatus{Revision: 7, Hold: deliveryv1alpha1.HoldClaimChanged}
				f.Deliveries[0].Status.AtProvider.Mandate = m
			},
			want: "The provider holds the next step of revision 7 back: the spec was edited, and Crossplane has not called the function since.",
		},
		"HeldBefore": {
			reason: "A hold of the revision before is over.", sample: canary,
			change: func(f *cause.Facts) {
				m := &deliveryv1alpha1.MandateStatus{Revision: 6, Hold: deliveryv1alpha1.HoldClaimChanged}
				f.Deliveries[0].Status.AtProvider.Mandate = m
			},
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
