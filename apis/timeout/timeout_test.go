package timeout_test

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/apis/timeout"
)

// TestParse reads the timeout of an attempt to roll back.
func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		// want is the valid text. It is the text itself if that is valid.
		want string
	}{
		"Usual":    {reason: "A duration within the bounds is a timeout.", text: "1h30m", want: "1h30m"},
		"Shortest": {reason: "A second is the shortest timeout.", text: "1s", want: "1s"},
		"Longest":  {reason: "A day is the longest timeout.", text: "24h", want: "24h"},
		"Short":    {reason: "Less than a second is no timeout.", text: "999ms", want: "5m"},
		"Long":     {reason: "More than a day is no timeout.", text: "24h1ns", want: "5m"},
		"VeryLong": {reason: "A duration far above the bounds is no timeout.", text: "9999h", want: "5m"},
		"Negative": {reason: "A negative duration is no timeout.", text: "-1m", want: "5m"},
		"NoUnit":   {reason: "A number without a unit is no timeout.", text: "5", want: "5m"},
		"Empty":    {reason: "An empty text is no timeout.", want: "5m"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := timeout.OfAttempt(tc.text); got != tc.want {
				t.Errorf("\n%s\nOfAttempt(%q): want %q, got %q", tc.reason, tc.text, tc.want, got)
			}
			parsed, isValid := timeout.Parse(tc.text)
			if isValid != (tc.text == tc.want) {
				t.Errorf("\n%s\nParse(%q): want valid %t, got %t", tc.reason, tc.text, tc.text == tc.want, isValid)
			}
			if isValid && (parsed < time.Second || parsed > 24*time.Hour) {
				t.Errorf("\n%s\nParse(%q): got %s", tc.reason, tc.text, parsed)
			}
		})
	}
}
