package failure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestTreeCache checks that trees are kept from the rejection until the status reports it, which may be later.
func TestTreeCache(t *testing.T) {
	w := newTestEnv(t)
	d := w.newDelivery(2, tree.Files{"a.yaml": []byte(plain)})
	w.rejectDelivery(d)
	verdict := d.DeepCopy()
	verdict.Spec.ForProvider.Copy.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected}
	w.rejectDelivery(verdict)
	late := rejected(2)
	late.Rollback = nil
	w.reconcileStatus(true, late)
	key := revisionKeyOf(d)
	if diff := cmp.Diff(1, len(w.r.trees.treesOf(key))); diff != "" {
		t.Errorf("trees before the status speaks of the rejection: -want, +got:\n%s", diff)
	}
	late.Revision = 3
	w.reconcileStatus(true, late)
	if diff := cmp.Diff(0, len(w.r.trees.treesOf(key))); diff != "" {
		t.Errorf("trees after the next revision began: -want, +got:\n%s", diff)
	}
}
