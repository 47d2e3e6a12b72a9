package directories

import (
	"fmt"
	"slices"
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
		t := deliveryv1alpha1.Tree{Site: site, Action: deliveryv1alpha1.ActionDesired}
		return deliveryv1alpha1.LaterTree{Tree: t, Revision: revision, Request: ledger.Request{}.Digest(), Step: 1}
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
		"OtherRequest": {
			reason: "Files of a revision that had the same number before a loss of the ledger do not count.",
			later:  []deliveryv1alpha1.LaterTree{later("edge2", 2), {Tree: later("edge3", 2).Tree, Revision: 2, Request: "another", Step: 1}}, number: 2,
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

// TestHoldFirstStep has a canary whose first step waits for the requests of an earlier canary.
func TestHoldFirstStep(t *testing.T) {
	cases := map[string]struct {
		reason   string
		revision int64
		stable   string
		want     bool
	}{
		"Carried":  {reason: "The object carries the files of the first step.", revision: 3, stable: ledger.TrackBlue, want: true},
		"Earlier":  {reason: "Files of the earlier canary do not count.", revision: 2, stable: ledger.TrackBlue},
		"FromFlat": {reason: "A move needs files that no object has.", revision: 3, stable: ledger.TrackPlain},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			plan := []ledger.Step{{Sites: []string{"edge1"}, Weight: new(int32(0))}, {Weight: new(int32(100))}}
			s := ledger.State{
				Current: &ledger.Revision{Number: 3, Track: ledger.TrackGreen, Stable: 1, Plan: plan}, Cursor: ledger.Cursor{Stage: ledger.StageShift},
				History: []ledger.Past{{Number: 1, Track: tc.stable}},
			}
			d, siteTree := &deliveryv1alpha1.GitDelivery{}, deliveryv1alpha1.Tree{Site: "edge1", Action: deliveryv1alpha1.ActionDesired}
			l := NewLater(siteTree, s)
			l.Revision = tc.revision
			d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{Trees: []deliveryv1alpha1.Tree{siteTree}, Later: []deliveryv1alpha1.LaterTree{l}}
			if got := HoldFiles(s, d); got != tc.want {
				t.Errorf("\n%s\nHoldFiles(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAt has a repository with edge2 and edge3 in the second wave of revision 2, and edge4 in the third one, and a state in the second wave.
func TestAt(t *testing.T) {
	desired := func(site, tree string) deliveryv1alpha1.Tree {
		return deliveryv1alpha1.Tree{Site: site, Path: site + "/x", Action: deliveryv1alpha1.ActionDesired, Tree: tree}
	}
	later := func(site string, index int32) deliveryv1alpha1.LaterTree {
		return deliveryv1alpha1.LaterTree{Tree: desired(site, "two"), Revision: 2, Request: ledger.Request{}.Digest(), Step: index}
	}
	plan := []ledger.Step{{Sites: []string{"edge1"}}, {Sites: []string{"edge2", "edge3"}}, {Sites: []string{"edge4"}}}
	parts := []ledger.Part{{Sites: []string{"edge1"}}, {Sites: []string{"edge2", "edge3", "edge4"}}}
	s := ledger.State{Current: &ledger.Revision{Number: 2, Plan: plan, Parts: parts}, Cursor: ledger.Cursor{Step: 1}}
	cases := map[string]struct {
		reason   string
		revision int64
		trees    []deliveryv1alpha1.Tree
		later    []deliveryv1alpha1.LaterTree
		want     []string
	}{
		"Spec": {
			reason: "The later tree of a step that has come takes the place of the tree of the spec.", revision: 2,
			trees: []deliveryv1alpha1.Tree{Retain(desired("edge2", "")), Retain(desired("edge3", "")), Retain(desired("edge4", ""))},
			later: []deliveryv1alpha1.LaterTree{later("edge2", 1), later("edge3", 1), later("edge4", 2)},
			want:  []string{"edge2 Desired two", "edge3 Desired two", "edge4 Keep "},
		},
		"Earlier": {
			reason: "Trees of an earlier revision have no part in it.", revision: 1,
			trees: []deliveryv1alpha1.Tree{desired("edge2", "one"), desired("edge3", "one"), desired("edge4", "one")},
			later: []deliveryv1alpha1.LaterTree{later("edge2", 1), later("edge3", 1), later("edge4", 2)},
			want:  []string{"edge2 Desired two", "edge3 Desired two", "edge4 Keep "},
		},
		"Unready": {
			reason: "The directory of a Site without a later tree stays as it is.", revision: 1,
			trees: []deliveryv1alpha1.Tree{desired("edge2", "one"), desired("edge3", "one"), desired("edge4", "one")},
			later: []deliveryv1alpha1.LaterTree{later("edge3", 1), later("edge4", 2)},
			want:  []string{"edge2 Keep ", "edge3 Desired two", "edge4 Keep "},
		},
		"Left": {
			reason: "The directory of a Site that the repository has no part in any more is not named.", revision: 1,
			trees: []deliveryv1alpha1.Tree{desired("edge1", "one"), desired("edge2", "one")},
			later: []deliveryv1alpha1.LaterTree{later("edge2", 1)}, want: []string{"edge2 Desired two"},
		},
		"OtherRequest": {
			reason: "The later trees of a revision that had the same number before a loss of the ledger have no part in it.", revision: 1,
			trees: []deliveryv1alpha1.Tree{desired("edge2", "one")},
			later: []deliveryv1alpha1.LaterTree{{Tree: desired("edge2", "two"), Revision: 2, Request: "another", Step: 1}}, want: []string{"edge2 Desired one"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := deliveryv1alpha1.GitDeliveryParameters{Position: &ledger.Position{Revision: tc.revision}, Trees: tc.trees, Later: tc.later}
			var got []string
			for _, tree := range At(p, s).Trees {
				got = append(got, fmt.Sprintf("%s %s %s", tree.Site, tree.Action, tree.Tree))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAt(...): -want, +got:\n%s", tc.reason, diff)
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
	state := ledger.State{Current: &ledger.Revision{Number: 2, Track: track.Green, Plan: plan}, Cursor: ledger.Cursor{Step: 1, Stage: ledger.StageSteps}}
	held := deliveryv1alpha1.DeliveredTree{Tree: blue.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{
		{Name: track.Blue, Revision: 1, Weight: 100, Tree: track.FolderID(blueFiles, track.Blue)},
	}}
	aim := step.Aim{Put: map[string]int64{track.Green: 2, track.Blue: 1}, Serving: track.Blue, Weight: 20}
	beginAt := func(s *ledger.State, stage int32) {
		s.Current.Plan, s.Cursor = []ledger.Step{{Sites: []string{green.Site}}, {Sites: []string{"last"}}}, ledger.Cursor{Stage: stage}
	}
	reject := func(s *ledger.State) {
		beginAt(s, ledger.StageShift)
		s.Verdict, s.Cursor.Attempt = &ledger.Verdict{Result: ledger.VerdictRejected}, 1
	}
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
		"FirstStep": {
			reason: "The directory has the files that it got at the first step.",
			change: func(_ *Directory, _ *deliveryv1alpha1.LaterTree, s *ledger.State) { beginAt(s, ledger.StageSteps) }, want: true,
		},
		"BeforeSteps": {
			reason: "Before the first step the directory has the files of the spec.",
			change: func(_ *Directory, _ *deliveryv1alpha1.LaterTree, s *ledger.State) { beginAt(s, ledger.StageShift) },
		},
		"RejectedBefore": {
			reason: "A revision that was rejected before its first step leaves the files of the spec.",
			change: func(_ *Directory, _ *deliveryv1alpha1.LaterTree, s *ledger.State) { reject(s) },
		},
		"RejectedAfter": {
			reason: "A revision that was rejected at its first step has brought its files.",
			change: func(d *Directory, _ *deliveryv1alpha1.LaterTree, s *ledger.State) {
				reject(s)
				d.Held.Tracks = append(slices.Clone(d.Held.Tracks), deliveryv1alpha1.DeliveredTrack{Name: track.Green, Revision: 2})
			}, want: true,
		},
		"RejectedLater": {
			reason: "At a later step the first one has come.",
			change: func(_ *Directory, _ *deliveryv1alpha1.LaterTree, s *ledger.State) { reject(s); s.Cursor.Step = 1 }, want: true,
		},
		"OtherRevision": {
			reason: "The files of another revision are not used.",
			change: func(_ *Directory, l *deliveryv1alpha1.LaterTree, _ *ledger.State) { l.Revision = 1 },
		},
		"OtherRequest": {
			reason: "The files of a revision that had the same number before a loss of the ledger are not used.",
			change: func(_ *Directory, l *deliveryv1alpha1.LaterTree, _ *ledger.State) { l.Request = "another" },
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
			p := deliveryv1alpha1.GitDeliveryParameters{Later: []deliveryv1alpha1.LaterTree{{Tree: green, Revision: 2, Request: s.Current.Request.Digest(), Step: 1}}}
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

// TestTreeAt has a delivery with a Site of the present step, and a Site of a later one.
func TestTreeAt(t *testing.T) {
	first := deliveryv1alpha1.Tree{Site: "edge1", Branch: "main", Path: "a", Action: deliveryv1alpha1.ActionDesired}
	second := deliveryv1alpha1.Tree{Site: "edge2", Branch: "main", Path: "b", Action: deliveryv1alpha1.ActionKeep}
	later := deliveryv1alpha1.Tree{Site: "edge2", Branch: "main", Path: "b", Action: deliveryv1alpha1.ActionDesired}
	p := deliveryv1alpha1.GitDeliveryParameters{
		Trees: []deliveryv1alpha1.Tree{first, second}, Later: []deliveryv1alpha1.LaterTree{{Tree: later, Revision: 2, Step: 1}},
	}
	if got, ok := TreeAt(p, "main", "b"); !ok || got.Action != deliveryv1alpha1.ActionKeep {
		t.Errorf("TreeAt(...): a directory has its present tree: want Keep, got %q, %t", got.Action, ok)
	}
	if _, ok := TreeAt(p, "other", "b"); ok {
		t.Error("TreeAt(...): a directory of another branch has no tree")
	}
	if HasLater(p, first) || !HasLater(p, second) {
		t.Error("HasLater(...): only the directory of the second Site has a tree of a later step")
	}
}
