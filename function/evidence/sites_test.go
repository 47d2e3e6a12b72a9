package evidence

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestAreSitesLive changes one thing at a time about a SiteSync that proves a position.
func TestAreSitesLive(t *testing.T) {
	at := newState(2, "b").Position()
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
		want   bool
	}{
		"Live":       {reason: "A SiteSync that is Ready for the position proves it.", change: func(*deliveryv1alpha1.SiteSync) {}, want: true},
		"Asked":      {reason: "A SiteSync that is asked for another position proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Position.Revision = 1 }},
		"Seen":       {reason: "A status about another position proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Step = 1 }},
		"Nothing":    {reason: "A SiteSync without a status proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position = nil }},
		"Generation": {reason: "A SiteSync whose spec changed since proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetGeneration(5) }},
		"Unready":    {reason: "A SiteSync that is not Ready proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.Unavailable().WithObservedGeneration(4)) }},
		"Unsynced":   {reason: "A SiteSync that is not Synced proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.ReconcilePaused()) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &deliveryv1alpha1.SiteSync{}
			s.SetGeneration(4)
			s.Spec.ForProvider.Position = &at
			s.Status.AtProvider.Position = new(at)
			s.SetConditions(xpv2.Available().WithObservedGeneration(4), xpv2.ReconcileSuccess())
			tc.change(s)
			if got := AreSitesLive(s, at); got != tc.want {
				t.Errorf("\n%s\nAreSitesLive(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
