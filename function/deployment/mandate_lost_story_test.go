package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// hasOtherMandate is true for a spec with a mandate for another revision, or another epoch, than its position.
func hasOtherMandate(p deliveryv1alpha1.GitDeliveryParameters) bool {
	position := p.AskedPosition()
	return p.Mandate != nil && (p.Mandate.Revision != position.Revision || p.Mandate.Epoch != position.Epoch)
}

// editMandate changes the mandate in the spec of each observed home.
func (w *world) editMandate(change func(parameters map[string]any)) {
	w.t.Helper()
	for _, o := range w.in.Observed {
		p, _, err := unstructured.NestedMap(o.Object, "spec", "forProvider")
		w.must(err)
		if p["ledger"] != nil {
			change(p)
			w.must(unstructured.SetNestedMap(o.Object, p, "spec", "forProvider"))
		}
	}
}

// TestMandateOfLostHome loses the home of a deployment, or its ledger. The function knows no ledger without the home, so that the new home asks to open another
// ledger, with revision 1 and a mandate for it.
func TestMandateOfLostHome(t *testing.T) {
	lose := func(w *world) {
		w.loseDeliveries()
		w.apply(w.call())
	}
	succeed := func(w *world) {
		w.orderSecond()
		w.settleLive()
	}
	cases := map[string]struct {
		reason string
		lead   func(w *world)
		lose   func(w *world)
	}{
		"Delivering": {
			reason: "A revision in progress gets a mandate for it, once the home has its ledger again.",
			lead:   (*world).orderSecond, lose: lose,
		},
		"Succeeded": {
			reason: "A revision that succeeded gets a mandate for it, once the home has its ledger again: a user may roll it back.",
			lead:   succeed, lose: lose,
		},
		"RolledBack": {
			reason: "A revision that was rolled back gets a mandate for it, once the home has its ledger again.",
			lead:   (*world).restoreFirst, lose: lose,
		},
		"Recovered": {
			reason: "A revision that succeeded gets a mandate for the epoch in which a lost ledger goes on.",
			lead:   succeed, lose: (*world).loseStateOfRepositories,
		},
		"Earlier": {
			reason: "A mandate for an earlier revision, which an earlier version composed beside the position, is replaced.",
			lead:   succeed,
			lose: func(w *world) {
				w.editMandate(func(p map[string]any) { p["mandate"].(map[string]any)["revision"] = int64(1) })
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.observe("edge1", "edge2")
			w.settleLive()
			tc.lead(w)
			tc.lose(w)
			w.deliver()
			out, s := w.call(), w.ledger()
			p := w.homeOfWorld(out).Spec.ForProvider
			if diff := cmp.Diff(s.Position(), p.AskedPosition()); diff != "" {
				t.Errorf("\n%s\nposition of the home: -want, +got:\n%s", tc.reason, diff)
			}
			if s.Current.Number != 2 || !p.Mandate.Covers(s) {
				t.Errorf("\n%s\nmandate of the home: want revision 2 and a mandate for it, got revision %d and %+v", tc.reason, s.Current.Number, p.Mandate)
			}
			w.apply(out)
			w.deliver()
			if diff := cmp.Diff(p.Mandate, w.mandateOfWorld(w.call())); diff != "" {
				t.Errorf("\n%s\nA mandate that is in place stays. -first, +next:\n%s", tc.reason, diff)
			}
		})
	}
}

// orderSecond orders revision 2, which its Sites do not run yet.
func (w *world) orderSecond() {
	w.t.Helper()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.round("Syncing", "Syncing")
	if s := w.ledger(); s.Current.Number != 2 || s.Verdict != nil {
		w.t.Fatalf("want revision 2 without a verdict, got revision %d with %v", s.Current.Number, s.Verdict)
	}
}

// restoreFirst lets revision 2 fail at its Sites, which run revision 1 again afterwards.
func (w *world) restoreFirst() {
	w.t.Helper()
	w.rejectNow()
	w.settleLive()
	if s := w.ledger(); !s.IsRejected() || !s.Restored {
		w.t.Fatalf("want revision 2 rolled back, got verdict %v, restored %t", s.Verdict, s.Restored)
	}
}
