package promql

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/measure"
)

func TestTemplateRange(t *testing.T) {
	truth, atLeast := measure.Range{Low: 0, High: 1}, func(low float64) measure.Range { return measure.Range{Low: low, High: math.Inf(1)} }
	atMost := func(high float64) measure.Range { return measure.Range{Low: math.Inf(-1), High: high} }
	cases := map[string]struct {
		reason, query string
		want          measure.Range
	}{
		"Series":      {reason: "A series may have each value.", query: `up{a="{{service}}"}`, want: measure.AnyValue()},
		"Number":      {reason: "A number is itself.", query: "-(2.5)", want: measure.OneValue(-2.5)},
		"Vector":      {reason: "A number as a vector is itself.", query: "vector(1)", want: measure.OneValue(1)},
		"Clock":       {reason: "The time is not a constant, and not negative.", query: "vector(time())", want: atLeast(0)},
		"Minute":      {reason: "An hour has 60 minutes.", query: "minute()", want: measure.Range{Low: 0, High: 59}},
		"Year":        {reason: "A year may have each value.", query: "year()", want: measure.AnyValue()},
		"Pi":          {reason: "Pi is a constant.", query: "pi()", want: measure.OneValue(math.Pi)},
		"Ceiling":     {reason: "A value that is rounded up keeps its order.", query: "ceil(clamp(a, 0.5, 1.5))", want: measure.Range{Low: 1, High: 2}},
		"Floor":       {reason: "A value that is rounded down keeps its order.", query: "floor(rate(a[5m]))", want: atLeast(0)},
		"Round":       {reason: "A rounded value keeps its order.", query: "round(clamp(a, -0.4, 1.6))", want: measure.Range{Low: 0, High: 2}},
		"RoundTo":     {reason: "A value that is rounded to a multiple keeps its sign.", query: "round(rate(a[5m]), 0.1)", want: atLeast(0)},
		"RoundAny":    {reason: "A series that is rounded to a multiple may have each value.", query: "round(a, 0.1)", want: measure.AnyValue()},
		"Sign":        {reason: "The sign of a rate is 0 or 1.", query: "sgn(rate(a[5m]))", want: truth},
		"Negative":    {reason: "A rate times a negative number is not positive.", query: "-1 * rate(a[5m])", want: atMost(0)},
		"Divided":     {reason: "A rate through a negative number is not positive.", query: "rate(a[5m]) / -2", want: atMost(0)},
		"NegativeBy":  {reason: "A negative number through a rate is not positive.", query: "-1 / rate(a[5m])", want: atMost(0)},
		"Quantile":    {reason: "A quantile lies between the values.", query: "quantile(0.9, rate(a[5m]))", want: atLeast(0)},
		"QuantileOut": {reason: "A quantile below 0 is infinite.", query: "quantile(-1, rate(a[5m]))", want: measure.AnyValue()},
		"QuantileSub": {reason: "A quantile over a subquery lies between its values.", query: "quantile_over_time(0.9, rate(a[5m])[5m:1m])", want: atLeast(0)},
		"SumSubquery": {reason: "A sum over a subquery keeps its sign.", query: "sum_over_time(rate(a[5m])[5m:1m])", want: atLeast(0)},
		"SumOverTime": {reason: "A sum over samples may have each value.", query: "sum_over_time(a[5m])", want: measure.AnyValue()},
		"Rate":        {reason: "A rate is not negative.", query: "rate(a[5m])", want: atLeast(0)},
		"SumOfRates":  {reason: "A sum of numbers that are not negative is not negative.", query: "sum(rate(a[5m]))", want: atLeast(0)},
		"SumOfSeries": {reason: "A sum of series may have each value.", query: "sum(a)", want: measure.AnyValue()},
		"SumNegative": {reason: "A sum of negative numbers is negative.", query: "sum(-rate(a[5m]))", want: atMost(0)},
		"Ratio":       {reason: "A ratio of rates is not negative.", query: "sum(rate(a[5m])) / sum(rate(b[5m]))", want: atLeast(0)},
		"Share":       {reason: "A part of all requests is at most all of them.", query: `sum(rate(a{code=~"5.."}[5m])) / sum(rate(a[5m]))`, want: truth},
		"ShareByLabel": {
			reason: "The shares of each label are parts, too.",
			query:  `sum by (x) (increase(a{b="c",d!="e"}[5m])) / sum by (x) (increase(a{b="c"}[5m]))`, want: truth,
		},
		"SharePercent": {
			reason: "A share may be multiplied before its division.",
			query:  `100 * sum(rate(a{b="c"}[5m])) / sum(rate(a[5m]))`, want: measure.Range{Low: 0, High: 100},
		},
		"ShareRest": {
			reason: "The rest of a share is a share.",
			query:  `(1 - (sum(rate(a{b="c"}[5m])) or vector(0)) / (sum(rate(a[5m])) > 0)) * 100`, want: measure.Range{Low: 0, High: 100},
		},
		"ShareOfCounts": {reason: "Targets that are up are a part of all targets.", query: `count(up{a="b"} == 1) / count(up{a="b"})`, want: truth},
		"ShareOther": {
			reason: "A selector that lacks a matcher of the whole may have more series.",
			query:  `sum(rate(a{b="c"}[5m])) / sum(rate(a{d="e"}[5m]))`, want: atLeast(0),
		},
		"ShareWindow":   {reason: "Another window has other samples.", query: `sum(rate(a{b="c"}[9m])) / sum(rate(a[5m]))`, want: atLeast(0)},
		"ShareOffset":   {reason: "Another time has other samples.", query: `sum(rate(a{b="c"}[5m] offset 1m)) / sum(rate(a[5m]))`, want: atLeast(0)},
		"ShareFunction": {reason: "Another function has other values.", query: `sum(increase(a{b="c"}[5m])) / sum(rate(a[5m]))`, want: atLeast(0)},
		"ShareOfSeries": {reason: "Series that may be negative have no parts.", query: `sum(a{b="c"}) / sum(a)`, want: measure.AnyValue()},
		"ShareAverage": {
			reason: "An average of a part may be greater than that of the whole.",
			query:  `avg(rate(a{b="c"}[5m])) / avg(rate(a[5m]))`, want: atLeast(0),
		},
		"ShareOn": {
			reason: "Series that are joined by some of their labels may be of different groups.",
			query:  `sum by (x) (rate(a{b="c"}[5m])) / on () sum by (x) (rate(a[5m]))`, want: atLeast(0),
		},
		"Complement":  {reason: "One minus a ratio is at most one.", query: "1 - sum(rate(a[5m])) / sum(rate(b[5m]))", want: atMost(1)},
		"Percent":     {reason: "A multiple keeps the sign.", query: "100 * count(a)", want: atLeast(100)},
		"Product":     {reason: "A product of constants is a constant.", query: "vector(-2) * 3", want: measure.OneValue(-6)},
		"Half":        {reason: "A part of a count is smaller.", query: "count(a) / 2", want: atLeast(0.5)},
		"Modulo":      {reason: "A remainder is smaller than the divisor, and has the sign of the dividend.", query: "a % -2", want: measure.Range{Low: -2, High: 2}},
		"ModuloRate":  {reason: "The remainder of a rate is not negative.", query: "rate(a[5m]) % 2", want: measure.Range{Low: 0, High: 2}},
		"ModuloOf":    {reason: "A remainder by a series may have each value.", query: "a % b", want: measure.AnyValue()},
		"Square":      {reason: "An even power is not negative.", query: "a ^ 2", want: atLeast(0)},
		"Cube":        {reason: "An odd power may have each value.", query: "a ^ 3", want: measure.AnyValue()},
		"PowerOf":     {reason: "A power of a number that is not negative is not negative.", query: "2 ^ a", want: atLeast(0)},
		"Sine":        {reason: "A sine is between -1 and 1.", query: "sin(a)", want: measure.Range{Low: -1, High: 1}},
		"Angle":       {reason: "An angle is at most a half turn.", query: "abs(a atan2 b) - pi()", want: measure.Range{Low: -math.Pi, High: math.Inf(1)}},
		"Timestamp":   {reason: "The time of a sample is not negative.", query: "timestamp(a)", want: atLeast(0)},
		"Bool":        {reason: "A comparison with bool is 0 or 1.", query: "a > bool 5", want: truth},
		"Filter":      {reason: "A comparison without bool keeps the values that satisfy it.", query: "a > 5", want: atLeast(5)},
		"FilterBelow": {reason: "An upper limit bounds the values.", query: "abs(a) <= 5", want: measure.Range{Low: 0, High: 5}},
		"FilterFirst": {reason: "A comparison that begins with its number keeps the values of the series.", query: "5 > a", want: atMost(5)},
		"FilterEqual": {reason: "A comparison for equality keeps one value.", query: "a == 3", want: measure.OneValue(3)},
		"FilterOther": {reason: "A comparison for inequality keeps all others.", query: "a != 3", want: measure.AnyValue()},
		"Or":          {reason: "An alternative adds its values.", query: "count(a) or vector(0)", want: atLeast(0)},
		"And":         {reason: "A condition adds no values.", query: "vector(1) and a", want: measure.OneValue(1)},
		"Absent":      {reason: "An absence is 1.", query: "absent(a)", want: measure.OneValue(1)},
		"Fraction":    {reason: "A fraction of a histogram is between 0 and 1.", query: "histogram_fraction(0, 1, a)", want: truth},
		"Clamp":       {reason: "Limits bound the values.", query: "clamp(a, 0, 10)", want: measure.Range{Low: 0, High: 10}},
		"ClampMin":    {reason: "A lower limit bounds the values.", query: "clamp_min(a, 2)", want: atLeast(2)},
		"ClampMax":    {reason: "An upper limit bounds the values, and keeps their sign.", query: "clamp_max(abs(a), 2)", want: measure.Range{Low: 0, High: 2}},
		"ClampOther":  {reason: "An upper limit that is a series may be lower than each value.", query: "clamp_max(abs(a), scalar(b))", want: measure.AnyValue()},
		"ClampRaised": {reason: "A lower limit that is a series may be higher than each value.", query: "clamp_min(-abs(a), scalar(b))", want: measure.AnyValue()},
		"ClampBoth":   {reason: "Limits that are series have ranges.", query: "clamp(a, scalar(abs(b)), 10)", want: measure.Range{Low: 0, High: 10}},
		"Subquery":    {reason: "An average over a subquery lies between its values.", query: "avg_over_time((a > bool 1)[5m:1m])", want: truth},
		"Label":       {reason: "A changed label changes no value.", query: `label_replace(abs(a), "x", "y", "z", ".*")`, want: atLeast(0)},
		"Deviation":   {reason: "A deviation is not negative.", query: "stddev(a)", want: atLeast(0)},
		"Group":       {reason: "A group is 1.", query: "group(a)", want: measure.OneValue(1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := Parse(tc.query)
			if err != nil {
				t.Fatalf("\n%s\nParse(%q): %v", tc.reason, tc.query, err)
			}
			if diff := cmp.Diff(tc.want, q.Range()); diff != "" {
				t.Errorf("\n%s\n%s: Range(): -want, +got:\n%s", tc.reason, tc.query, diff)
			}
		})
	}
}

