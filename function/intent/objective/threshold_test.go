package objective

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestThreshold(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
		err    string
	}{
		"Bare":      {reason: "Without a comparison the metric's direction counts.", text: "99.0", want: "99"},
		"Spaces":    {reason: "Spaces in a threshold are ignored.", text: " >=  99.0  % ", want: ">= 99%"},
		"Seconds":   {reason: "A time is normalized to milliseconds.", text: "<=0.5s", want: "<= 500ms"},
		"OtherUnit": {reason: "Only a Blueprint knows other units.", text: "> 010 requests/s", want: "> 10 requests/s"},
		"Words":     {reason: "A threshold without a number is refused.", text: "fast", err: "must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'"},
		"Digits": {
			reason: "A threshold with too many digits is refused.",
			text:   "0.0000000001", err: "must have at most 15 digits before the point, and 9 behind it",
		},
		"Empty": {reason: "An empty text is not a threshold.", text: "", err: "must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Threshold("requests", tc.text)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("\n%s\nThreshold(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("\n%s\nThreshold(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
