package verdict

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
)

func claim() v1alpha1.ClaimReference {
	return v1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: "web"}
}

// sync1 says that the position has been live at the Site for a minute.
func sync1() *deliveryv1alpha1.SiteSync {
	s := &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Generation: 1}}
	s.Spec.ForProvider = deliveryv1alpha1.SiteSyncParameters{ClaimRef: claim(), Position: position()}
	s.Status.AtProvider = deliveryv1alpha1.SiteSyncObservation{Position: position(), Sites: []deliveryv1alpha1.SiteObservation{
		{Name: "edge1", State: deliveryv1alpha1.SiteLive, LiveSince: instant.Timestamp(noon().Add(-time.Minute))},
	}}
	s.SetConditions(xpv2.ReconcileSuccess(), xpv2.Available().WithObservedGeneration(1))
	return s
}

// TestFollowedSync has a Gate of the second step, and a SiteSync whose spec names the first one.
func TestFollowedSync(t *testing.T) {
	noon := instant.Timestamp(noon())
	released := func(status corev1.ConditionStatus) func(s *deliveryv1alpha1.SiteSync) {
		return func(s *deliveryv1alpha1.SiteSync) {
			s.SetConditions(xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, Status: status, Reason: deliveryv1alpha1.ReasonPausing, ObservedGeneration: 1})
		}
	}
	cases := map[string]struct {
		reason         string
		change         func(s *deliveryv1alpha1.SiteSync)
		live, released bool
	}{
		"Followed": {
			reason:   "A SiteSync that followed the ledger proves the step, which is released without a pause.",
			change:   func(*deliveryv1alpha1.SiteSync) {},
			live:     true,
			released: true,
		},
		"Pausing": {reason: "A step whose pause goes on is not released.", change: released(corev1.ConditionFalse), live: true},
		"Over":    {reason: "A step whose pause is over is released.", change: released(corev1.ConditionTrue), live: true, released: true},
		"NoPause": {reason: "The pause of an earlier step does not hold the step back.", change: func(s *deliveryv1alpha1.SiteSync) {
			s.Spec.ForProvider.Pause = "Manual"
		}, live: true, released: true},
		"Earlier": {
			reason: "A SiteSync that is still at the first step proves nothing of the second one.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Step = 0 },
		},
		"Beyond": {
			reason:   "A SiteSync beyond the step has released it.",
			change:   func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Step = 2 },
			live:     true,
			released: true,
		},
		"Rollback": {reason: "A SiteSync that followed the ledger to a rollback proves no step.", change: func(s *deliveryv1alpha1.SiteSync) {
			s.Status.AtProvider.Position.Attempt = 1
		}},
		"GoingBack": {
			reason: "A SiteSync whose spec names a rollback proves no step.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Position.Attempt = 1 },
		},
		"OldStatus": {reason: "A status of an older generation proves nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Generation = 2 }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			judged, s := position(), sync1()
			judged.Step, s.Status.AtProvider.Position.Step, s.Status.AtProvider.Sites[0].LiveSince = 1, 1, noon
			tc.change(s)
			e := Evidence{Spec: v1alpha1.GateParameters{ClaimRef: claim(), Position: judged}, Sync: s}
			if got := e.syncedSince("edge1"); got.IsZero() == tc.live || tc.live && !got.Equal(noon.Time) {
				t.Errorf("\n%s\nsyncedSince(...): want live %t, got %s", tc.reason, tc.live, got)
			}
			if got := e.IsReleased(); got != tc.released {
				t.Errorf("\n%s\nIsReleased(): want %t, got %t", tc.reason, tc.released, got)
			}
		})
	}
}

