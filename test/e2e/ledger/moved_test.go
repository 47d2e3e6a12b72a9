package ledger

import (
	"net/http"
	"testing"

	"github.com/intentplane/intentplane/apis/ledger"
)

// TestMoveLedger moves the ledger to another repository on a user's request: from a home that answers, and, by force, from a home that does not. It
// continues there in the next epoch with all verdicts, and the previous home becomes a follower.
func TestMoveLedger(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		form   form
		force  bool
	}{
		"Asked":  {reason: "The home of before seals its ledger, and names the next home.", form: form{repositories: 3}},
		"Forced": {reason: "A home that does not answer is left, and its ledger is refused when it answers again.", form: form{repositories: 2}, force: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Log(tc.reason)
			d := newDeployment(t, tc.form)
			d.awaitSucceeded(1)
			d.awaitSucceeded(2)
			previousHome := d.homeRepository()
			if tc.force {
				d.Git.Fail(previousHome, http.StatusServiceUnavailable)
			}
			d.pushes.allowLostHome()
			d.moveLedger(1, tc.force)
			d.wantLedgerSummary(d.ledgerAfterVerified(2).summaryInEpoch(2))
			d.wantHistory(1, 2)

			if tc.force {
				d.Apply(d.describeShop(3))
				d.awaitLedger("orders in the next home", func(s ledger.State) bool { return s.Current.Number == 3 })
				d.awaitPosition(1, ledger.Position{Epoch: 2, Revision: 3})
				d.Git.Fail(previousHome, 0)
			}
			d.awaitSucceeded(3)
			d.wantLedgerOf(d.ledgerAfterVerified(3).summaryInEpoch(2), "3", []int{3, 3, 3}[:len(d.repositories)]...)
			d.wantHistory(1, 2, 3)
		})
	}
}
