package threshold

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/test/soak"
)

// textOf an error, or none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParse(t *testing.T) {
	const grammar = "must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'"
	cases := map[string]struct {
		reason string
		text   string
		want   string
		err    string
	}{
		"Time":    {reason: "A time is normalized to milliseconds.", text: "<=0.5 s", want: "<= 500ms"},
		"Percent": {reason: "Needless zeros and spaces are removed.", text: " >= 99.0 % ", want: ">= 99%"},
		"Share":   {reason: "A threshold may be a number without a unit.", text: "< 0.05", want: "< 0.05"},
		"Bare":    {reason: "The comparison may be left to the metric.", text: "500ms", want: "500ms"},
		"Exactly": {reason: "A threshold may ask for exactly one value.", text: "==1", want: "== 1"},
		"More":    {reason: "There is more than at least.", text: ">1Gbps", want: "> 1000Mbps"},
		"Own":     {reason: "A unit that only a Blueprint knows stays.", text: ">=10requests/s", want: ">= 10 requests/s"},
		"TooLong": {reason: "A text that is too long is refused.", text: "1" + strings.Repeat(" ", maxCharacters), err: grammar},
		"Digits": {
			reason: "A number with too many digits is refused.",
			text:   "1.0000000001", err: "must have at most 15 digits before the point, and 9 behind it",
		},
		"Negative":   {reason: "A threshold below zero is refused.", text: "> -1", err: grammar},
		"Exponent":   {reason: "An exponent could stand for any number of digits.", text: "< 1e9", err: grammar},
		"NotANumber": {reason: "A threshold that is not a number is refused.", text: "<= NaN", err: grammar},
		"Empty":      {reason: "An empty text is not a threshold.", text: "", err: grammar},
		"Comparison": {reason: "A comparison without a number is not a threshold.", text: "<=", err: grammar},
		"Unequal":    {reason: "Another comparison than the five is refused.", text: "!= 1", err: grammar},
		"Line":       {reason: "A threshold of more than one line is refused.", text: "<= 1\n", err: grammar},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.text)
			if diff := cmp.Diff(tc.err, textOf(err)); diff != "" {
				t.Errorf("\n%s\nParse(%q): -want error, +got error:\n%s", tc.reason, tc.text, diff)
			}
			if diff := cmp.Diff(tc.want, got.String()); err == nil && diff != "" {
				t.Errorf("\n%s\nParse(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestIn(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		unit   string
		want   string
		err    string
	}{
		"Converted":  {reason: "A time is converted to the unit of the metric.", text: "<= 500ms", unit: "s", want: "<= 0.5s"},
		"Number":     {reason: "A number is in the unit of its metric.", text: "99.0", unit: "%", want: "99%"},
		"NumberOwn":  {reason: "A number gets the unit that only the Blueprint defines.", text: "< 10", unit: "requests/s", want: "< 10 requests/s"},
		"Share":      {reason: "A metric without a unit is measured in shares of one.", text: "< 5 %", unit: "", want: "< 0.05"},
		"Own":        {reason: "The same unit is the same.", text: ">= 10 requests/s", unit: "requests/s", want: ">= 10 requests/s"},
		"Unwritable": {reason: "A unit of several words cannot be said, and is left out.", text: "3", unit: "calls per day", want: "3"},
		"Mismatch":   {reason: "A time cannot be converted to percent.", text: "<= 500ms", unit: "%", err: `"<= 500ms" cannot be said in %`},
		"MismatchNo": {
			reason: "A time cannot be converted to a number without a unit.",
			text:   "<= 500ms", unit: "", err: `"<= 500ms" cannot be said in a number without a unit`,
		},
		"OtherOwn": {reason: "Nothing is known of other units.", text: "<= 5 errors", unit: "requests", err: `"<= 5 errors" cannot be said in requests`},
		"TooFine":  {reason: "Too many decimals are refused.", text: "< 0.000000001ms", unit: "s", err: `"< 0.000000001ms" cannot be said in s`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parsed.In(tc.unit)
			if diff := cmp.Diff(tc.err, textOf(err)); diff != "" {
				t.Fatalf("\n%s\n%q.In(%q): -want error, +got error:\n%s", tc.reason, tc.text, tc.unit, diff)
			}
			if diff := cmp.Diff(tc.want, got.String()); err == nil && diff != "" {
				t.Errorf("\n%s\n%q.In(%q): -want, +got:\n%s", tc.reason, tc.text, tc.unit, diff)
			}
		})
	}
}

