package measure

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRange(t *testing.T) {
	cases := map[string]struct {
		reason    string
		got, want Range
	}{
		"Union":        {reason: "A union reaches over a gap.", got: OneValue(1).Union(OneValue(5)), want: Range{Low: 1, High: 5}},
		"UnionOfNone":  {reason: "A Range without values adds no value.", got: NoValue().Union(OneValue(5)), want: OneValue(5)},
		"Intersection": {reason: "An intersection has the inner ends.", got: NotNegative().Intersection(Range{Low: -1, High: 7}), want: Range{Low: 0, High: 7}},
		"Disjoint": {
			reason: "Two Ranges without a common value have an empty intersection.",
			got:    OneValue(1).Intersection(OneValue(5)), want: Range{Low: 5, High: 1},
		},
		"Any": {reason: "All values have no end.", got: AnyValue(), want: Range{Low: math.Inf(-1), High: math.Inf(1)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if !OneValue(3).IsConstant() || NotNegative().IsConstant() {
		t.Error("One value alone is a constant.")
	}
}
