// Package gates measures with a real Prometheus server. It needs no control plane.
package gates

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/fetch"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
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

func newWorld(t *testing.T) *world {
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
	w.must(err)
	w.must(w.server.Start(t.Context()))
	t.Cleanup(w.server.Stop)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) question(query string, samples bool) *prometheus.Question {
	w.Helper()
	base, err := prometheus.Base(w.server.URL())
	w.must(err)
	q, err := prometheus.NewQuestion(fetch.New(fetch.Options{Loopback: true}), promql.NewReader(10), prometheus.Server{Base: base}, query, samples)
	w.must(err)
	return q
}

// ask until an answer is as it should be.
func (w *world) ask(what string, q *prometheus.Question, live time.Duration, good func(gates.Answer) bool) gates.Answer {
	w.Helper()
	a := gates.Answer{}
	err := wait.PollUntilContextTimeout(w.Context(), 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		a = q.Ask(ctx, live)
		return good(a), nil
	})
	if err != nil {
		w.Fatalf("%s: %+v", what, a)
	}
	return a
}

func has(v float64) func(gates.Answer) bool {
	return func(a gates.Answer) bool { return len(a.Values) == 1 && a.Values[0] == v }
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask("what is scraped", w.question(ratio, false), time.Hour, has(0.01))
	if d := time.Since(a.At).Abs(); d > time.Minute {
		t.Errorf("the answer is of %s", a.At)
	}
	// A number from before is not one of now: the server does not look back for it, and says that there is none.
	w.ask("a number that is scraped seldom", w.question(slow, false), time.Hour, has(0.9))
	w.ask("the same, as if it went live after that", w.question(slow, false), 6*time.Second, func(a gates.Answer) bool {
		return a.Problem == "" && len(a.Values) == 0 && a.Early
	})
	// How many samples a value is made from.
	counted := w.ask("samples", w.question(rate, true), time.Hour, func(a gates.Answer) bool { return a.Samples != nil && *a.Samples >= 2 })
	if *counted.Samples > 10 {
		t.Errorf("a window of 4 s has %d samples", *counted.Samples)
	}
	w.ask("no series", w.question("nothing_at_all", false), time.Hour, func(a gates.Answer) bool { return a.Problem == "" && len(a.Values) == 0 && !a.Early })
	w.ask("many series", w.question("error_ratio", false), time.Hour, func(a gates.Answer) bool { return len(a.Values) == 2 })
	w.ask("no number", w.question("0/0", false), time.Hour, func(a gates.Answer) bool { return len(a.Values) == 1 && a.Values[0] != a.Values[0] })
	refused := w.ask("what cannot be evaluated", w.question(`error_ratio * on(job) error_ratio offset 1s * on(x) group_left vector(1) / on() error_ratio`, false), time.Hour,
		func(a gates.Answer) bool { return a.Problem != "" })
	if len(refused.Values) > 0 {
		t.Errorf("an error has values: %+v", refused)
	}
	w.server.Stop()
	w.ask("a server that is down", w.question(ratio, false), time.Hour, func(a gates.Answer) bool { return a.Problem == fetch.ProblemSilent+" ("+w.server.URL()+")" })
}

// judge with the real meter until the check has ended.
func (w *world) judge(m *meter.Meter, woken <-chan types.NamespacedName, task meter.Task) gates.Judgement {
	w.Helper()
	owner := types.NamespacedName{Namespace: "team-a", Name: w.Name()}
	for {
		if j := m.Measure(owner, "u", []meter.Task{task})[0]; j.Ended() {
			return j
		}
		select {
		case <-woken:
		case <-time.After(2 * time.Minute):
			w.Fatal("the check does not end")
		}
	}
}

func (w *world) meter() (*meter.Meter, <-chan types.NamespacedName) {
	woken := make(chan types.NamespacedName, 10)
	m := meter.New(time.Now, func(o types.NamespacedName) { woken <- o }, nil)
	go func() { _ = m.Start(w.Context()) }()
	return m, woken
}

func (w *world) task(query string, count int) meter.Task {
	w.Helper()
	limit, err := threshold.Parse("<= 0.05")
	w.must(err)
	q := w.question(query, false)
	return meter.Task{
		ID: "e1/errors", Question: q, Host: q.Host(), Lead: q.Lead(), LiveSince: time.Now(), Criteria: gates.Criteria{Limit: limit, MinSamples: 1},
		Rules: gates.Rules{InitialDelay: time.Second, Interval: time.Second, Count: count, Timeout: time.Minute, ErrorLimit: 20},
	}
}

func TestBreach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, woken := w.meter()
	task := w.task(ratio, 30)
	go func() {
		// The breach comes when it was good for some scrapes.
		_ = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return w.target.Scrapes() > 10, nil })
		w.target.Set("error_ratio", 0.2)
	}()
	got := w.judge(m, woken, task)
	got.Count = 0
	want := gates.Judgement{Phase: v1alpha1.CheckFailed, Value: "0.2", Message: "the value is beyond the threshold"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the breach: -want, +got:\n%s", diff)
	}
}

func TestServerComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, woken := w.meter()
	w.ask("it is there", w.question(ratio, false), time.Hour, has(0.01))
	w.server.Stop()
	// One error would end the check, and the server is down for longer than its timeout.
	task := w.task(ratio, 3)
	task.Rules.ErrorLimit, task.Rules.Timeout, task.Outages = 0, 20*time.Second, gates.OutagePolicy{Timeout: time.Minute}
	go func() {
		select {
		case <-time.After(25 * time.Second):
			_ = w.server.Start(t.Context())
		case <-t.Context().Done():
		}
	}()
	if got := w.judge(m, woken, task); got.Phase != v1alpha1.CheckPassed || got.Value != "0.01" {
		t.Errorf("after it came back: %+v", got)
	}
}
