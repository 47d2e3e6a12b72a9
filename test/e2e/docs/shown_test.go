package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMissingLines(t *testing.T) {
	const output = "a 0m04s b\nrevision 2  8d21c0e   14:02:59\nend\n"
	cases := map[string]struct {
		reason string
		sample string
		want   []string
	}{
		"Variable":   {reason: "Ages, ids, times and the width of columns differ.", sample: "a 1m40s b\nrevision 2 5f77a901  09:00:01\n"},
		"OtherValue": {reason: "Another revision is another line.", sample: "revision 3 8d21c0e 14:02:59\n", want: []string{"revision 3 8d21c0e 14:02:59"}},
		"Order":      {reason: "A line that is printed before the others is missing behind them.", sample: "end\na 0m04s b\n", want: []string{"a 0m04s b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, missingLines(tc.sample, output)); diff != "" {
				t.Errorf("\n%s\nmissingLines(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
