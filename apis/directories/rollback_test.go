package directories

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
)

// TestRollBack has a directory with revision 1 in the blue track and revision 2, which was rejected, in the green one.
func TestRollBack(t *testing.T) {
	green, files := treeIn(t, track.Green)
	blue, blueFiles := treeIn(t, track.Blue)
	target := &ledger.Past{Number: 1, Track: track.Blue, Trees: []ledger.SiteTree{{Site: "edge1", ID: blue.Tree, Part: track.FolderID(blueFiles, track.Blue)}}}
	const moved, restored = "Desired blue 1: 100 green 2: 0 part blue part green", "Desired blue 1: 100 part blue"
	restores := func(d *Directory, _ *Rollback) { d.Aim = step.Aim{Restores: true} }
	noFiles := func(d *Directory, _ *Rollback) { d.Asked.Files, d.Own.Files = nil, nil }
	cases := map[string]struct {
		reason  string
		changes []func(d *Directory, r *Rollback)
		want    string
	}{
		"Shift":    {reason: "The requests leave the rejected revision, and its folder stays.", want: moved},
		"Restores": {reason: "The track of the target is alone in the end.", changes: []func(*Directory, *Rollback){restores}, want: restored},
		"Keeps": {reason: "A directory without an aim stays.", changes: []func(*Directory, *Rollback){func(d *Directory, _ *Rollback) {
			d.Aim = step.Aim{Keeps: true}
		}}, want: "Keep"},
		"NoFiles": {
			reason:  "Where no object has the shared files the directory gets the tree of the target at once.",
			changes: []func(*Directory, *Rollback){noFiles}, want: "Restore blue 1: 100",
		},
		"AwaitsFiles": {
			reason:  "Where the shared files may be rendered later the directory stays until then.",
			changes: []func(*Directory, *Rollback){noFiles, func(_ *Directory, r *Rollback) { r.AwaitsFiles = true }}, want: "Keep",
		},
		"NoTarget": {
			reason:  "A target that the ledger does not remember restores nothing.",
			changes: []func(*Directory, *Rollback){restores, func(_ *Directory, r *Rollback) { r.Target = nil }}, want: "Keep",
		},
		"OtherSite": {
			reason:  "Nothing is restored at a Site that the target did not have.",
			changes: []func(*Directory, *Rollback){restores, func(d *Directory, _ *Rollback) { d.Own.Site = "edge2" }}, want: "Keep",
		},
		"Left": {reason: "Nothing is restored at a Site that the deployment has left.", changes: []func(*Directory, *Rollback){restores, func(_ *Directory, r *Rollback) {
			r.IsChosen = func(string) bool { return false }
		}}, want: "Keep"},
		"Plain": {reason: "The folder of a revision without tracks is in no object as it was rendered.", changes: []func(*Directory, *Rollback){func(d *Directory, _ *Rollback) {
			d.Track, d.Aim = track.Plain, step.Aim{Put: map[string]int64{track.Plain: 1}}
		}}, want: "Keep"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			requested := withTracks(green, 80, 20)
			d := Directory{Own: requested, Asked: requested, Track: track.Green, Revision: 2, FolderOf: func(int64) string { return "" }, Aim: serves(track.Blue, 0)}
			d.Held = deliveryv1alpha1.DeliveredTree{Tree: "both", Tracks: []deliveryv1alpha1.DeliveredTrack{
				{Name: track.Blue, Revision: 1, Weight: 80, Tree: track.FolderID(blueFiles, track.Blue)},
				{Name: track.Green, Revision: 2, Weight: 20, Tree: track.FolderID(files, track.Green)},
			}}
			r := Rollback{Target: target, IsChosen: func(string) bool { return true }}
			for _, change := range tc.changes {
				change(&d, &r)
			}
			got, err := NewTracker(0).RollBack(d, r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, describeTracks(got)); diff != "" {
				t.Errorf("\n%s\nRollBack(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNewDirectory has revision 3, which began beside revision 2.
func TestNewDirectory(t *testing.T) {
	cases := map[string]struct {
		reason        string
		track, stable string
		want          bool
	}{
		"Tracks": {reason: "Pods in tracks have no label of pods without tracks.", track: track.Green, stable: track.Blue},
		"Labelled": {
			reason: "Pods beside which a track begins have a label of their own, if they were delivered with one.",
			track:  track.Green, stable: track.Plain, want: true,
		},
		"First": {reason: "Pods that were delivered before there were tracks have no label.", track: track.Green},
		"Back":  {reason: "Pods that take the requests back from a track have a label.", track: track.Plain, stable: track.Green, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 3, Track: tc.track, Stable: 2}}
			s.History = []ledger.Past{{Number: 2, Track: tc.stable, Trees: []ledger.SiteTree{{Site: "edge2", Part: "other"}, {Site: "edge1", Part: "folder"}}}}
			d := NewDirectory(s, deliveryv1alpha1.Tree{Site: "edge1"})
			if d.IsPlainLabelled != tc.want || d.FolderOf(2) != "folder" || d.FolderOf(1) != "" || d.Revision != 3 {
				t.Errorf("\n%s\nNewDirectory(...): want labelled %t and the folder of revision 2, got %t, %q and %q", tc.reason, tc.want, d.IsPlainLabelled, d.FolderOf(2), d.FolderOf(1))
			}
		})
	}
}
