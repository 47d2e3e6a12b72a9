package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	cases := map[string]struct {
		reason string
		values []float64
		want   float64
	}{
		"None":    {reason: "The percentile of nothing is zero."},
		"One":     {reason: "A single value is the percentile.", values: []float64{3}, want: 3},
		"Hundred": {reason: "A single value of a hundred may be later, whatever their order.", values: hundred, want: 99},
		"Few":     {reason: "Of fewer than a hundred values the largest counts.", values: []float64{2, 1, 7}, want: 7},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Percentile(tc.values, 99)); diff != "" {
				t.Errorf("\n%s\nPercentile(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
