package ledgerhome

import (
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

func TestIsRefused(t *testing.T) {
	parts := []ledger.Part{{Delivery: "delivery", ConfigRef: "default", Sites: []string{"edge1"}}}
	opened := ledger.Event{Opened: &ledger.Opened{Ledger: "one", Home: "default"}}
	ordered := ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{Number: 1, Plan: []ledger.Step{{Sites: []string{"edge1"}}}, Parts: parts, Request: ledger.Request{Intent: "a"}}}}
	otherOrder := ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{Number: 1, Plan: []ledger.Step{{Sites: []string{"edge1"}}}, Parts: parts, Request: ledger.Request{Intent: "b"}}}}
	moved := ledger.Event{Moved: &ledger.Moved{Home: "other"}}
	judged := ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: "SyncFailed"}}}
	record := func(events ...ledger.Event) *ledger.State {
		s, err := ledger.Append(ledger.State{}, RecordingTime(), events...)
		if err != nil {
			t.Fatal(err)
		}
		return &s
	}
	cases := map[string]struct {
		reason string
		after  ledger.Head
		events []ledger.Event
		has    *ledger.State
		taken  *ledger.State
		want   bool
	}{
		"Unreported": {reason: "Nothing is refused by a repository that did not report its ledger.", events: []ledger.Event{opened}},
		"Pending":    {reason: "Events on top of the head of the repository may be recorded at any time.", events: []ledger.Event{opened}, has: &ledger.State{}},
		"Recorded":   {reason: "Events that led to the head of the repository are recorded.", events: []ledger.Event{opened, ordered}, has: record(opened, ordered)},
		"OneMore": {
			reason: "A call that did not see the first events recorded asks for the trees of the recorded revision.",
			events: []ledger.Event{opened, ordered, moved}, has: record(opened, ordered),
		},
		"Other": {
			reason: "The repository recorded another revision, so that the trees which are asked for belong to none.",
			events: []ledger.Event{opened, ordered}, has: record(opened, otherOrder), want: true,
		},
		"Longer": {
			reason: "The repository recorded more than the requested events, and the trees may belong to an older revision.",
			events: []ledger.Event{opened}, has: record(opened, ordered), want: true,
		},
		"NoEvents": {
			reason: "A call that asks for no event on top of an older head knows nothing of the newer one.",
			after:  record(opened).Head, has: record(opened, ordered), want: true,
		},
		"Followed": {
			reason: "Events that the provider went on from are recorded.",
			events: []ledger.Event{opened}, has: record(opened, ordered), taken: record(opened),
		},
		"MoreThan": {
			reason: "A call that did not see the events recorded that the provider went on from asks for the trees of their revision.",
			events: []ledger.Event{opened, ordered, moved}, has: record(opened, ordered, judged), taken: record(opened, ordered),
		},
		"TooLate": {
			reason: "Events on top of the head that the provider went on from are recorded no more.",
			after:  record(opened).Head, events: []ledger.Event{otherOrder}, has: record(opened, ordered), taken: record(opened), want: true,
		},
		"Nothing": {
			reason: "A call that asked for no event on top of the head that the provider went on from asks for its trees.",
			after:  record(opened).Head, has: record(opened, ordered), taken: record(opened),
		},
		"Unshown": {
			reason: "Without a head that the provider went on from, events that did not lead to the head are refused.",
			events: []ledger.Event{opened}, has: record(opened, ordered, judged), want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{After: tc.after, Events: tc.events}
			d.Status.AtProvider.Ledger = tc.has
			if tc.taken != nil {
				d.Status.AtProvider.Taken = &tc.taken.Head
			}
			if got := IsRefused(d); got != tc.want {
				t.Errorf("\n%s\nIsRefused(...): got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

// TestMayRecord opens a ledger in a repository that may report it.
func TestMayRecord(t *testing.T) {
	opened := ledger.Event{Opened: &ledger.Opened{Ledger: "one", Home: "default"}}
	first, err := ledger.Append(ledger.State{}, RecordingTime(), opened)
	if err != nil {
		t.Fatal(err)
	}
	followed := first
	followed.Seq, followed.ID = 2, "other"
	cases := map[string]struct {
		reason string
		has    *ledger.State
		taken  *ledger.Head
		want   bool
	}{
		"Unreported": {reason: "A repository that did not report its ledger may record the requested events.", want: true},
		"Recorded":   {reason: "A repository records its events once.", has: &first},
		"Followed":   {reason: "A repository records no events a second time that the provider went on from.", has: &followed, taken: &first.Head},
		"Other":      {reason: "A repository that reports other events may have been asked since.", has: &followed, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{Events: []ledger.Event{opened}}
			d.Status.AtProvider.Ledger, d.Status.AtProvider.Taken = tc.has, tc.taken
			if got := MayRecord(d); got != tc.want {
				t.Errorf("\n%s\nMayRecord(...): got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

// TestHasLedThrough looks for heads among those that two events lead to.
func TestHasLedThrough(t *testing.T) {
	events := []ledger.Event{{Opened: &ledger.Opened{Ledger: "l", Home: "h"}}, {Closed: &ledger.Closed{}}}
	headAfter := func(n int) ledger.Head {
		id, err := ledger.NextID("", events[:n]...)
		if err != nil {
			t.Fatal(err)
		}
		return ledger.Head{ID: id}
	}
	cases := map[string]struct {
		reason string
		head   ledger.Head
		want   bool
	}{
		"First": {reason: "A head that the first event led to was recorded before its writer saw it.", head: headAfter(1), want: true},
		"Last":  {reason: "All events led to the last head.", head: headAfter(2), want: true},
		"Other": {reason: "Other events led to another head.", head: ledger.Head{ID: "3"}},
		"None":  {reason: "No event leads to the head that its writer saw.", head: headAfter(0)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := hasLedThrough(deliveryv1alpha1.LedgerUpdate{Events: events}, tc.head); got != tc.want {
				t.Errorf("\n%s\nhasLedThrough(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
