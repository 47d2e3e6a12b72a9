package cause

import (
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/apis/ledger"
)

// describeMandated says how the provider went on by its mandate after the last status of the function. It is empty if the status shows that.
func (f *Facts) describeMandated() string {
	s := f.Ledger()
	if !s.IsRejected() || !f.hasMandatedEvents(s) {
		return ""
	}
	rejection := fmt.Sprintf("Meanwhile the provider, by its mandate, rejected revision %d (%s: %s)", s.Current.Number, s.Verdict.Reason, strings.TrimSuffix(s.Verdict.Message, "."))
	isShown, isRestoredShown := f.shownEnd(s.Current.Number)
	switch {
	case isShown && (!s.Restored || isRestoredShown):
		return ""
	case s.Restored:
		return rejection + fmt.Sprintf(" and restored revision %d. %s", s.Target, statusIsOlder)
	case s.Cursor.Attempt > 0:
		return rejection + fmt.Sprintf(" and began to roll back to revision %d. %s", s.Target, statusIsOlder)
	}
	return rejection + ". " + statusIsOlder
}

// statusIsOlder says why a status is late.
const statusIsOlder = "The status is older: Crossplane has not called the function since."

// hasMandatedEvents reports whether the provider recorded events of the state by a mandate.
func (f *Facts) hasMandatedEvents(s ledger.State) bool {
	for i := range f.Deliveries {
		observation := f.Deliveries[i].Status.AtProvider
		if observation.Ledger != nil && observation.Ledger.Head == s.Head && observation.Taken != nil {
			return observation.Taken.Epoch == s.Epoch && observation.Taken.Seq < s.Seq
		}
	}
	return false
}

// shownEnd reports whether the transitions of the deployment show that a revision was rejected, and that its rollback ended.
func (f *Facts) shownEnd(revision int64) (isRejected, isRestored bool) {
	for _, t := range f.Deployment.Status.Transitions {
		if t.Revision == revision && t.Rejected != "" {
			isRejected, isRestored = true, isRestored || t.Restored != 0
		}
	}
	return isRejected, isRestored
}
