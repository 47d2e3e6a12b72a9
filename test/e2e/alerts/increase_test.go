package alerts

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestIncreaseOverRestarts delivers a good revision, a bad revision that is rolled back, and a good revision, and restarts the provider between them.
// A real Prometheus server scrapes each of the three processes. The increase() of the counters equals the counts in the status of the deployment, and
// the first push and the first bad measurement are counted like the others.
func TestIncreaseOverRestarts(t *testing.T) {
	s := newAlertStage(t)
	s.Until("Prometheus scrapes the provider", patience.Limit, func() bool { return s.querySingleValue(`sum(`+transitionsTotal+`{job="provider"})`) == 0 })
	changes, began := changeLog{}, time.Now().Add(-scrapeInterval)
	first := s.releaseReplicas(1, scene.GoodRatio, "Succeeded")
	s.awaitIncreases(began, "the first revision is counted", transitionsTotal, "", changes.addTransitions(s.Scene, first))
	s.awaitFirstCounted(began, "the first push is counted", pushesTotal)
	s.restartProvider()
	second := s.releaseReplicas(2, scene.BadRatio, "RolledBack")
	s.awaitIncreases(began, "the second revision is counted once", transitionsTotal, "", changes.addTransitions(s.Scene, second))
	s.awaitFirstCounted(began, "the first bad measurement is counted", failuresTotal)
	s.restartProvider()
	third := s.releaseReplicas(3, scene.GoodRatio, "Succeeded")
	all := changes.addTransitions(s.Scene, third)
	s.awaitIncreases(began, "all changes of the phase are counted once", transitionsTotal, "", all)
	s.awaitIncreases(began, "each outcome is counted once", outcomesTotal, "outcome", map[string]float64{"Succeeded": 2, "Failed": 1, "RolledBack": 1})
	s.awaitIncreases(began, "the rollback is counted once", rollbackTotal, "job", map[string]float64{"provider": all["Failed RollingBack"]})
	if all["Failed RollingBack"] != 1 || all["RollingBack Succeeded"] != 1 {
		t.Errorf("the story has no rollback: %v", all)
	}
}
