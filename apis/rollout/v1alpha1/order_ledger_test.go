package v1alpha1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestOrderOf compares orders with the ledgers that they stand for.
func TestOrderOf(t *testing.T) {
	revision := func(number int64) ledger.Revision {
		return ledger.Revision{
			Number: number, Request: ledger.Request{Intent: "i", Sources: "s", Scheme: 1, Renderer: 2},
			Plan: []ledger.Step{{Sites: []string{"edge1"}, Gate: true}}, Parts: []ledger.Part{{Delivery: "web", ConfigRef: "platform", Sites: []string{"edge1"}}},
			Marked: "m", Irreversible: true, Blueprint: &ledger.BlueprintReference{Name: "web"},
			RequestRef: &ledger.RequestReference{Name: "retry", UID: "u" + string(rune('0'+number)), By: "ann", Reason: "again"},
		}
	}
	events := []ledger.Event{
		{Opened: &ledger.Opened{Ledger: "demo", Home: "platform"}},
		{Ordered: &ledger.Ordered{Revision: revision(1)}},
		{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}, Trees: []ledger.SiteTree{{Site: "edge1", ID: "t"}}}},
		{Ordered: &ledger.Ordered{Revision: revision(2)}},
		{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed", Message: "p99"}}},
		{RolledBack: &ledger.RolledBack{Target: 1}},
		{Restored: &ledger.Restored{}},
	}
	s, err := ledger.Append(ledger.State{}, time.Unix(0, 0), events...)
	if err != nil {
		t.Fatal(err)
	}
	want := Order{
		Epoch: 1, Revision: 2, Request: identityOf(s), Intent: "i", DigestScheme: 1, RendererVersion: 2, Blueprint: &BlueprintReference{Name: "web"},
		Plan: []Step{{Sites: []string{"edge1"}, Gate: new(true)}}, Steps: 1, Attempt: 1,
		Verdict: &Verdict{Result: VerdictRejected, Reason: "GateFailed", Message: "p99"}, Target: new(int64(1)), Irreversible: new(true), Marked: "m",
		Restored: new(true), RequestRef: &RequestReference{Name: "retry", UID: "u2", By: "ann", Reason: "again"},
	}
	if diff := cmp.Diff(want, OrderOf(s)); diff != "" {
		t.Errorf("\nAn order says what the ledger has come to.\nOrderOf(...): -want, +got:\n%s", diff)
	}
	if got := OrderOf(ledger.State{}); !got.Same(Order{}) {
		t.Errorf("\nA ledger without a revision asks for nothing.\nOrderOf(...): got %+v", got)
	}
	rebased, err := ledger.Append(s, time.Unix(0, 0), ledger.Event{Rebased: &ledger.Rebased{Request: ledger.Request{Intent: "i", Sources: "other", Scheme: 1, Renderer: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if OrderOf(rebased).Conflicts(OrderOf(s)) {
		t.Error("\nAn equivalent request is no other use of the number.\nConflicts(...): got true")
	}
}

// TestOrderEpochs compares orders of two epochs.
func TestOrderEpochs(t *testing.T) {
	rejected, verified := &Verdict{Result: VerdictRejected}, &Verdict{Result: VerdictVerified}
	before, after := Order{Epoch: 1, Revision: 7, Request: "a", Verdict: rejected}, Order{Epoch: 2, Revision: 5, Request: "b"}
	if after.Behind(before) || !before.Behind(after) {
		t.Errorf("\nA ledger that was recovered counts more than one of the epoch before.\nBehind(...): got %t and %t", after.Behind(before), before.Behind(after))
	}
	again := Order{Epoch: 2, Revision: 7, Request: "b", Verdict: verified}
	if again.Conflicts(before) || again.Rejudges(before) {
		t.Errorf("\nAfter a loss a number may have another request and another verdict.\nConflicts(...): got %t, Rejudges(...): got %t", again.Conflicts(before), again.Rejudges(before))
	}
}
