package directories

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
)

// TestHoldFiles has revision 2 of two waves at its first wave, without tracks.
func TestHoldFiles(t *testing.T) {
	plan := []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2", "edge3"}}}
	later := func(site string, revision int64) deliveryv1alpha1.LaterTree {
		return deliveryv1alpha1.LaterTree{Tree: deliveryv1alpha1.Tree{Site: site, Action: deliveryv1alpha1.ActionDesired}, Revision: revision, Step: 1}
	}
	desired := func(site string) deliveryv1alpha1.Tree {
		return deliveryv1alpha1.Tree{Site: site, Action: deliveryv1alpha1.ActionDesired}
	}
	cases := map[string]struct {
		reason string
		trees  []deliveryv1alpha1.Tree
		later  []deliveryv1alpha1.LaterTree
		number int64
		step   int32
		plan   []ledger.Step
		want   bool
	}{
		"Later": {
			reason: "The object carries the files of the second wave.",
			later:  []deliveryv1alpha1.LaterTree{later("edge2", 2), later("edge3", 2)}, number: 2, want: true,
		},
		"Part": {reason: "One Site of the second wave has no files.", later: []deliveryv1alpha1.LaterTree{later("edge2", 2)}, number: 2},
		"OtherRevision": {
			reason: "Files of another revision do not count.",
			later:  []deliveryv1alpha1.LaterTree{later("edge2", 2), later("edge3", 1)}, number: 2,
		},
		"Requested": {
			reason: "Files that the spec requests now count too.",
			trees:  []deliveryv1alpha1.Tree{desired("edge2"), desired("edge3")}, number: 2, step: 1, want: true,
		},
		"Earlier": {
			reason: "Files that an earlier revision requested do not count.",
			trees:  []deliveryv1alpha1.Tree{desired("edge2"), desired("edge3")}, number: 1,
		},
		"OneStep": {reason: "A plan of one step needs no further files.", plan: plan[:1], number: 2, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 2, Plan: plan}, Cursor: ledger.Cursor{Step: tc.step}}
			if tc.plan != nil {
				s.Current.Plan = tc.plan
			}
			d := &deliveryv1alpha1.GitDelivery{}
			d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{Position: &ledger.Position{Revision: tc.number}, Trees: tc.trees, Later: tc.later}
			if got := HoldFiles(s, d); got != tc.want {
				t.Errorf("\n%s\nHoldFiles(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestBegun has a directory with revision 1 in the blue track, whose next step puts revision 2 beside it, while the spec has the tree before.
func TestBegun(t *testing.T) {
	green, _ := treeIn(t, track.Green)
	blue, blueFiles := treeIn(t, track.Blue)
	blue.Action, blue.Tracks = deliveryv1alpha1.ActionDesired, []deliveryv1alpha1.TreeTrack{{Name: track.Blue, Revision: 1, Weight: 100}}
	green.Site, green.Branch, green.Path = blue.Site, blue.Branch, blue.Path
	plan := []ledger.Step{{Sites: []string{"first"}}, {Sites: []string{green.Site}}}
	state := ledger.State{Current: &ledger.Revision{Number: 2, Track: track.Green, Plan: plan}, Cursor: ledger.Cursor{Step: 1}}
	held := deliveryv1alpha1.DeliveredTree{Tree: blue.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{
		{Name: track.Blue, Revision: 1, Weight: 100, Tree: track.FolderID(blueFiles, track.Blue)},
	}}
	aim := step.Aim{Put: map[string]int64{track.Green: 2, track.Blue: 1}, Serving: track.Blue, Weight: 20}
	cases := map[string]struct {
		reason string
		change func(d *Directory, l *deliveryv1alpha1.LaterTree, s *ledger.State)
		want   bool
	}{
		"Begun": {reason: "The directory has the files that it got at its step.", want: true},
		"NotBegun": {
			reason: "Before its step the directory has the files of the spec.",
			change: func(_ *Directory, _ *deliveryv1alpha1.LaterTree, s *ledger.State) { s.Cursor.Step = 0 },
		},
		"OtherRevision": {
			reason: "The files of another revision are not used.",
			change: func(_ *Directory, l *deliveryv1alpha1.LaterTree, _ *ledger.State) { l.Revision = 1 },
		},
		"Named": {
			reason: "A spec that has the files of the revision is up to date.",
			change: func(d *Directory, _ *deliveryv1alpha1.LaterTree, _ *ledger.State) { d.Own = withTracks(green, 80, 20) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := *state.DeepCopy()
			d := Directory{Own: blue, Asked: blue, Held: held, Track: track.Green, Revision: 2, FolderOf: func(int64) string { return "" }}
			p := deliveryv1alpha1.GitDeliveryParameters{Later: []deliveryv1alpha1.LaterTree{{Tree: green, Revision: 2, Step: 1}}}
			if tc.change != nil {
				tc.change(&d, &p.Later[0], &s)
			}
			previous := d.Own
			got := NewTracker(0).Begun(d, p, s, aim)
			if isBegun := CarriesTrack(got.Asked, track.Green, 2) && !cmp.Equal(got.Own, previous); isBegun != tc.want {
				t.Errorf("\n%s\nBegun(...): want %t, got %+v", tc.reason, tc.want, got.Asked.Tracks)
			}
		})
	}
}
