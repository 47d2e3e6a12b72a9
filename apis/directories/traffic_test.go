package directories

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// TestTrafficTracks asks for track green, which a directory has or gets.
func TestTrafficTracks(t *testing.T) {
	now, earlier := ledger.Position{Epoch: 1, Revision: 3}, &ledger.Position{Epoch: 1, Revision: 2}
	delivered := deliveryv1alpha1.DeliveredTree{Tracks: []deliveryv1alpha1.DeliveredTrack{{Name: track.Green, Tree: "folder", Weight: 20, ChangedAt: earlier, WeighedAt: earlier}}}
	green := func(weight int32) []deliveryv1alpha1.TreeTrack {
		return []deliveryv1alpha1.TreeTrack{{Name: track.Green, Revision: 3, Weight: weight}}
	}
	part := func(id string) deliveryv1alpha1.Tree {
		return deliveryv1alpha1.Tree{Tracks: green(5), Parts: []deliveryv1alpha1.TreePart{{Path: track.Green, Tree: id}}}
	}
	cases := map[string]struct {
		reason string
		tree   TrackedTree
		held   deliveryv1alpha1.DeliveredTree
		want   deliveryv1alpha1.TrackTraffic
	}{
		"New": {
			reason: "A track that the directory has not is there once the position is.",
			tree:   TrackedTree{Tree: deliveryv1alpha1.Tree{Tracks: green(0)}, Folder: "new"},
			want:   deliveryv1alpha1.TrackTraffic{Tree: "new", ChangedAt: &now},
		},
		"Own": {
			reason: "A folder whose files differ from the directory's changes at the position.",
			tree:   TrackedTree{Tree: deliveryv1alpha1.Tree{Tracks: green(5)}, Folder: "new"}, held: delivered,
			want: deliveryv1alpha1.TrackTraffic{Weight: 5, Tree: "new", ChangedAt: &now},
		},
		"Same": {
			reason: "A folder that the directory has changed when its repository says.",
			tree:   TrackedTree{Tree: deliveryv1alpha1.Tree{Tracks: green(5)}, Folder: "folder"}, held: delivered,
			want: deliveryv1alpha1.TrackTraffic{Weight: 5, Tree: "folder", ChangedAt: earlier},
		},
		"Part": {
			reason: "A folder that is named by its id has to be proven.",
			tree:   TrackedTree{Tree: part("other")}, held: delivered, want: deliveryv1alpha1.TrackTraffic{Weight: 5, Tree: "other", ChangedAt: &now},
		},
		"PartStays": {
			reason: "A folder that stays keeps when it changed.",
			tree:   TrackedTree{Tree: part("folder")}, held: delivered,
			want: deliveryv1alpha1.TrackTraffic{Weight: 5, Tree: "folder", ChangedAt: earlier},
		},
		"Stays": {
			reason: "A track whose files are nowhere stays as it is, and loses its requests after it got them last.",
			tree:   TrackedTree{Tree: deliveryv1alpha1.Tree{Tracks: green(0)}}, held: delivered,
			want: deliveryv1alpha1.TrackTraffic{Tree: "folder", ChangedAt: earlier, WeighedAt: earlier},
		},
		"Restored": {
			reason: "A track that is restored has the folder of its revision.", held: delivered,
			tree: NewTracker(1<<20).RestoreTracked(Directory{}, ledger.SiteTree{ID: "whole", Part: "past"}, ledger.Past{Number: 1, Track: track.Green}),
			want: deliveryv1alpha1.TrackTraffic{Weight: 100, Tree: "past", ChangedAt: &now},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.Name = track.Green
			got := TrafficOf(tc.tree, tc.held, Traffic{Position: now})
			if diff := cmp.Diff(tc.want, got.Tracks[0]); diff != "" {
				t.Errorf("\n%s\nTrafficOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeliveredTraffic compares the traffic of a delivered directory and of its files with the traffic that was composed before the delivery.
func TestDeliveredTraffic(t *testing.T) {
	green, _ := treeIn(t, track.Green)
	blue, blueFiles := treeIn(t, track.Blue)
	position, earlier := ledger.Position{Epoch: 1, Revision: 2, Stage: ledger.StageSteps}, &ledger.Position{Epoch: 1, Revision: 1}
	blueFolder := track.FolderID(blueFiles, track.Blue)
	d := Directory{
		Aim: step.Aim{Put: map[string]int64{track.Green: 2}, Serving: track.Blue, Weight: 20}, Own: green, Asked: blue, Track: track.Green, Revision: 2,
		Held: deliveryv1alpha1.DeliveredTree{Tree: blue.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{
			{Name: track.Blue, Revision: 1, Tree: blueFolder, Weight: 100, ChangedAt: earlier, WeighedAt: earlier},
		}},
		FolderOf: func(int64) string { return blueFolder },
	}
	composed, err := NewTracker(1 << 20).Compose(d)
	if err != nil {
		t.Fatal(err)
	}
	want := TrafficOf(composed, d.Held, Traffic{Awaited: 2, Position: position, Drain: "30s"})
	delivered := deliveryv1alpha1.DeliveredTree{Tree: composed.Tree.Tree, Revision: 2, Tracks: []deliveryv1alpha1.DeliveredTrack{
		{Name: track.Blue, Revision: 1, Tree: blueFolder, Weight: 80, ChangedAt: earlier, WeighedAt: &position},
		{Name: track.Green, Revision: 2, Tree: composed.Folder, Weight: 20, ChangedAt: &position, WeighedAt: &position},
	}}
	files, err := tree.Decode(composed.Files)
	if err != nil {
		t.Fatal(err)
	}
	files = maps.Clone(files)
	for name, content := range blueFiles {
		if strings.HasPrefix(name, track.Blue+"/") {
			files[name] = content
		}
	}
	if id := tree.ID(files); id != delivered.Tree {
		t.Fatalf("the files have tree %s, and the directory has %s", id, delivered.Tree)
	}
	s := ledger.State{Current: &ledger.Revision{Number: 2, Track: track.Green, Stable: 1, Plan: weighted()}, Cursor: ledger.Cursor{Stage: ledger.StageSteps}}
	got := DeliveredTraffic(s, delivered, "30s")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nThe directory in Git has the traffic that was composed.\nDeliveredTraffic(...): -want, +got:\n%s", diff)
	}
	read, err := ReadTrackFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	read.AddTo(got)
	backends := []deliveryv1alpha1.TrafficBackend{{Service: "web-blue", Weight: 80}, {Service: "web-green", Weight: 20}}
	want.Routes = []deliveryv1alpha1.TrafficRoute{{Kind: "HTTPRoute", Namespace: "team-a", Name: "web", Backends: backends}}
	want.Tracks[0].Workloads = []deliveryv1alpha1.TrafficWorkload{{Namespace: "team-a", Name: "web-blue"}}
	want.Tracks[1].Workloads = []deliveryv1alpha1.TrafficWorkload{{Namespace: "team-a", Name: "web-green"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("\nThe files of the directory name its routes and Deployments.\nReadTrackFiles(...): -want, +got:\n%s", diff)
	}
	if got := DeliveredTraffic(s, deliveryv1alpha1.DeliveredTree{Tree: "flat"}, "30s"); got != nil {
		t.Errorf("\nA directory without tracks divides no requests.\nDeliveredTraffic(...): got %+v", got)
	}
	if _, err := ReadTrackFiles(tree.Files{"blue/deployment.yaml": []byte("{")}); err == nil {
		t.Error("\nA file that is no object has no Deployments.\nReadTrackFiles(...): want an error")
	}
}
