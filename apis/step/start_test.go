package step

import (
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestHasIntentOf compares the request of the spec with a revision, by the digests of two schemes.
func TestHasIntentOf(t *testing.T) {
	cases := map[string]struct {
		reason  string
		desired Desired
		want    bool
	}{
		"Same": {reason: "The same digest is the same intent.", desired: Desired{Request: ledger.Request{Intent: "a", Scheme: 1}}, want: true},
		"Other": {
			reason:  "Another digest of the same scheme is another intent, even with the same trees.",
			desired: Desired{Request: ledger.Request{Intent: "b", Scheme: 1}, HasSameTrees: true},
		},
		"Scheme": {
			reason:  "Where the digests are of two schemes, the same trees are the same intent.",
			desired: Desired{Request: ledger.Request{Intent: "b", Scheme: 2}, HasSameTrees: true}, want: true,
		},
		"SchemeTrees": {
			reason:  "Where the digests are of two schemes, other trees are another intent.",
			desired: Desired{Request: ledger.Request{Intent: "b", Scheme: 2}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.desired.hasIntentOf(ledger.Revision{Request: ledger.Request{Intent: "a", Scheme: 1}}); got != tc.want {
				t.Errorf("\n%s\nhasIntentOf(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
