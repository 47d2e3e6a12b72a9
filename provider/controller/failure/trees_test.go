package failure

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
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
	if diff := cmp.Diff(1, len(w.r.trees.cachedTrees(key))); diff != "" {
		t.Errorf("trees before the status speaks of the rejection: -want, +got:\n%s", diff)
	}
	late.Revision = 3
	w.reconcileStatus(true, late)
	if diff := cmp.Diff(0, len(w.r.trees.cachedTrees(key))); diff != "" {
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
		retained += len(w.r.trees.cachedTrees(key))
	}
	const limit = maxRejectedBytes / (900 << 10)
	if diff := cmp.Diff([]int{1, limit - 1}, []int{len(w.r.trees.cachedTrees(good)), retained}); diff != "" {
		t.Errorf("\nThe rejections of a namespace take a bounded memory, and evict the trees of that namespace alone.\ntrees: -want, +got:\n%s", diff)
	}
}

// TestDesiredTrees has a delivery with a Site of a later step, to which the provider brings its repository without the function.
func TestDesiredTrees(t *testing.T) {
	cases := map[string]struct {
		reason string
		step   int32
		want   []string
	}{
		"First":  {reason: "A Site whose step did not come received nothing that could have failed.", want: []string{"edge1"}},
		"Second": {reason: "A Site whose step came received its later tree.", step: 1, want: []string{"edge1", "edge2"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newTestEnv(t).newDelivery(2, tree.Files{"a.yaml": []byte(plain)})
			p := &d.Spec.ForProvider
			s := ledger.State{Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: tc.step}}
			p.Later = []deliveryv1alpha1.LaterTree{{Tree: p.Trees[0], Revision: 2, Request: s.Current.Request.Digest(), Step: 1}}
			p.Later[0].Site, p.Later[0].Path, p.Trees[1].Path = "edge2", "b/b", "b/b"
			d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Copy: &s}
			var got []string
			for _, desired := range desiredTrees(d) {
				got = append(got, desired.Site)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\ndesiredTrees(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
