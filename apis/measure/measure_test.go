package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
		ok     bool
	}{
		"Milliseconds": {reason: "A canonical amount is not changed.", text: "500ms", want: "500ms", ok: true},
		"Seconds":      {reason: "Seconds are converted to milliseconds.", text: "0.50 s", want: "500ms", ok: true},
		"Micro":        {reason: "Fractions of a unit are converted exactly.", text: "1us", want: "0.001ms", ok: true},
		"Gigabits":     {reason: "Throughput is converted to megabits per second.", text: "2.5 Gbps", want: "2500Mbps", ok: true},
		"Percent":      {reason: "Percent are kept as percent.", text: "99.90%", want: "99.9%", ok: true},
		"Bare":         {reason: "A bare number has no unit.", text: "007", want: "7", ok: true},
		"Bytes":        {reason: "Bytes per second are not a unit.", text: "1 MBps"},
		"TooFine":      {reason: "A number that could not be read back is refused.", text: "0.000000001us"},
		"TooLarge":     {reason: "A number with too many digits is refused.", text: "1000000000000000ms"},
		"Exponent":     {reason: "An exponent could stand for any number of digits.", text: "1e9ms"},
		"Sign":         {reason: "A measure below zero is refused.", text: "-1ms"},
		"Nothing":      {reason: "A unit without a number is refused.", text: "ms"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := Parse(tc.text)
			if diff := cmp.Diff(tc.ok, ok); diff != "" {
				t.Fatalf("\n%s\nParse(%q): -want ok, +got ok:\n%s", tc.reason, tc.text, diff)
			}
			if diff := cmp.Diff(tc.want, got.String()); ok && diff != "" {
				t.Errorf("\n%s\nParse(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestHundredth(t *testing.T) {
	cases := map[string]struct {
		reason string
		value  string
		want   string
	}{
		"Fraction": {reason: "A share of one is exact.", value: "0.1", want: "0.001"},
		"Whole":    {reason: "All of it is one.", value: "100", want: "1"},
		"Zero":     {reason: "Zero percent is a share of zero.", value: "0", want: "0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Hundredth(tc.value)); diff != "" {
				t.Errorf("\n%s\nHundredth(%q): -want, +got:\n%s", tc.reason, tc.value, diff)
			}
		})
	}
}

func TestIn(t *testing.T) {
	cases := map[string]struct {
		reason string
		amount string
		unit   string
		want   string
		ok     bool
	}{
		"Seconds":    {reason: "Milliseconds can be converted to seconds.", amount: "500ms", unit: "s", want: "0.5", ok: true},
		"Micro":      {reason: "Smaller units have more digits.", amount: "500ms", unit: "us", want: "500000", ok: true},
		"Same":       {reason: "Its own unit changes nothing.", amount: "500ms", unit: "ms", want: "500", ok: true},
		"Kilobits":   {reason: "Throughput is converted to another unit.", amount: "2.5Gbps", unit: "kbps", want: "2500000", ok: true},
		"Share":      {reason: "A share of one has no unit.", amount: "5%", unit: "", want: "0.05", ok: true},
		"NoPercent":  {reason: "A number without a unit need not be a share.", amount: "0.05", unit: "%"},
		"Other":      {reason: "A time cannot be converted to a throughput.", amount: "5ms", unit: "Mbps"},
		"Unknown":    {reason: "Nothing is known of other units.", amount: "5ms", unit: "requests/s"},
		"TooManyNow": {reason: "A number with too many digits in its unit is refused.", amount: "999999999999999ms", unit: "us"},
		"TooFineNow": {reason: "A number with too many decimals in its unit is refused.", amount: "0.000000001ms", unit: "s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, _ := Parse(tc.amount)
			got, ok := a.In(tc.unit)
			if diff := cmp.Diff(tc.ok, ok); diff != "" {
				t.Fatalf("\n%s\n%s.In(%q): -want ok, +got ok:\n%s", tc.reason, tc.amount, tc.unit, diff)
			}
			if diff := cmp.Diff(tc.want, got); ok && diff != "" {
				t.Errorf("\n%s\n%s.In(%q): -want, +got:\n%s", tc.reason, tc.amount, tc.unit, diff)
			}
		})
	}
}
