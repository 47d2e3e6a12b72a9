package directories

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
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
		"Part":      {reason: "A folder that is named by its id has to be proven.", tree: TrackedTree{Tree: part("other")}, held: delivered, want: deliveryv1alpha1.TrackTraffic{Weight: 5, Tree: "other", ChangedAt: &now}},
		"PartStays": {reason: "A folder that stays keeps when it changed.", tree: TrackedTree{Tree: part("folder")}, held: delivered, want: deliveryv1alpha1.TrackTraffic{Weight: 5, Tree: "folder", ChangedAt: earlier}},
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
			got := TrafficOf(tc.tree, tc.held, track.Blue, Traffic{Position: now})
			if diff := cmp.Diff(tc.want, got.Tracks[0]); diff != "" {
				t.Errorf("\n%s\nTrafficOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRetainTraffic asks again for a directory that stays, after its repository reported another position of its tracks.
func TestRetainTraffic(t *testing.T) {
	earlier, later := &ledger.Position{Epoch: 1, Revision: 1}, &ledger.Position{Epoch: 1, Revision: 2}
	delivered := deliveryv1alpha1.DeliveredTree{Tracks: []deliveryv1alpha1.DeliveredTrack{
		{Name: track.Blue, Tree: "b", ChangedAt: later, WeighedAt: later}, {Name: track.Green, Tree: "g", ChangedAt: later, WeighedAt: later},
	}}
	requested := &deliveryv1alpha1.SiteTraffic{Tracks: []deliveryv1alpha1.TrackTraffic{
		{Name: track.Blue, Weight: 100, Tree: "b", ChangedAt: earlier}, {Name: track.Green, Tree: "g", ChangedAt: earlier, WeighedAt: earlier},
	}}
	original := requested.DeepCopy()
	want := []deliveryv1alpha1.TrackTraffic{{Name: track.Blue, Weight: 100, Tree: "b", ChangedAt: later}, {Name: track.Green, Tree: "g", ChangedAt: later, WeighedAt: later}}
	if diff := cmp.Diff(want, RetainTraffic(requested, delivered).Tracks) + cmp.Diff(original, requested); diff != "" {
		t.Errorf("\nA proof from before a folder came again would never be replaced, and the observed object stays as it is.\nRetainTraffic(...): -want, +got:\n%s", diff)
	}
	if got := RetainTraffic(nil, delivered); got != nil {
		t.Errorf("\nNothing is asked of routes where a directory has no tracks.\nRetainTraffic(...): got %+v", got)
	}
}

// TestWorkloadsOfTrack names the Deployments of a track of a tree whose own track is green.
func TestWorkloadsOfTrack(t *testing.T) {
	named := func(name string) []deliveryv1alpha1.TrafficWorkload {
		return []deliveryv1alpha1.TrafficWorkload{{Name: name}}
	}
	cases := map[string]struct {
		reason string
		tree   TrackedTree
		track  string
		want   []deliveryv1alpha1.TrafficWorkload
	}{
		"Own":   {reason: "The files of a revision name its Deployments.", tree: TrackedTree{Workloads: named("own")}, track: track.Green, want: named("own")},
		"Plain": {reason: "The files of a revision without tracks name its Deployments.", tree: TrackedTree{Workloads: named("own"), PlainWorkloads: named("plain")}, track: track.Plain, want: named("plain")},
		"Known": {reason: "The workloads of another track are the observed ones.", tree: TrackedTree{Workloads: named("own")}, track: track.Blue, want: named("seen")},
		"Files": {reason: "Observed workloads count where the files name none.", track: track.Green, want: named("before")},
	}
	observed := &deliveryv1alpha1.SiteTraffic{Tracks: []deliveryv1alpha1.TrackTraffic{{Name: track.Blue, Workloads: named("seen")}, {Name: track.Green, Workloads: named("before")}}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := Traffic{Observed: deliveryv1alpha1.SiteTree{Traffic: observed}}
			if diff := cmp.Diff(tc.want, w.workloadsOf(tc.tree, tc.track, track.Green)); diff != "" {
				t.Errorf("\n%s\nworkloadsOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
