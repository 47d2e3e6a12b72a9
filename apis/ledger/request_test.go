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
