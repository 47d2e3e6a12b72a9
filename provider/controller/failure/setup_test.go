package failure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/event"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestReportAfterRestart reports a revision that was rejected while no provider ran: the files are gone, and the report names the trees in
// Git.
func TestReportAfterRestart(t *testing.T) {
	w := newTestEnv(t)
	d := w.newDelivery(2, tree.Files{"a.yaml": []byte(plain)})
	p := &d.Spec.ForProvider
	p.Copy.Current.Plan = []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2"}}, {}}
	id := p.Trees[0].Tree
	p.Trees[1].Tree = "of revision 1"
	p.Trees = append(p.Trees, deliveryv1alpha1.Tree{Site: "edge3", Tree: "of revision 1 too", Action: deliveryv1alpha1.ActionKeep})
	d.Status.AtProvider.History = []deliveryv1alpha1.HistoryEntry{{Revision: 1, Trees: []deliveryv1alpha1.HistoryTree{{Site: "edge1", Tree: "older"}}}}
	otherDelivery := w.newDelivery(2, tree.Files{"a.yaml": []byte("b: 1\n")})
	otherDelivery.Name, otherDelivery.Spec.ForProvider.ClaimRef.Name = "other-1", "other"
	w.putDelivery(w.rolledBack(otherDelivery))
	w.putDelivery(w.newDelivery(1, nil))

	w.reconcileStatus(true, rejected(2))
	if diff := cmp.Diff([]string{}, w.reportNames()); diff != "" {
		t.Errorf("ConfigMaps before a delivery has the revision: -want, +got:\n%s", diff)
	}
	w.putDelivery(w.rolledBack(d))
	q := w.newQueue()
	rejectionHandler(w.r.trees, deploymentv1alpha1.GroupClaims).Create(t.Context(), event.CreateEvent{Object: w.rolledBack(d)}, q)
	if diff := cmp.Diff(1, q.Len()); diff != "" {
		t.Errorf("deployments that are woken: -want, +got:\n%s", diff)
	}
	w.reconcileStatus(true, rejected(2))
	cm, got := w.getReport("shop-failed-r2")
	want := []treeSummary{{Site: "edge1", Path: "a/b", Tree: id, Withheld: "the tree is in Git under its id"}}
	if diff := cmp.Diff(want, got.Trees); diff != "" || len(cm.BinaryData) != 0 {
		t.Errorf("trees, and %d archives: -want, +got:\n%s", len(cm.BinaryData), diff)
	}
}