func TestGivesOneSeries(t *testing.T) {
	cases := map[string]struct {
		reason, query string
		want          bool
	}{
		"Number":    {reason: "A number is not a series.", query: "1 + 2", want: true},
		"Selector":  {reason: "A selector may match several series.", query: "a"},
		"Sum":       {reason: "A sum over all labels is one series.", query: "sum(a)", want: true},
		"SumBy":     {reason: "A sum for each value of a label is several.", query: "sum by (x) (a)"},
		"Without":   {reason: "A sum that keeps labels is several.", query: "sum without () (a)"},
		"Top":       {reason: "The largest series may be several.", query: "topk(3, a)"},
		"Quotient":  {reason: "A quotient of two sums is one series.", query: "(sum(a) / sum(b)) * 100", want: true},
		"Mixed":     {reason: "A quotient of a selector is as many series as match.", query: "a / 100"},
		"Or":        {reason: "An alternative without labels stands for the same series.", query: "sum(a) or vector(0)", want: true},
		"OrSeries":  {reason: "An alternative with labels adds series.", query: "sum(a) or b"},
		"And":       {reason: "A condition adds no series.", query: "sum(a) and on () b", want: true},
		"Rate":      {reason: "A rate is as many series as match.", query: "rate(a[5m])"},
		"Rounded":   {reason: "A function of a value keeps its series.", query: "round(sum(a), 0.1)", want: true},
		"Scalar":    {reason: "A scalar is one number.", query: "scalar(a)", want: true},
		"Quantile":  {reason: "A quantile of buckets of one service is one series for each of their labels.", query: "histogram_quantile(0.9, sum by (le) (a))"},
		"Aggregate": {reason: "The greatest of several series is one.", query: "max(histogram_quantile(0.9, sum by (le, x) (a)))", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q, err := Parse(tc.query)
			if err != nil {
				t.Fatalf("\n%s\nParse(%q): %v", tc.reason, tc.query, err)
			}
			if q.GivesOneSeries() != tc.want {
				t.Errorf("\n%s\n%s: GivesOneSeries(): want %v", tc.reason, tc.query, tc.want)
			}
		})
	}
}
