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

// TestCountChanged compares resource versions before and after a time.
func TestCountChanged(t *testing.T) {
	previous := map[string]string{"a": "1", "b": "2", "deleted": "3"}
	cases := map[string]struct {
		reason  string
		current map[string]string
		want    float64
	}{
		"Same":    {reason: "An object that kept its resource version is not counted.", current: map[string]string{"a": "1", "b": "2"}},
		"Written": {reason: "A written object has another resource version.", current: map[string]string{"a": "1", "b": "4"}, want: 1},
		"Created": {reason: "A new object was written.", current: map[string]string{"a": "1", "b": "2", "c": "5"}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := CountChanged(previous, tc.current); got != tc.want {
				t.Errorf("\n%s\nCountChanged(...): want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

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
