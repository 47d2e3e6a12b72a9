package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// settled is revision 2 after it was verified.
func settled() ledger.State {
	return ledger.State{
		Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: "4"}, Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1},
		Verdict: &ledger.Verdict{Result: ledger.VerdictVerified},
	}
}

// TestLocate lets a repository have one directory that the delivery does not name any more.
func TestLocate(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(s *ledger.State, observed *deliveryv1alpha1.GitDelivery)
		want   bool
	}{
		"Verified": {reason: "What is left is removed once the revision is verified.", change: func(*ledger.State, *deliveryv1alpha1.GitDelivery) {}, want: true},
		"Unjudged": {reason: "What is left stays until the revision is verified.", change: func(s *ledger.State, _ *deliveryv1alpha1.GitDelivery) { s.Verdict = nil }},
		"Nothing":  {reason: "A delivery without anything left does not change for a verdict.", change: func(_ *ledger.State, d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Trees = nil }},
		"Removed": {
			reason: "A delivery that removed what was left does not change once more.", want: true,
			change: func(s *ledger.State, d *deliveryv1alpha1.GitDelivery) {
				p := s.Position()
				d.Status.AtProvider.Trees, d.Spec.ForProvider.Settled, d.Spec.ForProvider.Position = nil, true, &p
			},
		},
		"Earlier": {
			reason: "What an earlier revision removed says nothing.",
			change: func(_ *ledger.State, d *deliveryv1alpha1.GitDelivery) {
				d.Status.AtProvider.Trees, d.Spec.ForProvider.Settled, d.Spec.ForProvider.Position = nil, true, &ledger.Position{Revision: 1}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, observed := settled(), asking(inWaves(1).Position(), "a")
			observed.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Path: "a/x"}, {Path: "left/x"}}
			tc.change(&s, observed)
			asked := map[string]*deliveryv1alpha1.GitDelivery{"d": asking(inWaves(0).Position(), "a")}
			got := Locate(asked, map[string]*deliveryv1alpha1.GitDelivery{"d": observed}, s)["d"].Spec.ForProvider
			if diff := cmp.Diff(s.Position(), *got.Position) + cmp.Diff(tc.want, got.Settled); diff != "" {
				t.Errorf("\n%s\nLocate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRecord(t *testing.T) {
	before := ledger.Head{Ledger: "l", Epoch: 1, Seq: 3, ID: "3"}
	events := []ledger.Event{{Restored: &ledger.Restored{}}}
	id, err := ledger.NextID(before.ID, events...)
	if err != nil {
		t.Fatal(err)
	}
	after := ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: id}
	asked := &deliveryv1alpha1.LedgerUpdate{After: before, Events: events}
	next := []ledger.Event{{Closed: &ledger.Closed{}}}
	cases := map[string]struct {
		reason string
		asked  *deliveryv1alpha1.LedgerUpdate
		head   ledger.Head
		events []ledger.Event
		want   deliveryv1alpha1.LedgerUpdate
	}{
		"First":    {reason: "A home that is new is asked to record on top of nothing.", events: next, want: deliveryv1alpha1.LedgerUpdate{Events: next}},
		"Recorded": {reason: "A home that recorded what it was asked is asked the same again.", asked: asked, head: after, want: *asked},
		"Next":     {reason: "What is to be recorded next takes the place of what was recorded.", asked: asked, head: after, events: next, want: deliveryv1alpha1.LedgerUpdate{After: after, Events: next}},
		"Other":    {reason: "A home whose ledger has another head is asked for nothing on top of that.", asked: asked, head: settled().Head, want: deliveryv1alpha1.LedgerUpdate{After: settled().Head}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := asking(inWaves(1).Position(), "a")
			observed.Spec.ForProvider.Ledger = tc.asked
			got := Record(asking(inWaves(1).Position(), "a"), observed, tc.head, tc.events)
			if diff := cmp.Diff(tc.want, *got.Spec.ForProvider.Ledger); diff != "" {
				t.Errorf("\n%s\nRecord(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFollow(t *testing.T) {
	unjudged := settled()
	unjudged.Verdict, unjudged.Seq = nil, 3
	earlier := unjudged
	earlier.Cursor.Step = 0
	cases := map[string]struct {
		reason   string
		copied   ledger.State
		observed []string
		want     ledger.State
	}{
		"Verdict":  {reason: "A verdict alone changes no follower.", copied: unjudged, observed: []string{"a"}, want: unjudged},
		"Position": {reason: "A follower at an earlier position gets what is recorded.", copied: earlier, observed: []string{"a"}, want: settled()},
		"Trees":    {reason: "A follower that is asked for other trees gets what is recorded.", copied: unjudged, observed: []string{"b"}, want: settled()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := asking(inWaves(1).Position(), tc.observed...)
			p := tc.copied.Position()
			observed.Spec.ForProvider.Copy, observed.Spec.ForProvider.Position = &tc.copied, &p
			got := Follow(asking(inWaves(1).Position(), "a"), observed, settled())
			if diff := cmp.Diff(tc.want.Head, got.Spec.ForProvider.Copy.Head); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
