package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	cases := map[string]struct {
		reason  string
		samples []float64
		want    float64
	}{
		"None": {reason: "The median of no samples is 0."},
		"Odd":  {reason: "The median of an odd number of samples is the sample in the middle.", samples: []float64{9, 1, 3}, want: 3},
		"Even": {reason: "The median of an even number of samples is the mean of the two in the middle.", samples: []float64{4, 1, 2, 9}, want: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Median(tc.samples)); diff != "" {
				t.Errorf("\n%s\nMedian(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
