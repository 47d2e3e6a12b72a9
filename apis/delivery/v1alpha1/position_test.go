package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestPositions reads positions from deliveries.
func TestPositions(t *testing.T) {
	desired := ledger.Position{Epoch: 5, Revision: 6, Attempt: 7, Step: 8, Stage: 1}
	recorded := ledger.State{Head: ledger.Head{Epoch: 2}, Current: &ledger.Revision{Number: 9}, Cursor: ledger.Cursor{Step: 1}}
	cases := map[string]struct {
		reason string
		got    ledger.Position
		want   ledger.Position
	}{
		"DeliveryPosition": {
			reason: "A delivery asks for its position, whatever the ledger is at.",
			got:    v1alpha1.GitDeliveryParameters{Position: &desired, Copy: &recorded}.AskedPosition(), want: desired,
		},
		"DeliveryCopy": {
			reason: "A delivery without a position requests the position of its copy.",
			got:    v1alpha1.GitDeliveryParameters{Copy: &recorded}.AskedPosition(), want: ledger.Position{Epoch: 2, Revision: 9, Step: 1},
		},
		"AppliedRecord": {
			reason: "A repository was brought to the position of its record.",
			got:    v1alpha1.GitDeliveryObservation{Record: &v1alpha1.LedgerRecord{Position: desired}}.AppliedPosition(), want: desired,
		},
		"AppliedNothing": {reason: "A repository that was brought to nothing has no position.", got: v1alpha1.GitDeliveryObservation{}.AppliedPosition()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRecordedState reads the state of a ledger from the status of a home, and from that of another repository.
func TestRecordedState(t *testing.T) {
	ofHome, ofCopy := ledger.State{Head: ledger.Head{Ledger: "l", Seq: 3}}, ledger.State{Head: ledger.Head{Ledger: "l", Seq: 2}}
	cases := map[string]struct {
		reason string
		status v1alpha1.GitDeliveryObservation
		want   ledger.State
	}{
		"Home": {
			reason: "A home has the ledger itself.",
			status: v1alpha1.GitDeliveryObservation{Ledger: &ofHome, Record: &v1alpha1.LedgerRecord{Copy: &ofCopy}}, want: ofHome,
		},
		"Copy": {
			reason: "Another repository has a copy of the ledger.",
			status: v1alpha1.GitDeliveryObservation{Record: &v1alpha1.LedgerRecord{Copy: &ofCopy}}, want: ofCopy,
		},
		"Neither": {reason: "A repository without either has no state.", status: v1alpha1.GitDeliveryObservation{Record: &v1alpha1.LedgerRecord{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.status.RecordedState()); diff != "" {
				t.Errorf("\n%s\nRecordedState(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHasRecorded opens a ledger and closes it, in a repository that may have recorded more.
func TestHasRecorded(t *testing.T) {
	events := []ledger.Event{{Opened: &ledger.Opened{Ledger: "l", Home: "h"}}, {Closed: &ledger.Closed{}}}
	id, err := ledger.NextID("", events...)
	if err != nil {
		t.Fatal(err)
	}
	led, otherHead := ledger.Head{Ledger: "l", Epoch: 1, Seq: 2, ID: id}, ledger.Head{Ledger: "l", Epoch: 1, Seq: 3, ID: "3"}
	update := v1alpha1.LedgerUpdate{Events: events}
	observedAt := func(head ledger.Head, takenHead *ledger.Head) v1alpha1.GitDeliveryObservation {
		return v1alpha1.GitDeliveryObservation{Ledger: &ledger.State{Head: head}, Taken: takenHead}
	}
	cases := map[string]struct {
		reason string
		at     v1alpha1.GitDeliveryObservation
		asked  v1alpha1.LedgerUpdate
		want   bool
	}{
		"Head":     {reason: "Events that led to the head are recorded.", at: observedAt(led, nil), asked: update, want: true},
		"Followed": {reason: "Events are recorded, too, where the provider went on from them.", at: observedAt(otherHead, &led), asked: update, want: true},
		"Other":    {reason: "Events that led to another head are not recorded.", at: observedAt(otherHead, nil), asked: update},
		"Fewer": {
			reason: "A part of the recorded events led to an earlier head.",
			at:     observedAt(otherHead, &led), asked: v1alpha1.LedgerUpdate{Events: events[:1]},
		},
		"Seen": {
			reason: "An update without events led to the head that its writer saw.",
			at:     observedAt(otherHead, &led), asked: v1alpha1.LedgerUpdate{After: led}, want: true,
		},
		"New": {
			reason: "Events on top of the head that the provider went on from are not recorded.",
			at:     observedAt(otherHead, &led), asked: v1alpha1.LedgerUpdate{After: led, Events: events[1:]},
		},
		"Forged": {
			reason: "A head with the ID of another one is another head.",
			at:     observedAt(otherHead, &led), asked: v1alpha1.LedgerUpdate{After: ledger.Head{ID: id}},
		},
		"Unknown": {reason: "The ledger of a repository that did not report is unknown.", asked: update},
		"Empty":   {reason: "No ledger has events of a spec.", at: observedAt(ledger.Head{}, nil)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.at.HasRecorded(tc.asked); got != tc.want {
				t.Errorf("\n%s\nHasRecorded(...): got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
