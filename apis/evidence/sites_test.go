package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestAreSitesLive changes one thing at a time about a SiteSync that proves a position.
func TestAreSitesLive(t *testing.T) {
	position := newState(2, "b").Position()
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
		want   bool
	}{
		"Live": {reason: "A SiteSync that is Ready for the position proves it.", change: func(*deliveryv1alpha1.SiteSync) {}, want: true},
		"Asked": {
			reason: "A SiteSync that is asked for another position proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Position.Revision = 1 },
		},
		"Followed": {
			reason: "A SiteSync that followed the ledger from an earlier step proves the position.",
			change: func(s *deliveryv1alpha1.SiteSync) {
				earlier := position
				earlier.Step--
				s.Spec.ForProvider.Position = &earlier
			},
			want: true,
		},
		"Seen": {
			reason: "A status about another position proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Step = 1 },
		},
		"Nothing":    {reason: "A SiteSync without a status proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position = nil }},
		"Generation": {reason: "A SiteSync whose spec changed since proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetGeneration(5) }},
		"Unready": {
			reason: "A SiteSync that is not Ready proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.Unavailable().WithObservedGeneration(4)) },
		},
		"Unsynced": {
			reason: "A SiteSync that is not Synced proves nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.ReconcilePaused()) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &deliveryv1alpha1.SiteSync{}
			s.SetGeneration(4)
			s.Spec.ForProvider.Position, s.Status.AtProvider.Position = new(position), new(position)
			s.SetConditions(xpv2.Available().WithObservedGeneration(4), xpv2.ReconcileSuccess())
			tc.change(s)
			if got := AreSitesLive(s, position); got != tc.want {
				t.Errorf("\n%s\nAreSitesLive(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAdmitsTree changes one thing at a time about a SiteSync that saw the cluster of a Site ready for a tree.
func TestAdmitsTree(t *testing.T) {
	s := newState(2, "b")
	tree := deliveryv1alpha1.Tree{Site: "edge1", Tree: "t"}
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
		want   bool
	}{
		"Passed": {reason: "A cluster that was seen ready for the tree admits it.", change: func(*deliveryv1alpha1.SiteSync) {}, want: true},
		"Waits": {
			reason: "A cluster that was not ready yet admits nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Cluster.PassedAt = nil },
		},
		"Unknown": {
			reason: "A Site whose cluster was not looked at admits nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Cluster = nil },
		},
		"Other": {
			reason: "The cluster of another Site admits nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Sites[0].Name = "edge2" },
		},
		"Tree": {
			reason: "A SiteSync that looks for another tree admits nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Sites[0].Tree = "old" },
		},
		"Asked": {
			reason: "A SiteSync that does not look at the Site admits nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Sites[0].Name = "edge2" },
		},
		"Position": {
			reason: "Observations for another revision admit no Site.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Revision = 1 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sync := &deliveryv1alpha1.SiteSync{}
			sync.Spec.ForProvider.Sites = []deliveryv1alpha1.SiteTree{{Name: "edge1", Tree: "t"}}
			sync.Status.AtProvider.Position = new(s.Position())
			sync.Status.AtProvider.Sites = []deliveryv1alpha1.SiteObservation{{Name: "edge1", Cluster: &deliveryv1alpha1.SiteClusterObservation{PassedAt: &metav1.Time{}}}}
			tc.change(sync)
			if got := AdmitsTree(sync, s, tree); got != tc.want {
				t.Errorf("\n%s\nAdmitsTree(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestSyncFailure has a SiteSync that is not Ready at a position, with and without tracks.
func TestSyncFailure(t *testing.T) {
	cases := map[string]struct {
		reason    string
		track     string
		stage     int32
		condition xpv2.ConditionReason
		change    func(*deliveryv1alpha1.SiteSync)
		want      string
	}{
		"Losing": {
			reason: "The failing pods before the steps may be of the track that loses its requests.",
			track:  "blue", stage: ledger.StageShift, condition: deliveryv1alpha1.ReasonFailed,
		},
		"Late": {
			reason: "A shift that takes too long fails.",
			track:  "blue", stage: ledger.StageShift, condition: deliveryv1alpha1.ReasonTimedOut, want: rolloutv1alpha1.RejectedSyncTimedOut,
		},
		"InSteps": {
			reason: "In the steps each failure counts.",
			track:  "blue", stage: ledger.StageSteps, condition: deliveryv1alpha1.ReasonFailed, want: rolloutv1alpha1.RejectedSyncFailed,
		},
		"Trackless": {reason: "Without tracks each failure counts.", condition: deliveryv1alpha1.ReasonFailed, want: rolloutv1alpha1.RejectedSyncFailed},
		"Syncing":   {reason: "A Site that is not live yet fails nothing.", condition: deliveryv1alpha1.ReasonSyncing},
		"Elsewhere": {
			reason: "A status about another position fails nothing.", condition: deliveryv1alpha1.ReasonFailed,
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Revision = 1 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			state := newState(2, "b")
			state.Current.Track, state.Cursor.Stage = tc.track, tc.stage
			s := &deliveryv1alpha1.SiteSync{}
			s.SetGeneration(4)
			s.Spec.ForProvider.Position, s.Status.AtProvider.Position = new(state.Position()), new(state.Position())
			s.SetConditions(xpv2.Unavailable().WithObservedGeneration(4), xpv2.ReconcileSuccess())
			c := s.GetCondition(xpv2.TypeReady)
			c.Reason = tc.condition
			s.SetConditions(c)
			if tc.change != nil {
				tc.change(s)
			}
			got := ""
			if v := SyncFailure(s, state); v != nil {
				got = v.Reason
			}
			if got != tc.want {
				t.Errorf("\n%s\nSyncFailure(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
