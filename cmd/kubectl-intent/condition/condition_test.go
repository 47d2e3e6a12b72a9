package condition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadConditions(t *testing.T) {
	type want struct {
		bounds string
		noData string
		field  string
	}
	cases := map[string]struct {
		reason           string
		success, failure string
		want             want
	}{
		"Mirrored": {reason: "The number may stand first.", success: "0.95 <= result[0]", want: want{bounds: ">= 0.95", field: "successCondition"}},
		"Parentheses": {
			reason:  "Parentheses and conversions change nothing.",
			success: "((asFloat(result[0]))) == 0", want: want{bounds: "== 0", field: "successCondition"},
		},
		"Lines": {
			reason:  "A line may begin with an operator.",
			success: "result[0] >= 0.95\n&& result[0] < 2\n", want: want{bounds: ">= 0.95 < 2", field: "successCondition"},
		},
		"Comment": {
			reason:  "A comment ends with its line.",
			success: "result[0] < 5 // errors\n", want: want{bounds: "< 5", field: "successCondition"},
		},
		"Not":      {reason: "A negation is the opposite comparison.", success: "!(result > 5)", want: want{bounds: "<= 5", field: "successCondition"}},
		"Exponent": {reason: "An exponent is written out.", success: "result < 1e3", want: want{bounds: "< 1000", field: "successCondition"}},
		"DeMorgan": {
			reason:  "A failure for either of two reasons requires both opposites.",
			failure: "result < 1 || result >= 3", want: want{bounds: ">= 1 < 3", field: "failureCondition"},
		},
		"Guard": {
			reason:  "A guard that demands data is part of each check.",
			success: "!isNaN(result[0]) && result[0] < 3", want: want{bounds: "< 3", field: "successCondition"},
		},
		"GuardBehind": {
			reason:  "A guard may stand behind the comparison.",
			success: "result < 3 && len(result) > 0", want: want{bounds: "< 3", field: "successCondition"},
		},
		"NaNPasses": {
			reason:  "A condition that accepts no number lets missing data pass.",
			success: "isNaN(result[0]) || result[0] < 3", want: want{bounds: "< 3", noData: "Pass", field: "successCondition"},
		},
		"NaNFails": {
			reason:  "A condition that fails without a number lets missing data fail.",
			failure: "isNaN(result) || result > 3", want: want{bounds: "<= 3", field: "failureCondition"},
		},
		"EitherMissing": {
			reason:  "Two guards that accept missing data are one.",
			success: "len(result) == 0 || isNaN(result[0]) || result[0] < 3", want: want{bounds: "< 3", noData: "Pass", field: "successCondition"},
		},
		"BothGuards": {
			reason:  "Two guards that demand data are one.",
			success: "len(result) > 0 && !isNaN(result[0]) && result[0] < 3", want: want{bounds: "< 3", field: "successCondition"},
		},
		"GuardsDenied": {
			reason:  "A denial of two guards demands data.",
			success: "!(len(result) == 0 || isNaN(result[0])) && result[0] < 3", want: want{bounds: "< 3", field: "successCondition"},
		},
		"EitherFails": {
			reason:  "Two guards of a failure demand data.",
			failure: "len(result) == 0 || isNaN(result[0]) || result[0] > 3", want: want{bounds: "<= 3", field: "failureCondition"},
		},
		"GuardsOfBoth": {
			reason:  "Two guards of which both have to hold accept nothing.",
			success: "(len(result) == 0 && isNaN(result[0])) || result[0] < 3", want: want{field: "successCondition"},
		},
		"Opposites": {
			reason:  "Two conditions may say the same.",
			success: "result < 5", failure: "result >= 5", want: want{bounds: "< 5", field: "failureCondition"},
		},
		"SecondSeries": {reason: "Another series than the first is not one value.", success: "result[1] < 5", want: want{field: "successCondition"}},
		"FloatIndex":   {reason: "An index that is a fraction is no index in Argo Rollouts.", success: "result[0.0] < 5", want: want{field: "successCondition"}},
		"NotEqual":     {reason: "No threshold says that a value differs.", success: "result != 5", want: want{field: "successCondition"}},
		"Negative":     {reason: "A threshold has no sign.", success: "result > -5", want: want{field: "successCondition"}},
		"Twice":        {reason: "Two bounds of one side would have one name.", success: "result > 1 && result > 2", want: want{field: "successCondition"}},
		"Text":         {reason: "A text is not compared with a threshold.", success: "result == 'ok'", want: want{field: "successCondition"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := want{}
			c, field, err := Read(tc.success, tc.failure)
			got.field = field
			if err == nil {
				got.noData = c.NoData
				for i, b := range c.Bounds {
					if i > 0 {
						got.bounds += " "
					}
					got.bounds += b.String()
				}
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nRead(%q, %q): %v: -want, +got:\n%s", tc.reason, tc.success, tc.failure, err, diff)
			}
		})
	}
}
