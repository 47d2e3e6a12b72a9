package meter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

// A backend is a source that can be down. It records for how long the subject had been live in its last question.
type backend struct {
	source

	down bool
	live time.Duration
}

func (b *backend) Ask(ctx context.Context, live time.Duration) gates.Answer {
	a := b.source.Ask(ctx, live)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live = live
	if b.down {
		return gates.Answer{Problem: "silence", Unavailable: true}
	}
	return a
}

func (b *backend) stop(down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

// slow lets each later answer take so long.
func (b *backend) slow(takes time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takes = takes
}

// outageTask is a check that one error ends, with a query whose window is 20 seconds long.
func outageTask(b *backend, live time.Time, p gates.OutagePolicy) Task {
	t := task(b, live)
	t.Rules.ErrorLimit, t.Rules.Timeout, t.Lead, t.Outages = 0, 20*time.Second, 20*time.Second, p
	return t
}

// TestOutageIsNoVerdict stops the backend of a check that has been measured once, for far longer than the check may take.
func TestOutageIsNoVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, down := start(ctx), &backend{source: source{name: "q"}}
		begun, tk := time.Now(), outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 30 * time.Minute})
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		for judge(); down.times() == 0; {
			after(time.Second)
		}
		down.stop(true)
		<-b.woken
		got := judge()
		if took := time.Since(begun); got.Availability != gates.Unavailable || took > 50*time.Second {
			t.Errorf("the outage is reported after %s: %+v", took, got)
		}
		after(25 * time.Minute)
		want := gates.Judgement{
			Phase: v1alpha1.CheckRunning, Value: "0", Count: 1, Availability: gates.Unavailable, UnavailableSince: got.UnavailableSince, Message: "silence",
		}
		if diff := cmp.Diff(want, judge()); diff != "" {
			t.Errorf("during the outage: -want, +got:\n%s", diff)
		}
		if n := down.times(); n < 26 || n > 32 {
			t.Errorf("the backend was asked %d times in 25 minutes, want about once a minute", n)
		}
		down.stop(false)
		<-b.woken
		back := time.Now()
		if got := judge(); got.Phase != v1alpha1.CheckRunning || got.Availability != gates.Available || got.Count != 1 {
			t.Errorf("the backend answers again: %+v", got)
		}
		<-b.woken
		if got := judge(); got.Phase != v1alpha1.CheckPassed || got.Count != 3 {
			t.Errorf("after the outage: %+v", got)
		}
		// A window of 20 seconds, and two measurements five seconds apart.
		if took := time.Since(back); took < 20*time.Second || took > 40*time.Second || down.live > took {
			t.Errorf("it took %s after the outage, and the subject counted as live for %s", took, down.live)
		}
	})
}

// TestOutageThatLasts lets each policy decide about a backend that does not come back within the timeout.
func TestOutageThatLasts(t *testing.T) {
	cases := map[string]struct {
		reason string
		reject bool
		want   gates.Judgement
	}{
		"Hold": {reason: "Hold keeps the check running.", want: gates.Judgement{Phase: v1alpha1.CheckRunning, Availability: gates.Held, Message: "silence"}},
		"Reject": {
			reason: "Reject ends the check with an error.",
			reject: true,
			want: gates.Judgement{
				Phase: v1alpha1.CheckError, Message: "the metrics backend was unavailable for longer than metricsUnavailableTimeout: silence",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				b, down := start(ctx), &backend{source: source{name: "q"}, down: true}
				tk := outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 5 * time.Minute, Reject: tc.reject})
				judge := func() gates.Judgement {
					got := b.Measure(key(1), "u", []Task{tk})[0]
					got.UnavailableSince = time.Time{}
					return got
				}
				judge()
				<-b.woken
				reported := time.Now()
				if got := judge(); got.Availability != gates.Unavailable {
					t.Errorf("%s\nwhen the outage begins: %+v", tc.reason, got)
				}
				<-b.woken
				if took := time.Since(reported).Round(time.Second); took != 5*time.Minute-10*time.Second {
					t.Errorf("%s\nit was decided %s after the outage was reported", tc.reason, took)
				}
				got := judge()
				got.Recent = nil
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s\nafter the timeout: -want, +got:\n%s", tc.reason, diff)
				}
				down.stop(false)
				after(5 * time.Minute)
				if passes := judge().Phase == v1alpha1.CheckPassed; passes == tc.reject {
					t.Errorf("%s\nafter the backend came back: %+v", tc.reason, judge())
				}
			})
		})
	}
}

// TestAnswerAfterTheOutageWasTooLong gives a good answer to a question that was under way when metricsUnavailableTimeout expired, before the
// owner looks at the check.
func TestAnswerAfterTheOutageWasTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, down := start(ctx), &backend{source: source{name: "q"}, down: true}
		tk := outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 5 * time.Minute, Reject: true})
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		judge()
		<-b.woken
		judge()
		after(3*time.Minute + 30*time.Second)
		down.slow(3 * time.Minute)
		<-b.woken
		if !down.busy() {
			t.Fatal("no question is under way when the outage has lasted too long")
		}
		down.stop(false)
		for down.busy() {
			after(time.Second)
		}
		down.slow(0)
		if got := judge(); got.Phase != v1alpha1.CheckRunning || got.Availability != gates.Available {
			t.Errorf("after the answer: %+v", got)
		}
		questions := down.times()
		after(2 * time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckPassed {
			t.Errorf("two minutes and %d questions after the answer: %+v", down.times()-questions, got)
		}
	})
}

