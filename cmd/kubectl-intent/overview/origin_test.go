package overview

import (
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

func TestOriginOfPast(t *testing.T) {
	original := ledger.Request{Intent: "a", Sources: "web 1", Scheme: 1, Renderer: 1}
	cases := map[string]struct {
		reason string
		number int64
		change func(*ledger.Request)
		want   string
	}{
		"First": {reason: "The first revision comes from the intent.", number: 1, want: originIntent},
		"Edited": {
			reason: "A revision whose intent differs from its predecessor comes from an edit.",
			number: 7, change: func(r *ledger.Request) { r.Intent = "b" }, want: originIntent,
		},
		"Blueprint": {
			reason: "The same intent with another Blueprint is an update.",
			number: 7, change: func(r *ledger.Request) { r.Sources = "web 2" }, want: originUpdate,
		},
		"Renderer": {
			reason: "The same intent with another renderer is an update.",
			number: 7, change: func(r *ledger.Request) { r.Renderer = 2 }, want: originUpdate,
		},
		"Again":     {reason: "The same as before is ordered again by a RolloutRequest alone, also when that is gone.", number: 7, want: originRequest},
		"Forgotten": {reason: "Nothing is known of a revision whose predecessor the ledger forgot.", number: 6},
		"Scheme":    {reason: "Digests by other rules say nothing.", number: 7, change: func(r *ledger.Request) { r.Scheme = 2 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := ledger.Past{Number: tc.number, Request: original}
			if tc.change != nil {
				tc.change(&p.Request)
			}
			if got := originOfPast(ledger.State{History: []ledger.Past{{Number: 6, Request: original}, p}}, p); got != tc.want {
				t.Errorf("\n%s\noriginOfPast(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestOriginOf(t *testing.T) {
	request, otherRequest := ledger.Request{Intent: "a", Sources: "new"}, ledger.Request{Intent: "b"}
	cases := map[string]struct {
		reason  string
		ref     *ledger.RequestReference
		history []ledger.Past
		want    string
	}{
		"First": {reason: "The first revision comes from the intent.", want: originIntent},
		"Edited": {
			reason:  "A revision whose intent differs from its predecessor's comes from that intent.",
			history: []ledger.Past{{Number: 5, Request: request}, {Number: 6, Request: otherRequest}}, want: originIntent,
		},
		"Updated": {
			reason:  "The same intent with another Blueprint, or another renderer, is an update.",
			history: []ledger.Past{{Number: 5, Request: otherRequest}, {Number: 6, Request: request}}, want: originUpdate,
		},
		"Judged": {
			reason:  "The revision itself is in the history once it was judged, and does not count.",
			history: []ledger.Past{{Number: 6, Request: otherRequest}, {Number: 7, Request: request}}, want: originIntent,
		},
		"User":   {reason: "A user who made a RolloutRequest is named.", ref: &ledger.RequestReference{Name: "back", By: "ann"}, want: "ann"},
		"Nobody": {reason: "A RolloutRequest that names no user is named itself.", ref: &ledger.RequestReference{Name: "back"}, want: "back"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 7, Request: request, RequestRef: tc.ref}, History: tc.history}
			if got := originOfCurrent(s); got != tc.want {
				t.Errorf("\n%s\noriginOf(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
