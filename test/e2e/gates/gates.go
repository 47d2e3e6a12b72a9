// Package gates measures with a real Prometheus server. It needs no control plane.
package gates

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
)

const (
	ratio = `max(error_ratio{job="shop"})`
	rate  = `sum(rate(requests_total{job="shop"}[4s]))`
	slow  = `max(error_ratio{job="slow"})`
)

// A world is a real server that scrapes a target each second, and another one seldom.
type world struct {
	*testing.T

	server *promserver.Server
	target *promserver.Target
	seldom *promserver.Target
}

func newGateWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, target: promserver.NewTarget(), seldom: promserver.NewTarget()}
	t.Cleanup(w.target.Close)
	t.Cleanup(w.seldom.Close)
	w.target.Set("error_ratio", 0.01)
	w.target.Set("requests_total", 0)
	w.seldom.Set("error_ratio", 0.9)
	var err error
	w.server, err = promserver.New(t.Context(), t.TempDir(),
		promserver.Job{Name: "shop", Interval: time.Second, Target: w.target}, promserver.Job{Name: "slow", Interval: 30 * time.Second, Target: w.seldom})
	w.requireNoError(err)
	w.requireNoError(w.server.Start(t.Context()))
	t.Cleanup(w.server.Stop)
	return w
}

func (w *world) requireNoError(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) newQuestion(query string, samples bool) *prometheus.Question {
	w.Helper()
	base, err := prometheus.Base(w.server.URL())
	w.requireNoError(err)
	servers, err := fetch.New(fetch.Options{Loopback: true}, fetch.NewMeasurementAccount())
	w.requireNoError(err)
	q, err := prometheus.NewQuestion(servers.ForNamespace("gates"), promql.NewReader(10), prometheus.Server{Base: base}, query, samples)
	w.requireNoError(err)
	return q
}

// askUntilAnswer asks until an answer is as it should be.
func (w *world) askUntilAnswer(description string, q *prometheus.Question, live time.Duration, good func(gates.Answer) bool) gates.Answer {
	w.Helper()
	a := gates.Answer{}
	err := wait.PollUntilContextTimeout(w.Context(), 100*time.Millisecond, patience.Limit, true, func(ctx context.Context) (bool, error) {
		a = q.Ask(ctx, live)
		return good(a), nil
	})
	if err != nil {
		w.Fatalf("%s: %+v", description, a)
	}
	return a
}

func hasSingleValue(v float64) func(gates.Answer) bool {
	return func(a gates.Answer) bool { return len(a.Values) == 1 && a.Values[0] == v }
}

// judgeWithMeter with the real meter until the check has ended.
func (w *world) judgeWithMeter(m *meter.Meter, woken <-chan types.NamespacedName, task meter.Task) gates.Judgement {
	w.Helper()
	owner := types.NamespacedName{Namespace: "team-a", Name: w.Name()}
	for {
		if j := m.Measure(owner, "u", []meter.Task{task})[0]; j.Ended() {
			return j
		}
		select {
		case <-woken:
		case <-time.After(patience.Limit):
			w.Fatal("the check does not end")
		}
	}
}

func (w *world) startMeter() (*meter.Meter, <-chan types.NamespacedName) {
	woken := make(chan types.NamespacedName, 10)
	m := meter.New(time.Now, func(o types.NamespacedName) { woken <- o }, nil)
	go func() { _ = m.Start(w.Context()) }()
	return m, woken
}

func (w *world) newMeterTask(query string, count int) meter.Task {
	w.Helper()
	limit, err := threshold.Parse("<= 0.05")
	w.requireNoError(err)
	q := w.newQuestion(query, false)
	return meter.Task{
		ID: "e1/errors", Question: q, Host: q.Host(), Lead: q.Lead(), LiveSince: time.Now(), Criteria: gates.Criteria{Limit: limit, MinSamples: 1},
		Rules: gates.Rules{InitialDelay: time.Second, Interval: time.Second, Count: count, Timeout: patience.Limit, ErrorLimit: 20},
	}
}
