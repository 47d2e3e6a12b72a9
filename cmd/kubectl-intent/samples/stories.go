package samples

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/phase"
)

// Verified is a deployment whose revision 7 was verified and runs.
func Verified() *Sample {
	s := New()
	s.Input.State.Verdict, s.Input.State.Stable = &ledger.Verdict{Result: ledger.VerdictVerified}, 7
	return s
}

// WrongPassword is a deployment whose repository does not accept the credentials.
func WrongPassword() *Sample {
	s := New()
	s.makeDelivery()
	observation := &s.Delivery.Status.AtProvider
	observation.Record, observation.Trees = nil, nil
	s.Delivery.SetConditions(NotReady("AuthFailed", "git.example.org: 401 Unauthorized"))
	s.makeSiteSync()
	s.Sync.Status.AtProvider.Sites, s.Sync.Status.AtProvider.SitesLive = nil, 0
	s.Sync.SetConditions(NotReady("Waiting", "The tree is not in the repository."))
	return s
}

// EngineFailed is a deployment at whose first Site the engine fails.
func EngineFailed() *Sample {
	s := New()
	s.makeSiteSync()
	began := timeBeforeNow(90 * time.Second)
	s.Sync.Status.AtProvider.Sites[0] = deliveryv1alpha1.SiteObservation{
		Name: "edge1", State: deliveryv1alpha1.SiteSyncing, Reason: deliveryv1alpha1.SiteReasonEngineFailed,
		Message: "flux-system/fleet: Deployment/shop: admission webhook denied the request", Commit: oldCommit, StartedAt: &began,
		Engine: &deliveryv1alpha1.EngineObservation{Kind: "Kustomization"},
	}
	s.Sync.Status.AtProvider.SitesLive = 1
	s.Sync.SetConditions(NotReady("Syncing", "Site edge1: EngineFailed: flux-system/fleet: Deployment/shop: admission webhook denied the request"))
	return s
}

// RollingBack is a deployment whose revision 7 failed a Gate at its second Site, and goes back to revision 5. The first Site does not run that yet.
func RollingBack() *Sample {
	s := New()
	s.Gate = newFailedGate()
	s.Input.State.Current.Plan[0].Gate = true
	s.Input.State.Verdict = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: rolloutv1alpha1.RejectedGateFailed, Message: "latency_p99 at edge2 is 812ms, not <= 500ms."}
	s.Input.State.Cursor.Attempt, s.Input.State.Target, s.Input.Policy.MaxRetries = 1, 5, 3
	s.Input.State.History = append(s.Input.State.History, ledger.Past{
		Number: 7, Request: s.Input.State.Current.Request, Verdict: s.Input.State.Verdict, EndedAt: timeBeforeNow(41 * time.Second),
	})
	s.makeSiteSync()
	s.Sync.Status.AtProvider.Sites[0] = deliveryv1alpha1.SiteObservation{
		Name: "edge1", State: deliveryv1alpha1.SiteSyncing, Reason: deliveryv1alpha1.SiteReasonProgressing, Message: "flux-system/fleet: reconciling", Commit: newCommit,
		Engine: &deliveryv1alpha1.EngineObservation{Kind: "Kustomization"},
	}
	s.Sync.Status.AtProvider.Sites[1].Engine.Kind = "Application"
	s.Sync.Status.AtProvider.SitesLive = 1
	s.Sync.SetConditions(NotReady("Syncing", "Site edge1: Progressing: flux-system/fleet: reconciling"))
	return s
}

// RolledBack is RollingBack once the Sites run revision 5 again.
func RolledBack() *Sample {
	s := RollingBack()
	s.Input.State.Restored = true
	s.Sync = nil
	return s
}

func newFailedGate() *rolloutv1alpha1.Gate {
	g := &rolloutv1alpha1.Gate{}
	for _, check := range []string{"error_rate", "latency_p99"} {
		for _, site := range []string{"edge1", "edge2"} {
			c := rolloutv1alpha1.GateCheck{}
			c.Name, c.Site, c.Type, c.Threshold = check, site, "Prometheus", "<= 500ms"
			c.Prometheus = &deploymentv1alpha1.PrometheusCheck{Query: check, Address: "https://prometheus.example.org"}
			g.Spec.ForProvider.Checks = append(g.Spec.ForProvider.Checks, c)
			g.Status.AtProvider.Checks = append(g.Status.AtProvider.Checks, rolloutv1alpha1.CheckResult{
				Name: check, Site: site, Phase: rolloutv1alpha1.CheckPassed, Value: "0.1%", Threshold: "<= 1%", Measurements: 5,
			})
		}
	}
	began, ended := timeBeforeNow(3*time.Minute), timeBeforeNow(42*time.Second)
	g.Status.AtProvider.StartedAt, g.Status.AtProvider.EndedAt, g.Status.AtProvider.Verdict = &began, &ended, rolloutv1alpha1.GateFailed
	last := &g.Status.AtProvider.Checks[3]
	last.Phase, last.Value, last.Threshold, last.StartedAt = rolloutv1alpha1.CheckFailed, "812ms", "<= 500ms", &began
	g.SetConditions(NotReady("Failed", "latency_p99 at edge2 is 812ms, not <= 500ms."))
	return g
}

// Canary is a deployment whose second step of four is live, and pauses for five minutes or, if it is manual, until a user releases it.
func Canary(isManual bool) *Sample {
	s := New()
	pause := "5m"
	if isManual {
		pause = "Manual"
	}
	s.Input.State.Current.Track, s.Input.State.Current.Stable = "green", 5
	s.Input.State.Current.Plan = []ledger.Step{
		{Sites: []string{"edge1", "edge2"}, Weight: ptr.To[int32](0), Ahead: ptr.To[int32](20)},
		{Weight: ptr.To[int32](20), Ahead: ptr.To[int32](50), Pause: pause},
		{Weight: ptr.To[int32](50)},
		{Weight: ptr.To[int32](100)},
	}
	s.Input.State.Cursor = ledger.Cursor{Step: 1, Stage: ledger.StageSteps}
	s.makeSiteSync()
	s.makeDelivery()
	for i := range s.Delivery.Status.AtProvider.Trees {
		s.Delivery.Status.AtProvider.Trees[i].Tracks = []deliveryv1alpha1.DeliveredTrack{
			{Name: "blue", Revision: 5, Tree: oldTree, Weight: 80}, {Name: "green", Revision: 7, Tree: newTree, Weight: 20},
		}
	}
	s.Sync.Spec.ForProvider.Pause = pause
	ends := metav1.NewTime(Now().Add(3*time.Minute + 20*time.Second))
	if !isManual {
		s.Sync.Status.AtProvider.Pause = &deliveryv1alpha1.PauseObservation{Position: s.Input.State.Position(), StartedAt: timeBeforeNow(100 * time.Second), EndsAt: ends}
	}
	return s
}

// Invalid is a deployment whose spec cannot be carried out, after revision 7 was verified.
func Invalid() *Sample {
	s := Verified()
	s.Input.Problem = &phase.Problem{Reason: deploymentv1alpha1.ReasonInvalidSpec, Message: "spec.expectation: no Site edge9", Terminal: true, Phase: deploymentv1alpha1.PhaseCompiling}
	return s
}