// TestReleasedStep says when a Gate believes that the step is released.
func TestReleasedStep(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
		want   bool
	}{
		"Released": {reason: "A step whose pause is over is released.", want: true},
		"Pausing":  {reason: "A step in its pause is not released.", change: func(s *deliveryv1alpha1.SiteSync) { setReleased(s, corev1.ConditionFalse, 1) }},
		"OlderSpec": {
			reason: "A release of an earlier spec does not release a step.",
			change: func(s *deliveryv1alpha1.SiteSync) { setReleased(s, corev1.ConditionTrue, 0) },
		},
		"EarlierStep": {
			reason: "The release of an earlier step is not one of this step.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Position.Step = -1 },
		},
		"LaterStep": {
			reason: "A deployment at a later step released this step.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Position.Step = 1 }, want: true,
		},
		"OtherRevision": {reason: "Another revision releases nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Position.Revision = 9 }},
		"NoPause": {reason: "A step without a pause is released.", change: func(s *deliveryv1alpha1.SiteSync) {
			s.Status.Conditions = s.Status.Conditions[:2]
			s.Spec.ForProvider.Pause = ""
		}, want: true},
		"PauseUnseen": {
			reason: "A pause that the SiteSync has not seen is not over.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Status.Conditions = s.Status.Conditions[:2] },
		},
		"OtherClaim": {
			reason: "The SiteSync of another claim releases nothing.",
			change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.ClaimRef.Name = "other" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := sync1()
			s.Spec.ForProvider.Pause = "Manual"
			setReleased(s, corev1.ConditionTrue, 1)
			if tc.change != nil {
				tc.change(s)
			}
			e := Evidence{Spec: v1alpha1.GateParameters{ClaimRef: claim(), Position: position()}, Sync: s}
			if got := e.IsReleased(); got != tc.want {
				t.Errorf("\n%s\nIsReleased(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestLiveByDelivery has a Site without an engine, whose tree was delivered at noon.
func TestLiveByDelivery(t *testing.T) {
	cases := map[string]struct {
		reason   string
		observed time.Time
		change   func(*deliveryv1alpha1.GitDelivery)
		want     time.Time
	}{
		"Delivered": {reason: "A Site is live since its delivery.", change: func(*deliveryv1alpha1.GitDelivery) {}, want: noon()},
		"Observed": {
			reason: "A Site that was observed after its delivery is live since the observation.", observed: noon().Add(time.Minute),
			change: func(*deliveryv1alpha1.GitDelivery) {}, want: noon().Add(time.Minute),
		},
		"Followed": {
			reason: "A delivery that followed the ledger to its first wave at the Site is evidence.", want: noon(),
			change: func(d *deliveryv1alpha1.GitDelivery) {
				p := &d.Spec.ForProvider
				p.Later, p.Trees = []deliveryv1alpha1.LaterTree{{Tree: p.Trees[0]}}, nil
			},
		},
		"OtherSite": {
			reason: "A delivery to another Site is not evidence.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Trees[0].Site = "edge2" },
		},
		"OldStatus": {
			reason: "A status about an earlier generation is not evidence.",
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Generation = 2 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: "edge1"}}
			site.Spec.Engine = catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone, UnobservedIsLive: new(true)}
			d := deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
			d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{ClaimRef: claim(), Position: position(), Trees: []deliveryv1alpha1.Tree{{Site: "edge1"}}}
			d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: *position()}
			for _, c := range []xpv2.Condition{xpv2.ReconcileSuccess(), xpv2.Available().WithObservedGeneration(1)} {
				c.LastTransitionTime = metav1.NewTime(noon())
				d.SetConditions(c)
			}
			tc.change(&d)
			e := Evidence{Spec: v1alpha1.GateParameters{ClaimRef: claim(), Position: position()}, Deliveries: []deliveryv1alpha1.GitDelivery{d}}
			if got := e.LiveSince(site, tc.observed); !got.Equal(tc.want) {
				t.Errorf("\n%s\nLiveSince(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

func setReleased(s *deliveryv1alpha1.SiteSync, status corev1.ConditionStatus, generation int64) {
	s.SetConditions(xpv2.Condition{Type: deliveryv1alpha1.TypeReleased, Status: status}.WithObservedGeneration(generation))
	for i := range s.Status.Conditions {
		if s.Status.Conditions[i].Type == deliveryv1alpha1.TypeReleased {
			s.Status.Conditions[i].Reason = "AsTheTestHasIt"
		}
	}
}

// TestStepPassedBy says when a Gate of a step measures that the Sites are beyond.
func TestStepPassedBy(t *testing.T) {
	cases := map[string]struct {
		reason string
		until  v1alpha1.GateUntil
		begun  bool
		step   int32
		want   bool
	}{
		"Own":   {reason: "A Gate measures while its step is live.", until: v1alpha1.GateUntilReleased, want: true},
		"Later": {reason: "A Gate whose step a user had passed over never measures.", until: v1alpha1.GateUntilReleased, step: 1},
		"Begun": {reason: "A Gate that began comes to its end at a later step.", until: v1alpha1.GateUntilReleased, begun: true, step: 1, want: true},
		"Plain": {reason: "A Gate of a wave still measures when a later wave has come.", step: 1, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := sync1()
			s.Spec.ForProvider.Position.Step += tc.step
			s.Status.AtProvider.Position.Step += tc.step
			e := Evidence{Spec: v1alpha1.GateParameters{ClaimRef: claim(), Position: position(), Until: tc.until}, Sync: s, HasBegun: tc.begun}
			if got := !e.syncedSince("edge1").IsZero(); got != tc.want {
				t.Errorf("\n%s\nsyncedSince(...): want live %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