func TestDirected(t *testing.T) {
	cases := map[string]struct {
		reason    string
		text      string
		direction catalogv1alpha1.Direction
		want      string
		err       string
	}{
		"AtMost":  {reason: "A latency without a comparison gets an upper limit.", text: "500ms", direction: catalogv1alpha1.DirectionAtMost, want: "<= 500ms"},
		"AtLeast": {reason: "An availability without a comparison gets a lower limit.", text: "99%", direction: catalogv1alpha1.DirectionAtLeast, want: ">= 99%"},
		"Said":    {reason: "A comparison that is said stays.", text: "< 500ms", direction: catalogv1alpha1.DirectionAtMost, want: "< 500ms"},
		"Exactly": {reason: "A value that is fixed points nowhere.", text: "== 0", direction: catalogv1alpha1.DirectionAtMost, want: "== 0"},
		"WrongMost": {
			reason: "A lower limit is refused for a metric where less is better.", text: ">= 5 %", direction: catalogv1alpha1.DirectionAtMost, want: ">= 5%",
			err: `">= 5%" points the wrong way: less is better, so the threshold must begin with <= or <`,
		},
		"WrongLeast": {
			reason: "An upper limit is refused for a metric where more is better.", text: "< 99%", direction: catalogv1alpha1.DirectionAtLeast, want: "< 99%",
			err: `"< 99%" points the wrong way: more is better, so the threshold must begin with >= or >`,
		},
		"Unknown": {reason: "A metric without a direction leaves the threshold without a comparison.", text: "5", want: "5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parsed.Directed(tc.direction)
			if diff := cmp.Diff(tc.err, textOf(err)); diff != "" {
				t.Errorf("\n%s\n%q.Directed(%q): -want error, +got error:\n%s", tc.reason, tc.text, tc.direction, diff)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("\n%s\n%q.Directed(%q): -want, +got:\n%s", tc.reason, tc.text, tc.direction, diff)
			}
			if diff := cmp.Diff(tc.direction != "", got.Compares()); diff != "" {
				t.Errorf("\n%s\n%q.Directed(%q).Compares(): -want, +got:\n%s", tc.reason, tc.text, tc.direction, diff)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	tenth, fifth := 0.1, 0.2
	cases := map[string]struct {
		reason string
		text   string
		unit   string
		value  float64
		want   bool
	}{
		"Exactly":       {reason: "500 ms are at most half a second.", text: "<= 0.5s", unit: "ms", value: 500, want: true},
		"ExactlyInS":    {reason: "A value equal to the limit holds in seconds too.", text: "<= 500ms", unit: "s", value: 0.5, want: true},
		"Binary":        {reason: "No measurement is exactly a tenth: the nearest one is.", text: "<= 100ms", unit: "s", value: tenth, want: true},
		"BinaryAtLeast": {reason: "The same holds from the other side.", text: ">= 0.1", value: tenth, want: true},
		"Rounded":       {reason: "A value above the limit fails, however small the difference.", text: "<= 0.3", value: tenth + fifth},
		"Less":          {reason: "A value equal to the limit is not less.", text: "< 500ms", unit: "ms", value: 500},
		"LessHolds":     {reason: "A value just below the limit is less.", text: "< 500ms", unit: "ms", value: math.Nextafter(500, 0), want: true},
		"More":          {reason: "A value equal to the limit is not more.", text: "> 99%", unit: "%", value: 99},
		"MoreHolds":     {reason: "A value above the limit is more.", text: "> 99%", unit: "%", value: 99.01, want: true},
		"Equal":         {reason: "A fixed value is met.", text: "== 1", value: 1, want: true},
		"Unequal":       {reason: "A value that differs from the limit is not equal.", text: "== 1", value: 1.0000001},
		"Share":         {reason: "A percentage of a share is exact.", text: "<= 7%", value: 0.07, want: true},
		"Undirected":    {reason: "A threshold without a comparison never holds.", text: "5", value: 5},
		"NaN":           {reason: "NaN fails each threshold.", text: "<= 5", value: math.NaN()},
		"Infinite":      {reason: "An infinite value comes from a division by zero, and fails.", text: ">= 5", value: math.Inf(1)},
		"MinusInfinite": {reason: "A negative infinite value comes from a division by zero, and fails.", text: "<= 5", value: math.Inf(-1)},
		"Negative":      {reason: "A measurement may be below zero.", text: "<= 5", value: -1, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := Parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			limit, err := parsed.In(tc.unit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, limit.Holds(tc.value)); diff != "" {
				t.Errorf("\n%s\n%q.In(%q).Holds(%v): -want, +got:\n%s", tc.reason, tc.text, tc.unit, tc.value, diff)
			}
		})
	}
}

// FuzzParse reads each threshold again as it is written, also in another unit.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"<= 500ms", ">=99.0 %", "< 0.05", "10 requests/s", "==1", "> 2.5 Gbps", "0.000000001ms"} {
		f.Add(text, "s")
	}
	f.Add("5%", "")
	f.Add("1 s", "milliseconds")
	f.Fuzz(func(t *testing.T, text, unit string) {
		defer soak.Input(t)()
		first, err := Parse(text)
		if err != nil {
			return
		}
		checkAgain(t, first)
		in, err := first.In(unit)
		if err != nil {
			return
		}
		reparsed, err := Parse(in.String())
		if err != nil {
			t.Fatalf("%q.In(%q) is %q, which is none: %v", text, unit, in, err)
		}
		back, err := reparsed.In(unit)
		if err != nil || back.limit != in.limit {
			t.Errorf("%q.In(%q) is %q, and again %q: %v", text, unit, in, back, err)
		}
	})
}

