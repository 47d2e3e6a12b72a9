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

// newState returns a state at the first step of a revision, which delivers an intent to one Site.
func newState(revision int64, intent string) ledger.State {
	return ledger.State{Head: ledger.Head{Ledger: "l"}, Current: &ledger.Revision{
		Number: revision, Request: ledger.Request{Intent: intent, Scheme: digest.Scheme, Renderer: 1}, Plan: []ledger.Step{{Sites: []string{"edge1"}}},
	}}
}

// newDelivery returns a delivery that asks for a position, to a repository that was brought to another one, or to none.
func newDelivery(position ledger.Position, applied *ledger.Position) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ForProvider.Position = &position
	if applied != nil {
		d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: *applied}
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
		"All": {
			reason: "A delivery that is Ready and Synced at this position is delivered.",
			change: func(*deliveryv1alpha1.GitDelivery) {}, want: [2]bool{true, true},
		},
		"NotReady": {
			reason: "A delivery that is not Ready is not delivered.",
			change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeReady, corev1.ConditionFalse, 3) }, want: [2]bool{false, true},
		},
		"ReadyUnknown": {
			reason: "A delivery whose Ready is Unknown is not delivered.",
			change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeReady, corev1.ConditionUnknown, 3) },
			want:   [2]bool{false, true},
		},
		"ReadyBefore": {
			reason: "A delivery that was Ready for an earlier generation is not delivered.",
			change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2) }, want: [2]bool{false, true},
		},
		"Rebased": {reason: "A delivery that was Ready before it was asked to record an equivalent request alone is delivered.", want: [2]bool{true, true}, change: func(d *deliveryv1alpha1.GitDelivery) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2)
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Rebased: &ledger.Rebased{}}}}
			d.Status.AtProvider.Ledger = &ledger.State{}
		}},
		"RebasedWithTree": {reason: "A delivery that was asked for another tree with an equivalent request is not delivered.", want: [2]bool{false, true}, change: func(d *deliveryv1alpha1.GitDelivery) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2)
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Rebased: &ledger.Rebased{}}}}
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1", Path: "clusters/edge1", Action: deliveryv1alpha1.ActionDesired, Tree: "new"}}
			d.Status.AtProvider.Ledger = &ledger.State{}
			d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "edge1", Path: "clusters/edge1", Tree: "old"}}
		}},
		"RebasedInPlace": {reason: "A delivery that holds the trees which it is asked for with an equivalent request is delivered.", want: [2]bool{true, true}, change: func(d *deliveryv1alpha1.GitDelivery) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2)
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Rebased: &ledger.Rebased{}}}}
			d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Site: "edge1", Path: "clusters/edge1", Action: deliveryv1alpha1.ActionDesired, Tree: "new"}}
			d.Status.AtProvider.Ledger = &ledger.State{}
			d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "edge1", Path: "clusters/edge1", Tree: "new"}}
		}},
		"Judged": {reason: "A delivery that was Ready before it was asked to record a verdict is not delivered.", want: [2]bool{false, true}, change: func(d *deliveryv1alpha1.GitDelivery) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 2)
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Judged: &ledger.Judged{}}}}
			d.Status.AtProvider.Ledger = &ledger.State{}
		}},
		"NotSynced": {
			reason: "A delivery that is not Synced is not delivered.",
			change: func(d *deliveryv1alpha1.GitDelivery) { setCondition(d, xpv2.TypeSynced, corev1.ConditionFalse, 3) }, want: [2]bool{false, true},
		},
		"OtherAsked": {
			reason: "A delivery that asks for another position is not delivered.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Revision = 2 }, want: [2]bool{false, true},
		},
		"NothingAsked": {
			reason: "A delivery that asks for no position is not delivered.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position = nil }, want: [2]bool{false, true},
		},
		"OtherRevision": {
			reason: "A repository at another revision was not brought to this one.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Revision = 2 },
		},
		"OtherStep": {
			reason: "A repository at another step was not brought to this one.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Step = 1 },
		},
		"OtherAttempt": {
			reason: "A repository at another attempt was not brought to this one.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Attempt = 1 },
		},
		"OtherEpoch": {
			reason: "A repository at a position of another epoch was not brought to this one.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record.Position.Epoch = 1 },
		},
		"NothingDone": {
			reason: "A repository without a record was brought nowhere.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Record = nil },
		},
		"NothingSaid": {
			reason: "A delivery without a status proves nothing.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Status = deliveryv1alpha1.GitDeliveryStatus{} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			position := newState(1, "a").Position()
			d := newDelivery(position, &position)
			d.SetGeneration(3)
			setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 3)
			setCondition(d, xpv2.TypeSynced, corev1.ConditionTrue, 3)
			tc.change(d)
			got := [2]bool{IsDelivered(d, position), HasApplied(d, position)}
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
	position := newState(2, "b").Position()
	cases := map[string]struct {
		reason string
		why    xpv2.ConditionReason
		change func(*deliveryv1alpha1.GitDelivery)
		want   string
	}{
		"NotOwner":  {reason: "A delivery to a directory of another owner rejects the revision.", why: "NotOwner", want: "DeliveryRefused"},
		"Policy":    {reason: "A tree that a limit refuses rejects the revision.", why: "PolicyDenied", want: "DeliveryRefused"},
		"Elsewhere": {reason: "A directory that another cluster owns rejects the revision.", why: "OwnedElsewhere", want: "DeliveryRefused"},
		"TooLarge":  {reason: "A tree that is too large rejects the revision.", why: "TooLarge", want: "DeliveryRefused"},
		"TimedOut":  {reason: "A delivery that timed out rejects the revision.", why: "DeliveryTimedOut", want: "DeliveryTimedOut"},
		"Trouble":   {reason: "An unreachable repository rejects nothing before the delivery times out.", why: "Unreachable"},
		"Missing":   {reason: "A Site that is missing never rejects a revision.", why: "SiteMissing"},
		"Earlier": {
			reason: "A refusal of another position rejects nothing.",
			why:    "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Revision = 1 },
		},
		"Unrecorded": {reason: "A home that has not recorded a verdict in time rejects nothing.", why: "DeliveryTimedOut", change: func(d *deliveryv1alpha1.GitDelivery) {
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{{Judged: &ledger.Judged{}}}}
			d.Status.AtProvider.Ledger = &ledger.State{}
		}},
		"Generation": {
			reason: "A refusal of an earlier generation rejects nothing.",
			why:    "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) { d.SetGeneration(5) },
		},
		"Backup": {reason: "A refusal of an earlier revision that was restored from a backup rejects nothing, though its generation was counted from one again.", why: "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) {
			d.Status.AtProvider.Waiting.Revision = 1
		}},
		"Unwaited": {reason: "A refusal by a provider that waits for nothing is about the applied position.", why: "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) {
			d.Status.AtProvider.Waiting = nil
		}},
		"Applied": {reason: "A directory that another owner took after it was delivered rejects the revision.", why: "NotOwner", want: "DeliveryRefused", change: func(d *deliveryv1alpha1.GitDelivery) {
			d.Status.AtProvider.Waiting, d.Status.AtProvider.Record = nil, &deliveryv1alpha1.LedgerRecord{Position: position}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDelivery(position, nil)
			d.Status.AtProvider.Waiting = &rolloutv1alpha1.Attempt{Revision: position.Revision, Step: position.Step, Number: position.Attempt}
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
			if diff := cmp.Diff(want, DeliveryFailure(d, position)); diff != "" {
				t.Errorf("\n%s\nRefused(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHasBrought compares the applied position with the state at each of two Sites, which have a step each.
func TestHasBrought(t *testing.T) {
	forward := newState(2, "b")
	forward.Epoch, forward.Cursor.Step = 1, 1
	forward.Current.Plan = []ledger.Step{{Sites: []string{"a"}}, {Sites: []string{"b"}}}
	rollback := forward
	rollback.Cursor.Attempt = 1
	cases := map[string]struct {
		reason string
		was    ledger.Position
		state  ledger.State
		want   [2]bool
	}{
		"Same": {reason: "The same position brought both Sites their trees.", was: forward.Position(), state: forward, want: [2]bool{true, true}},
		"FirstStep": {
			reason: "The first step brought the first Site its tree alone.",
			was:    ledger.Position{Epoch: 1, Revision: 2}, state: forward, want: [2]bool{true, false},
		},
		"Revision": {reason: "An earlier revision brought neither Site its tree.", was: ledger.Position{Epoch: 1, Revision: 1, Step: 1}, state: forward},
		"Epoch":    {reason: "A revision of an earlier epoch may have had other trees.", was: ledger.Position{Revision: 2, Step: 1}, state: forward},
		"Rollback": {reason: "A position of the revision itself restored nothing.", was: forward.Position(), state: rollback},
		"Restored": {reason: "A rollback reaches all Sites at once.", was: rollback.Position(), state: rollback, want: [2]bool{true, true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDelivery(tc.was, &tc.was)
			got := [2]bool{HasBrought(d, tc.state, "a"), HasBrought(d, tc.state, "b")}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nHasBrought(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
