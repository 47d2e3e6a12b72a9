package gates

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/test/patience"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newGateWorld(t)
	a := w.askUntilAnswer("the scraped series", w.newQuestion(ratio, false), time.Hour, hasSingleValue(0.01))
	if d := time.Since(a.At).Abs(); d > time.Minute {
		t.Errorf("the answer is of %s", a.At)
	}
	// An earlier number does not count as the present number: the server does not look back for it, and returns none.
	w.askUntilAnswer("a number that is scraped seldom", w.newQuestion(slow, false), time.Hour, hasSingleValue(0.9))
	w.askUntilAnswer("the same, as if it went live after that", w.newQuestion(slow, false), 6*time.Second, func(a gates.Answer) bool {
		return a.Problem == "" && len(a.Values) == 0 && a.Early
	})
	// How many samples a value is made from.
	counted := w.askUntilAnswer("samples", w.newQuestion(rate, true), time.Hour, func(a gates.Answer) bool { return a.Samples != nil && *a.Samples >= 2 })
	if *counted.Samples > 10 {
		t.Errorf("a window of 4 s has %d samples", *counted.Samples)
	}
	w.askUntilAnswer("no series", w.newQuestion("nothing_at_all", false), time.Hour, func(a gates.Answer) bool { return a.Problem == "" && len(a.Values) == 0 && !a.Early })
	w.askUntilAnswer("many series", w.newQuestion("error_ratio", false), time.Hour, func(a gates.Answer) bool { return len(a.Values) == 2 })
	w.askUntilAnswer("no number", w.newQuestion("0/0", false), time.Hour, func(a gates.Answer) bool { return len(a.Values) == 1 && a.Values[0] != a.Values[0] })
	refused := w.askUntilAnswer("an expression that cannot be evaluated", w.newQuestion(`error_ratio * on(job) error_ratio offset 1s * on(x) group_left vector(1) / on() error_ratio`, false), time.Hour,
		func(a gates.Answer) bool { return a.Problem != "" })
	if len(refused.Values) > 0 {
		t.Errorf("an error has values: %+v", refused)
	}
	w.server.Stop()
	w.askUntilAnswer("a server that is down", w.newQuestion(ratio, false), time.Hour, func(a gates.Answer) bool { return a.Problem == fetch.ProblemSilent+" ("+w.server.URL()+")" })
}

func TestBreach(t *testing.T) {
	t.Parallel()
	w := newGateWorld(t)
	m, woken := w.startMeter()
	task := w.newMeterTask(ratio, 30)
	go func() {
		// The breach comes when it was good for some scrapes.
		_ = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience.Limit, true, func(context.Context) (bool, error) { return w.target.Scrapes() > 10, nil })
		w.target.Set("error_ratio", 0.2)
	}()
	got := w.judgeWithMeter(m, woken, task)
	if n := len(got.Recent); n == 0 || got.Recent[n-1].Value != "0.2" {
		t.Errorf("the last measurement did not fail: %+v", got.Recent)
	}
	got.Count, got.Recent = 0, nil
	want := gates.Judgement{Phase: v1alpha1.CheckFailed, Value: "0.2", Message: "the value is beyond the threshold"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the breach: -want, +got:\n%s", diff)
	}
}

func TestServerComesBack(t *testing.T) {
	t.Parallel()
	w := newGateWorld(t)
	m, woken := w.startMeter()
	w.askUntilAnswer("it is there", w.newQuestion(ratio, false), time.Hour, hasSingleValue(0.01))
	w.server.Stop()
	// A single error would end the check, and the server is down for longer than its timeout.
	task := w.newMeterTask(ratio, 3)
	task.Rules.ErrorLimit, task.Rules.Timeout, task.Outages = 0, 20*time.Second, gates.OutagePolicy{Timeout: patience.Limit}
	go func() {
		select {
		case <-time.After(25 * time.Second):
			_ = w.server.Start(t.Context())
		case <-t.Context().Done():
		}
	}()
	if got := w.judgeWithMeter(m, woken, task); got.Phase != v1alpha1.CheckPassed || got.Value != "0.01" {
		t.Errorf("after it came back: %+v", got)
	}
}