func checkAgain(t *testing.T, first Threshold) {
	t.Helper()
	reparsed, err := Parse(first.String())
	if err != nil {
		t.Fatalf("%q is none when it is read again: %v", first, err)
	}
	if diff := cmp.Diff(first.String(), reparsed.String()); diff != "" {
		t.Errorf("read again: -want, +got:\n%s", diff)
	}
}

func TestHoldsFor(t *testing.T) {
	cases := map[string]struct {
		reason, threshold string
		values            measure.Range
		want              bool
	}{
		"AtLeast":      {reason: "All values from the limit on hold.", threshold: ">= 0", values: measure.NotNegative(), want: true},
		"Above":        {reason: "The limit itself is not above the limit.", threshold: "> 0", values: measure.NotNegative()},
		"Any":          {reason: "Some values are below the limit.", threshold: ">= 0", values: measure.AnyValue()},
		"AtMost":       {reason: "All values up to the limit hold.", threshold: "<= 1", values: measure.Range{Low: 0, High: 1}, want: true},
		"Below":        {reason: "The limit itself is not below the limit.", threshold: "< 1", values: measure.Range{Low: 0, High: 1}},
		"BelowAll":     {reason: "All values are below the limit.", threshold: "< 2", values: measure.Range{Low: 0, High: 1}, want: true},
		"AboveAll":     {reason: "All values are above the limit.", threshold: "> 1", values: measure.Range{Low: 2, High: 3}, want: true},
		"Equal":        {reason: "The one value is the limit.", threshold: "== 1", values: measure.OneValue(1), want: true},
		"EqualOther":   {reason: "The one value is another.", threshold: "== 1", values: measure.OneValue(2)},
		"EqualSeveral": {reason: "One of several values is the limit.", threshold: "== 1", values: measure.Range{Low: 0, High: 1}},
		"None":         {reason: "Without a value none fails.", threshold: "== 1", values: measure.NoValue(), want: true},
		"Bare":         {reason: "A threshold without a comparison never holds.", threshold: "1", values: measure.OneValue(1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limit, err := Parse(tc.threshold)
			if err != nil {
				t.Fatal(err)
			}
			if limit.HoldsFor(tc.values) != tc.want {
				t.Errorf("\n%s\nHoldsFor(%v): want %v", tc.reason, tc.values, tc.want)
			}
		})
	}
}
