package gitdelivery

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// leavesState fails the story unless the provider refuses the state in the repository, and writes nothing although the Gate of revision 2 failed.
func (w *world) leavesState(reason xpv2.ConditionReason) {
	w.Helper()
	tip := w.stateTip()
	w.failGate()
	w.reconcile("web")
	w.expect("web", reason)
	w.count(2)
	if got := w.stateTip(); got != tip {
		w.Errorf("tip of the state: want %s, got %s", tip, got)
	}
}

// TestMandateState has a silent function and a Gate that failed, and a state in the repository that another version, or another user, wrote.
func TestMandateState(t *testing.T) {
	t.Parallel()
	tellLedger(t, map[string]story{
		"NewerReader": {reason: "Nothing is recorded by a mandate in a ledger that needs a newer version.", run: func(w *world) {
			w.mandatedRevision()
			w.rewriteState(func(_ string, content map[string]any) { content["minReader"] = 3 })
			w.leavesState(v1alpha1.ReasonStateNewer)
		}},
		"Malformed": {reason: "Nothing is recorded by a mandate in a ledger that cannot be read.", run: func(w *world) {
			w.mandatedRevision()
			w.rewriteState(func(_ string, content map[string]any) { content["state"] = "nothing" })
			w.leavesState(v1alpha1.ReasonStateUntrusted)
		}},
		"Truncated": {reason: "Nothing is recorded by a mandate in a ledger whose end is missing.", run: func(w *world) {
			w.mandatedRevision()
			claim := w.first().Spec.ForProvider.ClaimRef
			all := map[string]string{}
			for _, path := range []string{state.OwnerPath, state.RecordPath(claim), state.LedgerPath(claim)} {
				all[path] = w.stateFile(repo, path)
			}
			all[state.LedgerPath(claim)] = all[state.LedgerPath(claim)][:100]
			w.forgeAll(all)
			w.restart()
			w.leavesState(v1alpha1.ReasonStateUntrusted)
		}},
		"Forged": {reason: "A ledger that is not signed counts as lost: the mandate is void for the epoch in which the ledger of the status goes on.", run: func(w *world) {
			w.sign()
			w.mandatedRevision()
			w.rewriteState(func(_ string, content map[string]any) {
				if s, isState := content["state"].(map[string]any); isState {
					s["seq"] = 99
				}
			})
			w.failGate()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			w.positionIs(w.ledgerOf("web"), ledger.Position{Epoch: 2, Revision: 2})
			w.stays(2)
			w.holds(map[string]tree.Files{webAtE1: files("b")}, nil)
		}},
	})
}
