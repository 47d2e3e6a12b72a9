package failure

import (
	"fmt"
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

// TestTreesOfNamespaces rejects more revisions of one namespace than fit, beside one of another namespace.
func TestTreesOfNamespaces(t *testing.T) {
	w := newTestEnv(t)
	reject := func(namespace, name string) revisionKey {
		d := w.newDelivery(2, tree.Files{"a.yaml": []byte(plain)})
		d.SetNamespace(namespace)
		d.Spec.ForProvider.ClaimRef.Name = name
		d.Spec.ForProvider.Trees[0].Files = make([]byte, 900<<10)
		w.rejectDelivery(d)
		return revisionKeyOf(d)
	}
	good, hostile := reject("team-b", "shop"), []revisionKey{}
	for n := range 60 {
		hostile = append(hostile, reject("team-a", fmt.Sprintf("app-%d", n)))
	}
	retained := 0
	for _, key := range hostile {
		retained += len(w.r.trees.treesOf(key))
	}
	const limit = maxRejectedBytes / (900 << 10)
	if diff := cmp.Diff([]int{1, limit - 1}, []int{len(w.r.trees.treesOf(good)), retained}); diff != "" {
		t.Errorf("\nThe rejections of a namespace take a bounded memory, and evict the trees of that namespace alone.\ntrees: -want, +got:\n%s", diff)
	}
}
