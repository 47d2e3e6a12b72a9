package failure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestDesiredRevision reads the requested revision of deliveries.
func TestDesiredRevision(t *testing.T) {
	ordered := func(number int64) ledger.Event {
		return ledger.Event{Ordered: &ledger.Ordered{Revision: ledger.Revision{
			Number: number, Request: ledger.Request{Intent: "i" + string(rune('0'+number)), Sources: "s", Scheme: 1, Renderer: 1},
			Plan:  []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}},
			Parts: []ledger.Part{{Delivery: "shop-1", ConfigRef: "platform", Sites: []string{"edge1", "edge2"}}},
		}}}
	}
	record := func(s ledger.State, events ...ledger.Event) ledger.State {
		next, err := ledger.Append(s, time.Unix(0, 0), events...)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	verified := ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}, Trees: []ledger.SiteTree{{Site: "edge1", ID: "a"}, {Site: "edge2", ID: "b"}}}}
	rejects := []ledger.Event{{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}}}, {RolledBack: &ledger.RolledBack{Target: 1}}}
	first := record(ledger.State{}, ledger.Event{Opened: &ledger.Opened{Ledger: "uid", Home: "platform"}}, ordered(1), ledger.Event{Advanced: &ledger.Advanced{Step: 1}}, verified)
	second := record(first, ordered(2))
	withdrawn := ledger.Event{Withdrawn: &ledger.Withdrawn{Target: 1, RequestRef: ledger.RequestReference{Name: "back", UID: "u"}}}
	home := func(published ledger.State, head ledger.Head, events []ledger.Event, position ledger.Position) *deliveryv1alpha1.GitDelivery {
		d := &deliveryv1alpha1.GitDelivery{}
		d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Position = &deliveryv1alpha1.LedgerUpdate{After: head, Events: events}, &position
		d.Status.AtProvider.Ledger = &published
		return d
	}
	follower := func(s ledger.State) *deliveryv1alpha1.GitDelivery {
		d, position := &deliveryv1alpha1.GitDelivery{}, s.Position()
		d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = &s, &position
		return d
	}
	sites := [][]string{{"edge1"}, {"edge2"}}
	back := record(second, rejects...)
	cases := map[string]struct {
		reason   string
		delivery *deliveryv1alpha1.GitDelivery
		want     desiredRevision
	}{
		"Goes": {
			reason:   "A revision that goes out is not rejected.",
			delivery: home(second, second.Head, nil, second.Position()), want: desiredRevision{number: 2, sites: sites},
		},
		"Proposed": {
			reason:   "A home that is asked to record a rejection does not carry the rejected trees any more.",
			delivery: home(second, second.Head, rejects, back.Position()), want: desiredRevision{number: 2, sites: sites, isRejected: true},
		},
		"Recorded": {
			reason:   "A rejection that was recorded holds.",
			delivery: home(back, second.Head, rejects, back.Position()), want: desiredRevision{number: 2, sites: sites, isRejected: true},
		},
		"Follower": {reason: "A follower has the verdict from its copy.", delivery: follower(back), want: desiredRevision{number: 2, sites: sites, isRejected: true}},
		"Requested": {
			reason: "A rollback that a user ordered counts as requested.",
			delivery: home(
				first, first.Head, []ledger.Event{ordered(2), {Judged: rejects[0].Judged}, ordered(3), withdrawn},
				ledger.Position{Epoch: 1, Revision: 4, Attempt: 1},
			),
			want: desiredRevision{number: 4, sites: sites, isRejected: true, isWithdrawal: true},
		},
		"Unknown": {
			reason:   "Of a revision that the status does not show, only the number is known.",
			delivery: home(ledger.State{}, second.Head, rejects, back.Position()), want: desiredRevision{number: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, desiredRevisionOf(tc.delivery), cmp.AllowUnexported(desiredRevision{})); diff != "" {
				t.Errorf("\n%s\ndesiredRevisionOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