// TestOutageOutlivesTheMeter begins with an outage that an earlier process saw.
func TestOutageOutlivesTheMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, down := start(ctx), &backend{source: source{name: "q"}, down: true}
		tk := outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 5 * time.Minute, Reject: true})
		tk.UnavailableSince = time.Now().Add(-4*time.Minute - 50*time.Second)
		begun := time.Now()
		for !b.Measure(key(1), "u", []Task{tk})[0].Ended() {
			<-b.woken
		}
		got := b.Measure(key(1), "u", []Task{tk})[0]
		if took := time.Since(begun); got.Phase != v1alpha1.CheckError || down.times() != 2 || took > time.Minute {
			t.Errorf("after the fifth minute of the outage, %s and %d questions later: %+v", took, down.times(), got)
		}
	})
}

// TestShortOutageIsNotReported drops one question.
func TestShortOutageIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, down := start(ctx), &backend{source: source{name: "q"}, down: true}
		tk := outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 5 * time.Minute})
		b.Measure(key(1), "u", []Task{tk})
		for down.times() == 0 {
			after(time.Second)
		}
		down.stop(false)
		<-b.woken
		if got := b.Measure(key(1), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckPassed {
			t.Errorf("the owner is woken before the check has ended: %+v", got)
		}
	})
}

// TestLostQuestion drops one question in the middle of a check whose query has a long window.
func TestLostQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, down := start(ctx), &backend{source: source{name: "q"}}
		tk := outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 5 * time.Minute})
		tk.Lead = 10 * time.Minute
		b.Measure(key(1), "u", []Task{tk})
		for down.times() == 0 {
			after(time.Second)
		}
		first := time.Now()
		down.stop(true)
		for down.times() < 2 {
			after(time.Second)
		}
		down.stop(false)
		<-b.woken
		if got := b.Measure(key(1), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckPassed || got.Count != 3 {
			t.Errorf("after a lost question: %+v", got)
		}
		// The first measurement, the lost question, and two more, each at most five seconds after the previous question.
		if took, questions := time.Since(first), down.times(); took > 20*time.Second || questions != 4 {
			t.Errorf("the check passed %s after its first measurement, with %d questions", took, questions)
		}
	})
}

// TestLostQuestionAfterARestart drops the first question of a process, after an earlier one saw a long outage.
func TestLostQuestionAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, down := start(ctx), &backend{source: source{name: "q"}, down: true}
		tk := outageTask(down, time.Now(), gates.OutagePolicy{Timeout: 5 * time.Minute, Reject: true})
		tk.UnavailableSince = time.Now().Add(-time.Hour)
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		for judge(); down.times() == 0; {
			after(time.Second)
		}
		down.stop(false)
		if got := judge(); got.Phase != v1alpha1.CheckRunning || got.Availability != gates.Unavailable || !got.UnavailableSince.Equal(tk.UnavailableSince) {
			t.Errorf("after one question without an answer: %+v", got)
		}
		after(2 * time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckPassed {
			t.Errorf("after the backend answered: %+v", got)
		}
	})
}

// TestOutageKeepsItsMessage has a server answer with the number of each request, which would be another message each time.
func TestOutageKeepsItsMessage(t *testing.T) {
	now := time.Now()
	r := &run{task: outageTask(&backend{source: source{name: "q"}}, now, gates.OutagePolicy{Timeout: time.Hour})}
	want := []string{"status 503: request 1234567", "status 503: request 1234567", "status 502"}
	got := []string{}
	for _, problem := range []string{"status 503: request 1234567", "status 503: request 7654321", "status 502"} {
		m := r.recordOutage(gates.Answer{Problem: problem, Unavailable: true}, now, now)
		got = append(got, m.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" || r.outage.Questions != len(want) {
		t.Errorf("\nA message stays that differs in the number of a request alone.\ntakeOutage(...): %d questions, -want, +got:\n%s", r.outage.Questions, diff)
	}
}

// A frozenBackend is a backend behind a cache that returns one answer while it is frozen.
type frozenBackend struct {
	backend

	kept *gates.Answer
}

func (f *frozenBackend) Ask(ctx context.Context, live time.Duration) gates.Answer {
	a := f.backend.Ask(ctx, live)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept != nil {
		return *f.kept
	}
	return a
}

// freeze lets each later answer be an earlier one, or thaws the cache without an answer.
func (f *frozenBackend) freeze(kept *gates.Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = kept
}

// TestCacheIsNoVerdict has a cache return one result for longer than a check may take. The result says nothing about the revision.
func TestCacheIsNoVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, frozen := start(ctx), &frozenBackend{backend: backend{source: source{name: "q"}}}
		tk := outageTask(&frozen.backend, time.Now(), gates.OutagePolicy{Timeout: 30 * time.Minute})
		tk.Question = frozen
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		for judge(); frozen.times() == 0; {
			after(time.Second)
		}
		frozen.freeze(&gates.Answer{Values: []float64{9}, At: time.Now().Add(-time.Minute)})
		after(10 * time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckRunning || got.Availability != gates.Unavailable || got.Count != 1 {
			t.Errorf("A cached result is an outage of the backend: %+v", got)
		}
		frozen.freeze(nil)
		after(5 * time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckPassed {
			t.Errorf("After the cache the check passes: %+v", got)
		}
	})
}
