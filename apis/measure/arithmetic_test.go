package measure

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArithmetic(t *testing.T) {
	between := func(low, high float64) Range { return Range{Low: low, High: high} }
	cases := map[string]struct {
		reason    string
		got, want Range
	}{
		"Negative":  {reason: "The ends change their places.", got: between(-1, 3).Negative(), want: between(-3, 1)},
		"Plus":      {reason: "A sum has the sums of the ends.", got: between(1, 2).Plus(between(-5, 5)), want: between(-4, 7)},
		"PlusAny":   {reason: "A sum with any value may have each value.", got: OneValue(1).Plus(AnyValue()), want: AnyValue()},
		"PlusNone":  {reason: "An end that is not a number is unknown.", got: NotNegative().Plus(NotNegative().Negative()), want: AnyValue()},
		"Minus":     {reason: "A difference is least for the greatest subtrahend.", got: OneValue(1).Minus(NotNegative()), want: between(math.Inf(-1), 1)},
		"Times":     {reason: "Two negative numbers have a positive product.", got: between(-2, 1).Times(between(-3, 4)), want: between(-8, 6)},
		"TimesZero": {reason: "Zero times any value is zero.", got: OneValue(0).Times(AnyValue()), want: OneValue(0)},
		"Divided":   {reason: "A quotient by a negative number changes its sign.", got: between(1, 4).DividedBy(OneValue(-2)), want: between(-2, -0.5)},
		"Ratio":     {reason: "A ratio of numbers that are not negative is not negative.", got: NotNegative().DividedBy(NotNegative()), want: NotNegative()},
		"ByAny":     {reason: "A quotient by any value may have each value.", got: OneValue(1).DividedBy(AnyValue()), want: AnyValue()},
		"Remainder": {reason: "A remainder has the sign of the dividend.", got: NotNegative().Remainder(OneValue(-3)), want: between(0, 3)},
		"Smaller":   {reason: "A remainder is not greater than the dividend.", got: between(-1, 2).Remainder(OneValue(5)), want: between(-1, 2)},
		"Several":   {reason: "A Range reaches from the least value to the greatest.", got: RangeOf(3, -1, 2), want: between(-1, 3)},
		"NaN":       {reason: "A value that is not a number says nothing.", got: RangeOf(3, math.NaN()), want: AnyValue()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
