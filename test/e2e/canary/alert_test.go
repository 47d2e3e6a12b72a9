package canary

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/alerting"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/release"
)

// TestCanaryAwaitsAUser lets a canary wait for a user. The alert names the deployment.
func TestCanaryAwaitsAUser(t *testing.T) {
	y := newReleaseAt(t, release.Options{})
	plan := release.Plan{Steps: []any{release.Weight(5), release.Pause("")}}
	y.asksForImage(1, plan)
	y.awaitOutcome(1, "Succeeded")
	states, err := alerting.StartStateMetrics(t.Context(), cp)
	y.must(err)
	jobs := append(alerting.ScrapeJobs(cp, time.Second), promserver.Job{Name: "kube-state-metrics", Interval: time.Second, Target: promserver.NewTargetAt(states)})
	server, err := promserver.New(t.Context(), t.TempDir(), jobs...)
	y.must(err)
	y.must(server.Start(t.Context()))
	t.Cleanup(server.Stop)
	o := alerting.Observer{Server: server, Namespace: y.Namespace}
	snapshot := o.TakeSnapshot(t)
	y.asksForImage(2, plan)
	y.awaitState(2, "AwaitingPromotion", "2/3")
	o.ExpectFiring(t, snapshot, "CanaryAwaitsAUser")
}
