package analysis

import (
	"fmt"
	"strings"
	"testing"
)

// TestFlaggerWeights converts Canaries whose weight rises. Flagger measures once at each weight above 0, and promotes the canary at its greatest weight.
func TestFlaggerWeights(t *testing.T) {
	const refused = "spec.analysis.stepWeights: Flagger would measure never or for ever"
	cases := map[string]struct {
		reason, weights string
		passes          int
		err             string
	}{
		"Step":          {reason: "The weight rises up to 100 percent.", weights: "stepWeight: 20", passes: 5},
		"Maximum":       {reason: "The weight rises up to its maximum.", weights: "stepWeight: 10; maxWeight: 50", passes: 5},
		"Between":       {reason: "The last step may pass the maximum.", weights: "stepWeight: 20; maxWeight: 50", passes: 3},
		"Whole":         {reason: "One step may be all.", weights: "stepWeight: 100", passes: 1},
		"List":          {reason: "A list has a measurement for each of its weights.", weights: "stepWeights: [1, 2, 10, 80]", passes: 4},
		"ListAndStep":   {reason: "A step counts before a list, whose last weight is still the maximum.", weights: "stepWeight: 25; stepWeights: [5, 50]", passes: 2},
		"ListAndMax":    {reason: "The last weight of a list counts before a maximum.", weights: "maxWeight: 5; stepWeights: [10, 20]", passes: 2},
		"AboveAll":      {reason: "A weight above 100 percent is 100 percent.", weights: "stepWeights: [50, 500]", passes: 2},
		"Mirrored":      {reason: "Mirrored requests are measured once more.", weights: "mirror: true; stepWeight: 50", passes: 3},
		"MatchAlone":    {reason: "A match without iterations is not an A/B test.", weights: "stepWeight: 50; match: [{}]", passes: 2},
		"Falling":       {reason: "Weights that fall have no end.", weights: "stepWeights: [50, 20, 80]", err: refused},
		"Nothing":       {reason: "A maximum of 0 is reached without a measurement.", weights: "stepWeights: [10, 0]", err: refused},
		"MaximumTooBig": {reason: "A maximum above 100 percent is never reached.", weights: "stepWeight: 50; maxWeight: 120", err: refused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := withAnalysis("    iterations: 10\n", strings.ReplaceAll("    "+tc.weights, "; ", "\n    ")+"\n", "threshold: 3", "threshold: 1")
			c, err := FromFlagger(texts([]string{in, plainTemplate("a")}), Options{})
			if err != nil {
				if tc.err == "" || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("\n%s\nFromFlagger(...): %v", tc.reason, err)
				}
				return
			}
			note := fmt.Sprintf("Flagger measures %d times while the weight rises, and a check %[1]d times in each step", tc.passes)
			if got := *c.Checks[0].Count; got != int32(tc.passes) || !strings.Contains(strings.Join(c.Notes, "\n"), note) {
				t.Errorf("\n%s\nFromFlagger(...): count %d, want %d; notes %q", tc.reason, got, tc.passes, c.Notes)
			}
		})
	}
}
