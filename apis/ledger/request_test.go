package ledger

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestDigest(t *testing.T) {
	past, present := Request{Intent: "sha256:1"}, Request{Intent: "sha256:2"}
	state := State{Current: &Revision{Number: 2, Request: present}, History: []Past{{Number: 1, Request: past}, {Number: 2, Request: present}}}
	cases := map[string]struct {
		reason   string
		state    State
		revision int64
		want     string
	}{
		"Current": {reason: "The current revision has the request that it was ordered with.", state: state, revision: 2, want: present.Digest()},
		"Past":    {reason: "An earlier revision has the request that the history remembers.", state: state, revision: 1, want: past.Digest()},
		"Unknown": {reason: "A revision that the ledger does not remember has no digest.", state: state, revision: 3},
		"None":    {reason: "A ledger without a revision has no digest.", revision: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.state.RequestDigest(tc.revision)); diff != "" {
				t.Errorf("\n%s\nRequestDigest(%d): -want, +got:\n%s", tc.reason, tc.revision, diff)
			}
		})
	}
}

// TestHasNewerRenderer compares a request with that of the current revision.
func TestHasNewerRenderer(t *testing.T) {
	current := Request{Intent: "intent", Sources: "sources", Scheme: 1, Renderer: 1}
	cases := map[string]struct {
		reason  string
		request Request
		want    bool
	}{
		"Newer":   {reason: "A newer renderer is the only change.", request: Request{Intent: "intent", Sources: "sources", Scheme: 1, Renderer: 2}, want: true},
		"Same":    {reason: "The same renderer is no change.", request: current},
		"Older":   {reason: "An older renderer is not newer.", request: Request{Intent: "intent", Sources: "sources"}},
		"Intent":  {reason: "A user changed the intent too.", request: Request{Intent: "other", Sources: "sources", Renderer: 2}},
		"Sources": {reason: "The catalog changed too.", request: Request{Intent: "intent", Sources: "other", Renderer: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.request.HasNewerRenderer(current); got != tc.want {
				t.Errorf("\n%s\nHasNewerRenderer(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
