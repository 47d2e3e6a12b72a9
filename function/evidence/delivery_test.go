package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func newOrder(revision int64, request string) rolloutv1alpha1.Order {
	return rolloutv1alpha1.Order{
		Revision: revision, Request: request, Intent: "intent-" + request, DigestScheme: digest.Scheme, RendererVersion: 1,
		Plan: []rolloutv1alpha1.Step{{Sites: []string{"edge1"}}}, Steps: 1,
	}
}

func changedOrder(o rolloutv1alpha1.Order, change func(*rolloutv1alpha1.Order)) rolloutv1alpha1.Order {
	change(&o)
	return o
}

// newDelivery returns a delivery that asks for the position of an order, to a repository that was brought to another one, or to none.
func newDelivery(spec rolloutv1alpha1.Order, done *rolloutv1alpha1.Order) *deliveryv1alpha1.GitDelivery {
	d, position := &deliveryv1alpha1.GitDelivery{}, spec.Position()
	d.Spec.ForProvider.Position = &position
	if done != nil {
		d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: done.Position()}
	}
	return d
}

// TestIsDelivered takes one part of the evidence away at a time.
func TestIsDelivered(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.GitDelivery)
		want   [2]bool
	}{
		"All":          {reason: "A delivery that is Ready and Synced at this position is delivered.", change: func(*deliveryv1alpha1.GitDelivery) {}, want: [2]bool{true, true}},
		"NotReady":     {reason: "A delivery that is not Ready is not delivered.", change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeReady, corev1.ConditionFalse, 3) }, want: [2]bool{false, true}},
		"ReadyUnknown": {reason: "A delivery whose Ready is Unknown is not delivered.", change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeReady, corev1.ConditionUnknown, 3) }, want: [2]bool{false, true}},
		"ReadyBefore":  {reason: "A delivery that was Ready for an earlier generation is not delivered.", change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2) }, want: [2]bool{false, true}},
		"Rebased": {reason: "A delivery that was Ready before it was asked to record an equivalent request alone is delivered.", want: [2]bool{true, true}, change: func(d *deliveryv1alpha1.GitDelivery) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2)
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Rebased: &ledger.Rebased{}}}}
			d.Status.AtProvider.Ledger = &ledger.State{}
		}},
		"Judged": {reason: "A delivery that was Ready before it was asked to record a verdict is not delivered.", want: [2]bool{false, true}, change: func(d *deliveryv1alpha1.GitDelivery) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2)
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Judged: &ledger.Judged{}}}}
			d.Status.AtProvider.Ledger = &ledger.State{}
		}},
		"NotSynced":     {reason: "A delivery that is not Synced is not delivered.", change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeSynced, corev1.ConditionFalse, 3) }, want: [2]bool{false, true}},
		"OtherAsked":    {reason: "A delivery that asks for another position is not delivered.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Revision = 2 }, want: [2]bool{false, true}},
		"NothingAsked":  {reason: "A delivery that asks for no position is not delivered.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position = nil }, want: [2]bool{false, true}},
		"OtherRevision": {reason: "A repository at another revision was not brought to this one.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Revision = 2 }},
		"OtherStep":     {reason: "A repository at another step was not brought to this one.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Step = 1 }},
		"OtherAttempt":  {reason: "A repository at another attempt was not brought to this one.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Attempt = 1 }},
		"OtherEpoch":    {reason: "A repository at a position of another epoch was not brought to this one.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Epoch = 1 }},
		"NothingDone":   {reason: "A repository without a record was brought nowhere.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record = nil }},
		"NothingSaid":   {reason: "A delivery without a status proves nothing.", change: func(d *deliveryv1alpha1.GitDelivery) { d.Status = deliveryv1alpha1.GitDeliveryStatus{} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := newOrder(1, "a")
			d := newDelivery(o, &o)
			d.SetGeneration(3)
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 3)
			setCondition(d, xpv2.TypeSynced, corev1.ConditionTrue, 3)
			tc.change(d)
			got := [2]bool{IsDelivered(d, o), HasApplied(d, o)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nIsDelivered(...), HasApplied(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func setCondition(d *deliveryv1alpha1.GitDelivery, typ xpv2.ConditionType, status corev1.ConditionStatus, generation int64) {
	d.Status.SetConditions(xpv2.Condition{Type: typ, Status: status, ObservedGeneration: generation})
}

func TestDeliveryFailure(t *testing.T) {
	o := newOrder(2, "b")
	cases := map[string]struct {
		reason string
		why    xpv2.ConditionReason
		change func(*deliveryv1alpha1.GitDelivery)
		want   string
	}{
		"NotOwner":   {reason: "A delivery to a directory of another owner rejects the revision.", why: "NotOwner", want: "DeliveryRefused"},
		"Policy":     {reason: "A tree that a limit refuses rejects the revision.", why: "PolicyDenied", want: "DeliveryRefused"},
		"Elsewhere":  {reason: "A directory that another cluster owns rejects the revision.", why: "OwnedElsewhere", want: "DeliveryRefused"},
		"TooLarge":   {reason: "A tree that is too large rejects the revision.", why: "TooLarge", want: "DeliveryRefused"},
		"TimedOut":   {reason: "A delivery that timed out rejects the revision.", why: "DeliveryTimedOut", want: "DeliveryTimedOut"},
		"Trouble":    {reason: "An unreachable repository rejects nothing before the delivery times out.", why: "Unreachable"},
		"Missing":    {reason: "A Site that is missing never rejects a revision.", why: "SiteMissing"},
		"Earlier":    {reason: "A refusal of another position rejects nothing.", why: "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Revision = 1 }},
		"Generation": {reason: "A refusal of an earlier generation rejects nothing.", why: "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) { d.SetGeneration(5) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDelivery(o, nil)
			d.SetName("d")
			d.SetGeneration(4)
			d.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: tc.why, Message: "Words.", ObservedGeneration: 4})
			if tc.change != nil {
				tc.change(d)
			}
			want := (*ledger.Verdict)(nil)
			if tc.want != "" {
				want = &ledger.Verdict{Result: "Rejected", Reason: tc.want, Message: "GitDelivery d: " + string(tc.why) + ": Words."}
			}
			if diff := cmp.Diff(want, DeliveryFailure(d, o)); diff != "" {
				t.Errorf("\n%s\nRefused(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
