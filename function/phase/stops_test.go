package phase

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TestIrreversibleMessage says why revision 3 is not rolled back without a request.
func TestIrreversibleMessage(t *testing.T) {
	const changes, undetermined = "it changes, or may change, objects that its Blueprint marks", "the ledger does not have their digest in revision 1"
	cases := map[string]struct {
		reason string
		marked string
		target *ledger.Past
		want   string
	}{
		"Before":   {reason: "A rollback to the previous revision changes irreversible content.", marked: "m", target: &ledger.Past{Number: 2}, want: changes},
		"Earlier":  {reason: "The irreversible content of an earlier target is unknown.", marked: "m", target: &ledger.Past{Number: 1}, want: undetermined},
		"Known":    {reason: "A target with a recorded digest is compared.", marked: "m", target: &ledger.Past{Number: 1, Marked: "n"}, want: changes},
		"Unmarked": {reason: "A revision without marked objects says nothing about its target.", target: &ledger.Past{Number: 1}, want: changes},
		"NoTarget": {reason: "Without a target there is nothing to compare.", marked: "m", want: changes},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &Input{Decision: Decision{Stop: step.HoldIrreversible, Target: tc.target}, Comparison: evidence.Comparison{State: ledger.State{Current: newRevision(3)}}}
			f.State.Current.Marked = tc.marked
			if got := stopMessage(f); !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nstopMessage(...): want %q in it, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
