package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBoundOfFigure(t *testing.T) {
	cases := map[string]struct {
		reason        string
		bound         string
		within        []float64
		outside       []float64
		isUnspecified bool
	}{
		"AtMost":  {reason: "The limit itself is within an upper bound.", bound: "≤ 1.05", within: []float64{0, 1.05}, outside: []float64{1.06}},
		"AtLeast": {reason: "The limit itself is within a lower bound.", bound: "≥ 20", within: []float64{20, 1e6}, outside: []float64{19.9}},
		"Exactly": {reason: "A count may have to be one number.", bound: "= 0", within: []float64{0}, outside: []float64{1, -1}},
		"Large":   {reason: "A large limit is written without an exponent.", bound: "≤ 1000000", within: []float64{1e6}, outside: []float64{1e6 + 1}},
		"None":    {reason: "Without a bound every value is good.", within: []float64{-1, 0, 1e9}, isUnspecified: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := Bound{}
			if !tc.isUnspecified {
				if err := b.UnmarshalText([]byte(tc.bound)); err != nil {
					t.Fatal(err)
				}
			}
			for _, value := range tc.within {
				if !b.Admits(value) {
					t.Errorf("\n%s\n%v is outside of %q", tc.reason, value, b)
				}
			}
			for _, value := range tc.outside {
				if b.Admits(value) {
					t.Errorf("\n%s\n%v is within %q", tc.reason, value, b)
				}
			}
			if diff := cmp.Diff(tc.bound, b.String()); diff != "" {
				t.Errorf("\n%s\nString(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestUnreadableBound refuses texts other than bounds.
func TestUnreadableBound(t *testing.T) {
	for _, text := range []string{"50", "<= 50", "≤50", "≤ many", "≤ ", "≤ 50 ms", "< 50"} {
		if err := new(Bound).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("UnmarshalText(%q): want an error", text)
		}
	}
}
