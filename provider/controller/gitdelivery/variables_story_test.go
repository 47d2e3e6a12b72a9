package gitdelivery

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestDeliveredVariables delivers revision 1 while the engine of the Site replaces nothing, as before objects declared their variables.
func TestDeliveredVariables(t *testing.T) {
	const says = `"a ${HOME}"`
	cases := map[string]struct {
		reason string
		next   string
		want   xpv2.ConditionReason
	}{
		"Same": {reason: "A rollback brings back a variable that the directory has.", next: `"b ${HOME}"`, want: v1alpha1.ReasonDelivered},
		"Other": {
			reason: "A rollback brings back no variable that the directory does not have: it may be from a Site that replaced nothing.",
			next:   "b", want: v1alpha1.ReasonPolicyDenied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.setEngine(catalogv1alpha1.EngineArgoCD)
			w.startHome()
			first := desired(t, "edge1", webAtE1, says)
			w.propose([]v1alpha1.Tree{first}, openedEvent("demo"), orderedEvent(1, "a", "edge1"))
			w.propose([]v1alpha1.Tree{first}, verifiedEvent(says, "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)

			w.propose([]v1alpha1.Tree{desired(t, "edge1", webAtE1, tc.next)}, orderedEvent(2, "b", "edge1"))
			w.expect("web", v1alpha1.ReasonDelivered)
			w.setEngine(catalogv1alpha1.EngineNone)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonDelivered)
			w.propose([]v1alpha1.Tree{restoring1(says)}, rejectedEvent("GateFailed"), rolledBackEvent(1))
			w.expect("web", tc.want)
			if tc.want != v1alpha1.ReasonDelivered {
				return
			}
			w.propose([]v1alpha1.Tree{restoring1(says)}, ledger.Event{Restored: &ledger.Restored{}})
			w.expect("web", v1alpha1.ReasonDelivered)
		})
	}
}

// setEngine changes the engine of Site edge1.
func (w *world) setEngine(engine catalogv1alpha1.EngineType) {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), client.ObjectKey{Name: "edge1"}, s))
	s.Spec.Engine.Type = engine
	w.must(w.kube.Update(w.Context(), s))
}
