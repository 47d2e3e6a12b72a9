package subject

import "testing"

func TestStepNumber(t *testing.T) {
	cases := map[string]struct {
		reason string
		step   string
		want   int32
		isStep bool
	}{
		"Step":    {reason: "The number of a step stands before the number of all steps.", step: "3/5", want: 3, isStep: true},
		"Alone":   {reason: "A number alone is that of a step.", step: "3", want: 3, isStep: true},
		"Nothing": {reason: "A deployment without a canary has no step.", step: ""},
		"Word":    {reason: "A word is not the number of a step.", step: "third/5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, isStep := StepNumber(tc.step); got != tc.want || isStep != tc.isStep {
				t.Errorf("\n%s\nStepNumber(%q): want %d and %t, got %d and %t", tc.reason, tc.step, tc.want, tc.isStep, got, isStep)
			}
		})
	}
}
