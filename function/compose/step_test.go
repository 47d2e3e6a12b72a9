package compose

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// laterOf returns the later trees of a delivery as text.
func laterOf(d *deliveryv1alpha1.GitDelivery) []string {
	var out []string
	for _, l := range d.Spec.ForProvider.Later {
		out = append(out, fmt.Sprintf("%s %s %s%d from %d of %d", l.Site, l.Action, l.Tree.Tree, len(l.Files), l.Step, l.Revision))
	}
	return out
}

// TestSchedule schedules a compiled delivery to Sites of two waves, and to a Site whose cluster is not ready.
func TestSchedule(t *testing.T) {
	compiled := byName("d", asking(ledger.Position{}, "a", "b", "new", "waits"))
	got := Schedule(compiled, inWaves(0))
	want := []string{"d a Keep 0", "d b Desired tree-b1", "d new Keep 0", "d waits Keep 0"}
	if diff := cmp.Diff(want, actions(got)); diff != "" {
		t.Errorf("Schedule(...): the first step brings nothing to the Sites of the second: -want, +got:\n%s", diff)
	}
	want = []string{"a Desired tree-a1 from 1 of 2", "new Desired tree-new1 from 1 of 2"}
	if diff := cmp.Diff(want, laterOf(got["d"])); diff != "" {
		t.Errorf("Schedule(...): the object carries the files of the second step: -want, +got:\n%s", diff)
	}
	if d := compiled["d"]; len(d.Spec.ForProvider.Later) > 0 || d.Spec.ForProvider.Trees[0].Action != deliveryv1alpha1.ActionDesired {
		t.Errorf("Schedule(...): changed the compiled delivery: %+v", d.Spec.ForProvider)
	}
	got = Schedule(compiled, inWaves(1))
	want = []string{"d a Desired tree-a1", "d b Desired tree-b1", "d new Desired tree-new1", "d waits Keep 0"}
	if diff := cmp.Diff(want, actions(got)); diff != "" || len(laterOf(got["d"])) > 0 {
		t.Errorf("Schedule(...): the last step has all trees, and none is later: -want, +got:\n%s\n%v", diff, laterOf(got["d"]))
	}
}

// TestStep brings observed deliveries to a step of their revision.
func TestStep(t *testing.T) {
	scheduled := Schedule(byName("d", asking(ledger.Position{}, "a", "b")), inWaves(0))["d"]
	scheduled.Spec.ForProvider.Position = new(inWaves(0).Position())
	left := asking(ledger.Position{Revision: 1, Step: 1}, "a", "gone")
	left.Spec.ForProvider.Later = scheduled.Spec.ForProvider.Later
	withdrawn := *scheduled
	withdrawn.Spec.ForProvider.Later = nil
	cases := map[string]struct {
		reason      string
		d           *deliveryv1alpha1.GitDelivery
		step        int32
		want, later []string
	}{
		"First": {
			reason: "At the first step a directory of the second stays, and its files stay in the object.", d: scheduled,
			want: []string{"d a Keep 0", "d b Desired tree-b1"}, later: []string{"a Desired tree-a1 from 1 of 2"},
		},
		"Second": {
			reason: "At the second step its directories get the files of the object.", d: scheduled, step: 1,
			want: []string{"d a Desired tree-a1", "d b Desired tree-b1"},
		},
		"Left": {
			reason: "A repository that the revision has not come to has no tree of an earlier revision in its second step.", d: left, step: 1,
			want: []string{"d a Desired tree-a1"},
		},
		"NotCarried": {reason: "A directory whose files are in no object stays.", d: &withdrawn, step: 1, want: []string{"d a Keep 0", "d b Desired tree-b1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Step(byName("d", tc.d), inWaves(tc.step))
			if diff := cmp.Diff(tc.want, actions(got)); diff != "" {
				t.Errorf("\n%s\nStep(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.later, laterOf(got["d"])); diff != "" {
				t.Errorf("\n%s\nStep(...): later trees: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
