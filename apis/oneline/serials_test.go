package oneline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffersInSerialsOnly(t *testing.T) {
	cases := map[string]struct {
		reason string
		a, b   string
		want   bool
	}{
		"Equal":   {reason: "Equal messages are the same.", a: "rule 7 says no", b: "rule 7 says no", want: true},
		"Request": {reason: "The id of a request is another one for each push.", a: "denied (request 4f3c2a91)", b: "denied (request 99aa0b12)", want: true},
		"Time":    {reason: "The time that a server writes into its message does not count.", a: "denied at 12:30:01Z", b: "denied at 12:31:07Z", want: true},
		"UUID": {
			reason: "A UUID is another one for each push.",
			a:      "denied, 0f8fad5b-d9cb-469f-a165-70867728950e", b: "denied, 7c9e6679-7425-40de-944b-e07fc1f90ae7", want: true,
		},
		"Moment": {
			reason: "A date with a time is another one for each push.",
			a:      "at 2031-12-17T13:14:15.123Z: no", b: "at 2031-12-17T13:14:16.456Z: no", want: true,
		},
		"Date":    {reason: "A date alone is another one for each day.", a: "closed on 2031-12-17", b: "closed on 2031-12-18", want: true},
		"Number":  {reason: "The long number of a request is another one for each push.", a: "request #1234567 denied", b: "request #1234568 denied", want: true},
		"Site":    {reason: "The name of a Site tells two messages apart.", a: "no tree for edge01-a", b: "no tree for edge01-b"},
		"Address": {reason: "The address of a server tells two messages apart.", a: "dial tcp 10.0.0.1:443: refused", b: "dial tcp 10.0.0.2:443: refused"},
		"Port":    {reason: "The port of a server tells two messages apart.", a: "dial tcp 10.0.0.1:443: refused", b: "dial tcp 10.0.0.1:8443: refused"},
		"Host":    {reason: "The name of a host tells two messages apart.", a: "cannot reach git01.example.org", b: "cannot reach git02.example.org"},
		"Limit":   {reason: "A code of an error tells two refusals apart.", a: "GH00123: no", b: "GH00124: no"},
		"Word":    {reason: "A word of hexadecimal letters without a digit is a word.", a: "defaced", b: "effaced"},
		"Rule":    {reason: "The short number of a rule tells two refusals apart.", a: "rule 7 says no", b: "rule 8 says no"},
		"Ref":     {reason: "The name of a ref tells two refusals apart.", a: "cannot push to refs/heads/main1", b: "cannot push to refs/heads/main2"},
		"Longer":  {reason: "A longer message is another one.", a: "no", b: "no again"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, DiffersInSerialsOnly(tc.a, tc.b)); diff != "" {
				t.Errorf("\n%s\nDiffersInSerialsOnly(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
