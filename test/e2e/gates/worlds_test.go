package gates

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/test/promserver"
)

// TestShippedQueries asks each query of each shipped Blueprint about services in all states, and judges the answers by the metric's own rules.
func TestShippedQueries(t *testing.T) {
	t.Parallel()
	all := servicesByName()
	w := newServices(t, all)
	for _, b := range shippedBlueprints(t) {
		for _, m := range b.Spec.Metrics {
			for name, s := range all {
				want, ok := s.wantedOutcome(m.Name)
				if !ok {
					t.Fatalf("%s: metric %s has no expected outcome", b.GetName(), m.Name)
				}
				for _, query := range queriesOfMetric(m) {
					a := w.answerQuery(query, name)
					if got := w.criteriaOfMetric(m).Measure(a); got.Outcome != want {
						t.Errorf("%s\n%s: %s of %s: want %s, got %s from %+v", s.reason, b.GetName(), query, name, want, got.Outcome, a)
					}
				}
			}
		}
	}
}

// TestShippedQueriesAfterCrash lets a service crash that was healthy in all that the windows of the queries see. The windows in which a target
// counts as down are shortened from two minutes, so that the test need not wait for so long.
func TestShippedQueriesAfterCrash(t *testing.T) {
	t.Parallel()
	w, target := &world{T: t}, promserver.NewTarget()
	t.Cleanup(target.Close)
	var err error
	w.server, err = promserver.New(t.Context(), t.TempDir(), promserver.Job{Name: "crashed", Interval: time.Second, Target: target, Labels: labelsOfService("crashed")})
	w.requireNoError(err)
	w.requireNoError(w.server.Start(t.Context()))
	t.Cleanup(w.server.Stop)
	w.askUntilAnswer("requests", w.newQuestion(`sum(rate(http_requests_total[5m])) > 0`, false), time.Hour, func(a gates.Answer) bool {
		target.Add(servedRequests(0, "0.1"))
		return len(a.Values) == 1
	})
	target.Close()
	w.askUntilAnswer("a target that is down for some time", w.newQuestion(`max(max_over_time(up[3s])) == 0`, false), time.Hour, hasSingleValue(0))
	for _, b := range shippedBlueprints(t) {
		for _, m := range b.Spec.Metrics {
			if want, _ := servicesByName()["down"].wantedOutcome(m.Name); want != gates.Fail || m.Name == "availability" {
				continue // The availability is a mean of the window.
			}
			for _, query := range queriesOfMetric(m) {
				a := w.answerQuery(downWindow.ReplaceAllString(query, "${1}[3s]"), "crashed")
				if got := w.criteriaOfMetric(m).Measure(a); got.Outcome != gates.Fail {
					t.Errorf("A service that crashed does not pass by the requests before.\n%s: %s: got %s from %+v", b.GetName(), query, got.Outcome, a)
				}
			}
		}
	}
}
