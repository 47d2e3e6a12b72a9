package deployment

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
)

// newHome returns the GitDelivery of a repository that holds a ledger, which is not ready for a reason. With pending it is asked to record an event.
func newHome(reason xpv2.ConditionReason, pending bool) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"}
	d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{}
	d.Status.AtProvider.Ledger = &ledger.State{}
	if pending {
		d.Spec.ForProvider.Ledger.Events = []ledger.Event{{Opened: &ledger.Opened{Ledger: "uid-1", Home: "default"}}}
	}
	d.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: reason, Message: "Words."})
	return d
}

// TestWithUnreachableHome says which reasons of a GitDelivery mean that the ledger cannot be read or written.
func TestWithUnreachableHome(t *testing.T) {
	const begins = "The ledger is in the repository of ClusterProviderConfig \"default\", which cannot be read or written: "
	type result struct {
		Message   string
		IsOverdue bool
	}
	cases := map[string]struct {
		reason  string
		why     xpv2.ConditionReason
		pending bool
		want    result
	}{
		"Unreachable": {
			reason: "A server that does not answer is named.",
			why:    deliveryv1alpha1.ReasonUnreachable, pending: true, want: result{Message: begins + "Unreachable: Words."},
		},
		"Idle": {
			reason: "A server that does not answer is named also while nothing is to be recorded.",
			why:    deliveryv1alpha1.ReasonUnreachable, want: result{Message: begins + "Unreachable: Words."},
		},
		"Auth": {
			reason: "A server that refuses the credentials does not let the provider record.",
			why:    deliveryv1alpha1.ReasonAuthFailed, want: result{Message: begins + "AuthFailed: Words."},
		},
		"Trust": {
			reason: "A server that is not trusted is not asked.",
			why:    deliveryv1alpha1.ReasonTrustFailed, want: result{Message: begins + "TrustFailed: Words."},
		},
		"Credentials": {
			reason: "A Secret that is gone keeps the provider out.",
			why:    deliveryv1alpha1.ReasonCredentialsGone, want: result{Message: begins + "CredentialsGone: Words."},
		},
		"MemoryUnknown": {
			reason: "A home that was never read is not known.",
			why:    deliveryv1alpha1.ReasonMemoryUnknown, want: result{Message: begins + "MemoryUnknown: Words."},
		},
		"Overdue": {
			reason: "Events that were not recorded within deliveryTimeout are overdue.", why: deliveryv1alpha1.ReasonDeliveryTimedOut, pending: true,
			want: result{Message: begins + "DeliveryTimedOut: Words.", IsOverdue: true},
		},
		"LateTrees": {reason: "Late trees do not concern the ledger, which was recorded.", why: deliveryv1alpha1.ReasonDeliveryTimedOut},
		"Refused":   {reason: "A refusal of trees does not keep the ledger from being recorded.", why: deliveryv1alpha1.ReasonPolicyDenied, pending: true},
		"Pushing":   {reason: "A push that is under way is not a failure.", why: deliveryv1alpha1.ReasonPushing, pending: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			follower := newHome(deliveryv1alpha1.ReasonUnreachable, false)
			follower.Spec.ProviderConfigReference.Name, follower.Spec.ForProvider.Ledger = "other", nil
			o := Observed{deliveries: map[string]*deliveryv1alpha1.GitDelivery{"delivery-a": follower, "delivery-b": newHome(tc.why, tc.pending)}}
			d := decider{observed: o}.withUnreachableHome(Decision{}, step.Home{ConfigRef: "default", IsKnown: true})
			if diff := cmp.Diff(tc.want, result{Message: d.LedgerUnreachable, IsOverdue: d.IsLedgerOverdue}); diff != "" {
				t.Errorf("\n%s\nwithUnreachableHome(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHomeAway lets the home of a ledger not answer for longer than deliveryTimeout, at each moment at which something has to be recorded. Nothing is
// rejected for it, neither while it is away nor when it is back.
func TestHomeAway(t *testing.T) {
	cases := map[string]struct {
		reason string
		// before is called before the home goes away, after the intent of revision 2 was written.
		before func(w *world)
		// edit is another intent while the home is away. Empty means none.
		edit  string
		phase string
		// revision at the end.
		revision int
	}{
		"Ordered": {reason: "A revision that cannot be ordered is ordered when the home is back.", before: func(*world) {}, phase: "Delivering", revision: 2},
		"OrderedAndEdited": {
			reason: "A revision that was not ordered gives way to the next request.", before: func(*world) {}, phase: "Delivering", revision: 2,
			edit: `{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 4}`,
		},
		"Judged": {
			reason: "A verdict that cannot be recorded is recorded when the home is back.", phase: "Validating", revision: 2,
			before: func(w *world) { w.apply(w.call()); w.deliver() },
		},
		"JudgedAndEdited": {
			reason: "A revision whose verdict cannot be recorded is followed by the next one, and is not rejected.", phase: "Delivering", revision: 3,
			edit:   `{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 4}`,
			before: func(w *world) { w.apply(w.call()); w.deliver() },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			tc.before(w)
			home := slices.Collect(maps.Values(w.repositories))[0]
			home.dead = true
			w.apply(w.call())
			w.deliver()
			out := w.call()
			w.wantCondition(tc.reason, out, "Recorded", corev1.ConditionFalse, "LedgerUnreachable")
			w.wantCondition(tc.reason, out, "Stalled", corev1.ConditionFalse, "Progressing")

			w.in.Now.Time = w.in.Now.Add(time.Hour) // deliveryTimeout is 10 minutes.
			w.deliver()
			if tc.edit != "" {
				w.say(tc.edit)
				w.apply(w.call())
				w.deliver()
				w.in.Now.Time = w.in.Now.Add(time.Hour)
				w.deliver()
			}
			out = w.call()
			w.wantCondition(tc.reason, out, "Recorded", corev1.ConditionFalse, "LedgerUnreachable")
			w.wantCondition(tc.reason, out, "Stalled", corev1.ConditionTrue, "LedgerUnreachable")
			if diff := cmp.Diff(tc.phase, string(out.Status.Phase)); diff != "" {
				t.Errorf("\n%s\nRun(...): phase: -want, +got:\n%s", tc.reason, diff)
			}

			home.dead = false
			out = w.settle()
			trees := []string{fmt.Sprintf("%d edge1 Desired", tc.revision), fmt.Sprintf("%d edge2 Desired", tc.revision)}
			w.want(tc.reason, out, view{Phase: "Succeeded", Ready: true, Revision: int64(tc.revision), Sites: "2/2", Trees: trees})
			for _, past := range w.ledger().History {
				if past.Verdict == nil || past.Verdict.Result != ledger.VerdictVerified {
					t.Errorf("\n%s\nRun(...): the ledger says of revision %d: %v", tc.reason, past.Number, past.Verdict)
				}
			}
		})
	}
}

// TestFollowsLedger has a SiteSync of the first step of revision 2, and a home that may go to the second step by its mandate.
func TestFollowsLedger(t *testing.T) {
	plain := []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}}
	weighted := []ledger.Step{{Sites: []string{"edge1", "edge2"}, Weight: new(int32(0))}, {Weight: new(int32(100))}}
	cases := map[string]struct {
		reason string
		change func(o *Observed, s *ledger.State)
		want   bool
	}{
		"Follows": {reason: "The provider observes the second step without another spec.", change: func(*Observed, *ledger.State) {}, want: true},
		"Lost":    {reason: "A lost SiteSync is composed again.", change: func(o *Observed, _ *ledger.State) { o.sync = nil }},
		"Silent": {
			reason: "A provider that shows no mandate needs the spec, even if the SiteSync followed before.",
			change: func(o *Observed, _ *ledger.State) {
				o.deliveries["home"].Status.AtProvider.Mandate = nil
				o.sync.Status.AtProvider.Position = &ledger.Position{Epoch: 1, Revision: 2, Step: 1}
			},
		},
		"Next": {reason: "The next revision needs a spec.", change: func(_ *Observed, s *ledger.State) { s.Current.Number = 3 }},
		"Tracks": {reason: "A canary goes from step to step without another spec.", change: func(_ *Observed, s *ledger.State) {
			s.Current.Track, s.Current.Plan, s.Current.Stable, s.Cursor.Stage = ledger.TrackGreen, weighted, 1, ledger.StageSteps
			s.History = []ledger.Past{{Number: 1, Track: ledger.TrackBlue}}
		}, want: true},
		"Move": {reason: "A move to tracks needs the spec of each step.", change: func(_ *Observed, s *ledger.State) {
			s.Current.Track, s.Current.Plan, s.Current.Stable, s.Cursor.Stage = ledger.TrackGreen, weighted, 1, ledger.StageSteps
			s.History = []ledger.Past{{Number: 1}}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 5}, Current: &ledger.Revision{Number: 2, Plan: plain}}
			sites := []deliveryv1alpha1.SiteTree{{Name: "edge1", Tree: "one"}, {Name: "edge2", Tree: "two", Wave: 1}}
			home, recorded := &deliveryv1alpha1.GitDelivery{}, *s.DeepCopy()
			home.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{}
			home.Spec.ForProvider.Mandate = &deliveryv1alpha1.Mandate{Ledger: "l", Epoch: 1, Revision: 2}
			home.Status.AtProvider.Ledger, home.Status.AtProvider.Mandate = &recorded, &deliveryv1alpha1.MandateStatus{Revision: 2}
			o := Observed{deliveries: map[string]*deliveryv1alpha1.GitDelivery{"home": home}}
			o.sync = compose.SyncOf(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, s, sites)
			s.Cursor.Step = 1
			tc.change(&o, &s)
			desired := compose.SyncOf(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, s, sites)
			if got := (decider{observed: o}).followsLedger(desired, s); got != tc.want {
				t.Errorf("\n%s\nfollowsLedger(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
