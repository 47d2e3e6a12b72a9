package ledger

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Check returns an error for a state that its schema lets in, since that looks at each field alone, and that cannot be gone on with: a number after which
// none follows, a plan whose last step leaves requests to another revision, and a cursor beyond the plan. No list of events leads to one. A user who may
// push to a repository may have written it. Other states that no events lead to pass.
func (s State) Check() error {
	if err := s.checkNumbers(); err != nil {
		return err
	}
	if s.Current == nil {
		return nil
	}
	n := len(s.Current.Plan)
	if s.Cursor.Step < 0 || int(s.Cursor.Step) >= n {
		return errors.Errorf("cursor.step is %d, and the plan of revision %d has %d steps", s.Cursor.Step, s.Current.Number, n)
	}
	if refusal := s.Current.invalidPlanEnd(); refusal != "" {
		return errors.Errorf("plan of revision %d: %s", s.Current.Number, refusal)
	}
	return nil
}

// checkNumbers returns an error for a number that is too high to count on from it.
func (s State) checkNumbers() error {
	numbers := []countedNumber{{"epoch", s.Epoch}, {"seq", s.Seq}, {"lastNumber", s.LastNumber}}
	if s.Current != nil {
		numbers = append(numbers, countedNumber{"current.number", s.Current.Number})
	}
	for i, p := range s.History {
		numbers = append(numbers, countedNumber{fmt.Sprintf("history[%d].number", i), p.Number})
	}
	for _, n := range numbers {
		if n.value > MaxNumber {
			return errors.Errorf("%s is %d, and at most %d", n.field, n.value, MaxNumber)
		}
	}
	return nil
}

// A countedNumber is a field of a state that counts up.
type countedNumber struct {
	field string
	value int64
}

// invalidPlanEnd returns the reason why a revision could not be verified at the last step of its plan.
func (r Revision) invalidPlanEnd() string {
	if last := len(r.Plan) - 1; !r.Plan[last].IsWhole() {
		return fmt.Sprintf("its last step, %d, has a weight of %d percent, and not all requests", last, *r.Plan[last].Weight)
	}
	return ""
}
