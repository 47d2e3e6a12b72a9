package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
)

func TestServingTrack(t *testing.T) {
	weighted := func(name string, weight int32) deliveryv1alpha1.DeliveredTrack {
		return deliveryv1alpha1.DeliveredTrack{Name: name, Weight: weight}
	}
	cases := map[string]struct {
		reason string
		sites  [][]deliveryv1alpha1.DeliveredTrack
		want   string
	}{
		"None":  {reason: "A deployment without directories has no track that serves."},
		"Plain": {reason: "A plain workload is not a track.", sites: [][]deliveryv1alpha1.DeliveredTrack{{weighted(track.Plain, 100)}}},
		"Most": {
			reason: "The track with most of the requests serves.", want: ledger.TrackGreen,
			sites: [][]deliveryv1alpha1.DeliveredTrack{{weighted(ledger.TrackBlue, 20), weighted(ledger.TrackGreen, 80)}},
		},
		"Sites": {
			reason: "The requests of all Sites count.", want: ledger.TrackBlue,
			sites: [][]deliveryv1alpha1.DeliveredTrack{
				{weighted(ledger.TrackBlue, 40), weighted(ledger.TrackGreen, 60)}, {weighted(ledger.TrackBlue, 100)},
			},
		},
		"Equal": {
			reason: "Of two tracks with equal requests the first one serves.", want: ledger.TrackBlue,
			sites: [][]deliveryv1alpha1.DeliveredTrack{{weighted(ledger.TrackBlue, 50), weighted(ledger.TrackGreen, 50)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &deliveryv1alpha1.GitDelivery{}
			for _, tracks := range tc.sites {
				d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, deliveryv1alpha1.DeliveredTree{Tracks: tracks})
			}
			p := Placer{Deliveries: map[string]*deliveryv1alpha1.GitDelivery{"home": d}}
			if diff := cmp.Diff(tc.want, p.servingTrack()); diff != "" {
				t.Errorf("\n%s\nservingTrack(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
