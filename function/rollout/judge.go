package rollout

import (
	"slices"
	"strings"
	"unicode"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// StepOf returns the step of an order that brings a revision to a Site. A Site that the plan does not name comes last. A rollback reaches all Sites
// at once.
func StepOf(o rolloutv1alpha1.Order, site string) int32 {
	if o.Attempt > 0 || len(o.Plan) < 2 && o.Steps < 2 {
		return 0
	}
	for i, step := range o.Plan {
		if slices.Contains(step.Sites, site) {
			return int32(i)
		}
	}
	return max(0, o.Steps-1)
}

// OrderForSync returns what a SiteSync is asked to observe of an order: without a verdict, and without what may change while the trees stay as they
// are. Each change of it costs the composite a write, and the deployment is not Ready until it is observed.
func OrderForSync(o rolloutv1alpha1.Order) rolloutv1alpha1.Order {
	out := o.Unjudged()
	out.RendererVersion, out.DigestScheme, out.Blueprint = 1, 1, nil
	return out
}

// HasBrought reports whether what was carried out at a position brought what an order asks for as far as a Site.
func HasBrought(was ledger.Position, o rolloutv1alpha1.Order, site string) bool {
	return was.Epoch == o.Epoch && was.Revision == o.Revision && was.Attempt == o.Attempt && was.Step >= StepOf(o, site)
}

// Reached is true for a Site whose step has come.
func Reached(o rolloutv1alpha1.Order, site string) bool { return StepOf(o, site) <= o.Step }

// Restored is true for an order whose target was proven to run again.
func Restored(o rolloutv1alpha1.Order) bool { return o.Restored != nil && *o.Restored }

// Gated is true for an order whose step is judged by a Gate. A rollback has none.
func Gated(o rolloutv1alpha1.Order) bool {
	if o.Attempt > 0 || int(o.Step) >= len(o.Plan) {
		return false
	}
	g := o.Plan[o.Step].Gate
	return g != nil && *g
}

// maxMessage is how long the message of a verdict may be.
const maxMessage = 1024

// Rejection returns a verdict with a reason, and a message of one line.
func Rejection(reason, said string) *ledger.Verdict {
	message := []rune(strings.Map(printable, said))
	return &ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason, Message: string(message[:min(len(message), maxMessage)])}
}

// printable turns what would break a line into a blank.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}
