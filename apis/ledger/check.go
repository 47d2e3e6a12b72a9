package ledger

import "github.com/crossplane/crossplane-runtime/v2/pkg/errors"

// Check returns an error for a state that no list of events leads to, and that its schema lets in: its schema looks at each field alone. A user who may
// push to a repository may have written it.
func (s State) Check() error {
	if s.Current == nil {
		return nil
	}
	if n := len(s.Current.Plan); s.Cursor.Step < 0 || int(s.Cursor.Step) >= n {
		return errors.Errorf("cursor.step is %d, and the plan of revision %d has %d steps", s.Cursor.Step, s.Current.Number, n)
	}
	return nil
}
