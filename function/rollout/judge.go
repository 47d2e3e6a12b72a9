package rollout

import (
	"slices"
	"strings"
	"unicode"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Proof is what is known about an order. What is about another one is not part of it.
type Proof struct {
	// Live says that every repository holds the trees of the order's step, and that every Site of the step runs them.
	Live bool

	// Passed says that the Gate of the order's step let it pass.
	Passed bool

	// Failure is why the revision is rejected, or why an attempt to go back failed. Nil means that nothing speaks against it.
	Failure *rolloutv1alpha1.Verdict
}

// Judge returns the order that follows from what is proven of it: with a verdict, or one step further. A verdict never changes.
func Judge(o rolloutv1alpha1.Order, p Proof) rolloutv1alpha1.Order {
	switch {
	case o.Verdict != nil:
		return o
	case p.Failure != nil:
		o.Verdict = p.Failure
	case !p.Live || Gated(o) && !p.Passed || awaitsPromotion(o):
		return o
	case o.Step+1 < o.Steps:
		o.Step++
	default:
		o.Verdict = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
	}
	return o
}

// awaitsPromotion is true for an order that waits until a person releases its next step.
func awaitsPromotion(o rolloutv1alpha1.Order) bool {
	return int(o.Step) < len(o.Plan) && o.Plan[o.Step].Pause == PauseManual && o.Step+1 < o.Steps && o.Promoted <= o.Step
}

// hasPauseBefore is true for a step of an order that waits until a person releases it. No other step can be promoted.
func hasPauseBefore(o rolloutv1alpha1.Order, step int32) bool {
	return step > 0 && step < o.Steps && int(step) <= len(o.Plan) && o.Plan[step-1].Pause == PauseManual
}

// PauseManual is a pause that lasts until a person releases the next step.
const PauseManual = "Manual"

// StepOf returns the step of an order that brings a revision to a Site. A Site that the plan does not name comes last. The way back
// goes everywhere at once.
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

// Brought is true when an order that was carried out, or looked at, brought what another one asks for as far as a Site.
func Brought(was *rolloutv1alpha1.Order, o rolloutv1alpha1.Order, site string) bool {
	return was != nil && was.Revision == o.Revision && was.Request == o.Request && was.Attempt == o.Attempt && was.Step >= StepOf(o, site)
}

// Reached is true for a Site whose step has come.
func Reached(o rolloutv1alpha1.Order, site string) bool { return StepOf(o, site) <= o.Step }

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
func Rejection(reason, said string) *rolloutv1alpha1.Verdict {
	message := []rune(strings.Map(printable, said))
	return &rolloutv1alpha1.Verdict{
		Result: rolloutv1alpha1.VerdictRejected, Reason: reason, Message: string(message[:min(len(message), maxMessage)]),
	}
}

// printable turns what would break a line into a blank.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}
