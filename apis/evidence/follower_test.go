package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// newFollower returns a delivery to the Sites a and b, in the place of its position, with a tree for a alone.
func newFollower(position ledger.Position) *deliveryv1alpha1.GitDelivery {
	d := newDelivery(position, &position)
	d.SetGeneration(3)
	setCondition(d, xpv2.TypeReady, corev1.ConditionTrue, 3)
	d.Spec.ForProvider.Copy = &ledger.State{Head: ledger.Head{Ledger: "l"}}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{
		{Site: "a", Path: "a", Action: deliveryv1alpha1.ActionDesired, Tree: "t"}, {Site: "b", Path: "b", Action: deliveryv1alpha1.ActionKeep},
	}
	d.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Site: "a", Path: "a", Tree: "t"}}
	return d
}

// retainAll lets a delivery ask for nothing.
func retainAll(d *deliveryv1alpha1.GitDelivery) {
	d.Spec.ForProvider.Trees[0].Action, d.Spec.ForProvider.Trees[0].Tree = deliveryv1alpha1.ActionKeep, ""
}

// TestHasReported changes one thing at a time about a follower of revision 2, which comes to Site a first, to b next and to c at last.
func TestHasReported(t *testing.T) {
	previous := ledger.Position{Revision: 1, Step: 2}
	cases := map[string]struct {
		reason string
		// step that the revision has come to, and where the follower is.
		step   int32
		at     ledger.Position
		change func(*deliveryv1alpha1.GitDelivery, *ledger.State)
		want   bool
	}{
		"Applied": {reason: "A repository that was brought to the position has reported.", at: ledger.Position{Revision: 2}, want: true},
		"OnItsWay": {
			reason: "A repository that was not brought to the position yet is about to change.",
			at:     ledger.Position{Revision: 2}, change: func(d *deliveryv1alpha1.GitDelivery, _ *ledger.State) { d.Status.AtProvider.Record = nil },
		},
		"NextStep":  {reason: "A repository whose next Site was reached since is about to change.", step: 1, at: ledger.Position{Revision: 2}},
		"LaterStep": {reason: "A step that reaches another repository alone changes nothing here.", step: 2, at: ledger.Position{Revision: 2, Step: 1}, want: true},
		"Before":    {reason: "A repository that the revision reached and that is still at the previous revision is about to change.", at: previous},
		"Restored": {
			reason: "A delivery that was not asked for the rollback is about to change.",
			at:     ledger.Position{Revision: 2}, change: func(_ *deliveryv1alpha1.GitDelivery, s *ledger.State) { s.Cursor.Attempt = 1 },
		},
		"NothingToo": {reason: "A delivery with nothing to restore has reported.", at: ledger.Position{Revision: 2}, want: true, change: func(d *deliveryv1alpha1.GitDelivery, s *ledger.State) { retainAll(d); s.Cursor.Attempt = 1 }},
		"Unreached": {
			reason: "A repository that the revision has not come to holds the trees of the previous revision.", at: previous, want: true,
			change: func(_ *deliveryv1alpha1.GitDelivery, s *ledger.State) {
				s.Current.Plan = []ledger.Step{{Sites: []string{"z"}}, {Sites: []string{"a", "b"}}}
			},
		},
		"Unfinished": {
			reason: "A repository that the previous revision did not finish is about to change.", at: previous,
			change: func(d *deliveryv1alpha1.GitDelivery, s *ledger.State) {
				d.Status.AtProvider.Trees = nil
				s.Current.Plan = []ledger.Step{{Sites: []string{"z"}}, {Sites: []string{"a", "b"}}}
			},
		},
		"Home": {reason: "A home is asked for each position.", step: 2, at: ledger.Position{Revision: 2, Step: 1}, change: func(d *deliveryv1alpha1.GitDelivery, _ *ledger.State) {
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newState(2, "b")
			s.Current.Plan = []ledger.Step{{Sites: []string{"a"}}, {Sites: []string{"b"}}, {Sites: []string{"c"}}}
			s.Cursor.Step = tc.step
			d := newFollower(tc.at)
			if tc.change != nil {
				tc.change(d, &s)
			}
			if got := HasReported(d, s, []string{"a", "b"}); got != tc.want {
				t.Errorf("\n%s\nHasReported(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestIsLeftAlone rejects revision 2, which came to Site b, while a follower that serves it keeps all directories at a position of the revision.
func TestIsLeftAlone(t *testing.T) {
	cases := map[string]struct {
		reason string
		step   int32
		want   bool
	}{
		"Behind": {reason: "A repository whose Sites the revision came to since is asked once more, so that it reports its trees."},
		"There":  {reason: "A repository that was asked to keep all at the step of its Sites is left alone.", step: 1, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newState(2, "b")
			s.Current.Plan = []ledger.Step{{Sites: []string{"z"}}, {Sites: []string{"a", "b"}}}
			s.Current.Parts, s.Cursor.Step = []ledger.Part{{Delivery: "d", Sites: []string{"a", "b"}}}, 1
			observed := newFollower(ledger.Position{Revision: 2, Step: tc.step})
			retainAll(observed)
			if got := IsLeftAlone("d", observed.DeepCopy(), observed, s); got != tc.want {
				t.Errorf("\n%s\nIsLeftAlone(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestNeedsNothing compares a follower that is asked for nothing with states of a revision that did not come to it.
func TestNeedsNothing(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.GitDelivery, *ledger.State)
		want   bool
	}{
		"Forward": {reason: "A revision goes on while a repository of a later step cannot be reached.", want: true, change: func(d *deliveryv1alpha1.GitDelivery, _ *ledger.State) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionFalse, 2)
		}},
		"Rollback": {reason: "A rollback ends although a repository with nothing to restore is not Ready.", want: true, change: func(d *deliveryv1alpha1.GitDelivery, s *ledger.State) {
			setCondition(d, xpv2.TypeReady, corev1.ConditionFalse, 3)
			s.Cursor.Attempt, s.Verdict = 1, &ledger.Verdict{Result: ledger.VerdictRejected}
		}},
		"Unseen": {reason: "A rollback does not end before each repository reported about its current generation.", change: func(d *deliveryv1alpha1.GitDelivery, s *ledger.State) {
			d.SetGeneration(4)
			s.Cursor.Attempt, s.Verdict = 1, &ledger.Verdict{Result: ledger.VerdictRejected}
		}},
		"Moved": {reason: "A repository that a Site of this step moved to needs the position, although its delivery does not name the Site yet.", change: func(_ *deliveryv1alpha1.GitDelivery, s *ledger.State) {
			s.Current.Parts = []ledger.Part{{Delivery: "d", Sites: []string{"z"}}}
		}},
		"Home": {reason: "A repository that becomes the home needs the position.", change: func(d *deliveryv1alpha1.GitDelivery, _ *ledger.State) {
			d.Spec.ForProvider.Ledger = &deliveryv1alpha1.LedgerUpdate{}
		}},
		"Reached": {
			reason: "A repository that the revision has come to needs its position.",
			change: func(_ *deliveryv1alpha1.GitDelivery, s *ledger.State) { s.Current.Plan = s.Current.Plan[1:] },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newState(2, "b")
			s.Current.Plan = []ledger.Step{{Sites: []string{"z"}}, {Sites: []string{"a", "b"}}}
			observed := newFollower(ledger.Position{Revision: 1, Step: 1})
			tc.change(observed, &s)
			desired := observed.DeepCopy()
			retainAll(desired)
			c := Comparison{State: s, Desired: map[string]*deliveryv1alpha1.GitDelivery{"d": desired}, Observed: map[string]*deliveryv1alpha1.GitDelivery{"d": observed}}
			if got := c.IsProven("d"); got != tc.want {
				t.Errorf("\n%s\nIsProven(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
