package evidence

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TestTracksOf has a directory whose track green got requests at step 1, and a SiteSync that proved at step 2 that it gets none.
func TestTracksOf(t *testing.T) {
	steps := func(step int32) *ledger.Position { return &ledger.Position{Epoch: 1, Revision: 2, Step: step} }
	cases := map[string]struct {
		reason string
		change func(retained *deliveryv1alpha1.DeliveredTrack, proof *deliveryv1alpha1.TrackObservation)
		want   step.Track
	}{
		"Proven": {
			reason: "Pods of the folder that were available prove it, and a proof after the last weight says that it is idle.",
			want:   step.Track{Revision: 2, Weight: 20, IsProven: true, IsIdle: true},
		},
		"OtherTree": {
			reason: "Pods of another folder prove nothing.",
			change: func(h *deliveryv1alpha1.DeliveredTrack, _ *deliveryv1alpha1.TrackObservation) { h.Tree = "other" },
			want:   step.Track{Revision: 2, Weight: 20, IsIdle: true},
		},
		"NoPods": {reason: "A SiteSync that never observed available pods proves nothing.", change: func(h *deliveryv1alpha1.DeliveredTrack, p *deliveryv1alpha1.TrackObservation) {
			h.Tree, p.AvailableTree = "", ""
		}, want: step.Track{Revision: 2, Weight: 20, IsIdle: true}},
		"Earlier": {reason: "Pods that were available before the folder was added again prove nothing.", change: func(_ *deliveryv1alpha1.DeliveredTrack, p *deliveryv1alpha1.TrackObservation) {
			p.AvailableAt = steps(0)
		}, want: step.Track{Revision: 2, Weight: 20, IsIdle: true}},
		"Draining": {
			reason: "Requests in progress keep a track busy.",
			change: func(_ *deliveryv1alpha1.DeliveredTrack, p *deliveryv1alpha1.TrackObservation) { p.Idle = false },
			want:   step.Track{Revision: 2, Weight: 20, IsProven: true},
		},
		"ProvenSame": {
			reason: "A proof at the position that gave the track requests does not prove their end.",
			change: func(_ *deliveryv1alpha1.DeliveredTrack, p *deliveryv1alpha1.TrackObservation) { p.ProvenAt = steps(1) },
			want:   step.Track{Revision: 2, Weight: 20, IsProven: true},
		},
		"Unproven": {
			reason: "A track without a proof about its requests may get requests.",
			change: func(_ *deliveryv1alpha1.DeliveredTrack, p *deliveryv1alpha1.TrackObservation) { p.ProvenAt = nil },
			want:   step.Track{Revision: 2, Weight: 20, IsProven: true},
		},
		"NeverWeighed": {reason: "A track that never got requests is idle.", change: func(h *deliveryv1alpha1.DeliveredTrack, p *deliveryv1alpha1.TrackObservation) {
			h.WeighedAt, p.Idle = nil, false
		}, want: step.Track{Revision: 2, Weight: 20, IsProven: true, IsIdle: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			retained := deliveryv1alpha1.DeliveredTrack{Name: "green", Revision: 2, Weight: 20, Tree: "folder", ChangedAt: steps(1), WeighedAt: steps(1)}
			proof := deliveryv1alpha1.TrackObservation{Name: "green", AvailableTree: "folder", AvailableAt: steps(1), Idle: true, ProvenAt: steps(2)}
			if tc.change != nil {
				tc.change(&retained, &proof)
			}
			tree := deliveryv1alpha1.DeliveredTree{Site: "edge1", Tree: "t", Tracks: []deliveryv1alpha1.DeliveredTrack{retained}}
			site := deliveryv1alpha1.SiteObservation{Name: "edge1", Traffic: &deliveryv1alpha1.SiteTrafficObservation{Tracks: []deliveryv1alpha1.TrackObservation{proof}}}
			if diff := cmp.Diff(map[string]step.Track{"green": tc.want}, TracksOf(ledger.State{}, "edge1", tree, site)); diff != "" {
				t.Errorf("\n%s\nTracksOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTracksOfPlain has a directory without tracks.
func TestTracksOfPlain(t *testing.T) {
	s := ledger.State{History: []ledger.Past{{Number: 3, Trees: []ledger.SiteTree{{Site: "edge1", ID: "restored"}}}}}
	cases := map[string]struct {
		reason string
		held   deliveryv1alpha1.DeliveredTree
		want   map[string]step.Track
	}{
		"Never": {reason: "A directory that was never delivered has no tracks."},
		"Restored": {
			reason: "A directory has the revision that it was restored to.",
			held:   deliveryv1alpha1.DeliveredTree{Tree: "restored", Revision: 4},
			want:   map[string]step.Track{"plain": {Revision: 3, Weight: 100, IsProven: true}},
		},
		"Written": {
			reason: "A tree that no revision of the history has belongs to its last writer.",
			held:   deliveryv1alpha1.DeliveredTree{Tree: "other", Revision: 4},
			want:   map[string]step.Track{"plain": {Revision: 4, Weight: 100, IsProven: true}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, TracksOf(s, "edge1", tc.held, deliveryv1alpha1.SiteObservation{})); diff != "" {
				t.Errorf("\n%s\nTracksOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
