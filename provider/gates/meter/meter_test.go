package meter

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
)

// A source is a measured subject, which counts its measurements.
type source struct {
	name string
	// takes is how long an answer takes.
	takes time.Duration
	mu    sync.Mutex
	value float64
	asked int
	// most is how many questions were under way at once, now or before.
	under, most int
}

func (s *source) Key(time.Duration) string { return s.name }

func (s *source) Ask(ctx context.Context, _ time.Duration) gates.Answer {
	s.mu.Lock()
	s.asked++
	s.under++
	s.most = max(s.most, s.under)
	v := s.value
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
	return gates.Answer{Values: []float64{v}, At: time.Now()}
}

func (s *source) say(v float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = v
}

func (s *source) count() (questions, underWay, highest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.under, s.most
}

func (s *source) times() int {
	questions, _, _ := s.count()
	return questions
}

func (s *source) busy() bool {
	_, underWay, _ := s.count()
	return underWay > 0
}

type atMost float64

func (a atMost) Holds(v float64) bool { return v <= float64(a) }

func key(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "team-a", Name: fmt.Sprint(i)}
}

// A bench is a Meter that runs.
type bench struct {
	*Meter

	woken  chan types.NamespacedName
	counts counts
}

// counts are the calls that an Observer received.
type counts struct {
	mu       sync.Mutex
	measured int
}

func (c *counts) Measured(string, string, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.measured++
}

func start(ctx context.Context) *bench {
	b := &bench{woken: make(chan types.NamespacedName, 1000)}
	b.Meter = New(time.Now, func(o types.NamespacedName) { b.woken <- o }, &b.counts)
	go func() { _ = b.Start(ctx) }()
	return b
}

func task(q Question, live time.Time) Task {
	return Task{
		ID: "e1/errors", Question: q, Host: "prometheus", LiveSince: live, Criteria: gates.Criteria{Limit: atMost(1)},
		Rules: gates.Rules{InitialDelay: time.Second, Interval: 5 * time.Second, Timeout: time.Minute, Count: 3, ErrorLimit: 1},
	}
}

// after some time, without anything that is still under way.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q"}
		for i := range 200 {
			b.Measure(key(i), "u", []Task{task(s, time.Now())})
			after(10 * time.Millisecond) // They are not made at the same time.
		}
		after(16 * time.Second)
		if s.times() > 4 {
			t.Errorf("200 Gates asked %d times", s.times())
		}
		if b.counts.measured < 600 {
			t.Errorf("%d measurements were told, want 600", b.counts.measured)
		}
		if n := len(b.woken); n != 200 {
			t.Errorf("%d of 200 were woken", n)
		}
		got := b.Measure(key(7), "u", []Task{task(s, time.Now().Add(-time.Hour))})
		if got[0].Phase != v1alpha1.CheckRunning {
			t.Errorf("another time of going live is another subject: %+v", got)
		}
	})
}

// TestRecent returns the last measurements of a check when it has ended, and no measurements before.
func TestRecent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q"}
		tk := task(s, time.Now())
		tk.Rules.Count, tk.Rules.Timeout = 20, time.Hour
		b.Measure(key(1), "u", []Task{tk})
		after(15*tk.Rules.Interval + time.Second)
		if got := b.Measure(key(1), "u", []Task{tk})[0]; got.Count < v1alpha1.MaxRecent || got.Recent != nil {
			t.Errorf("\nA check that is measured shows no measurements: each would be a write.\nMeasure(...): %+v", got)
		}
		s.say(7)
		after(2 * tk.Rules.Interval)
		got := b.Measure(key(1), "u", []Task{tk})[0].Recent
		var outcomes []string
		for i, m := range got {
			outcomes = append(outcomes, m.Outcome+" "+m.Value)
			if i > 0 && m.At.Sub(got[i-1].At.Time) != tk.Rules.Interval {
				t.Errorf("measurement %d came %s after the previous measurement", i, m.At.Sub(got[i-1].At.Time))
			}
		}
		want := append(slices.Repeat([]string{"Pass 0"}, v1alpha1.MaxRecent-1), "Fail 7")
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Errorf("\nA check that has ended shows its last measurements, the oldest first.\nMeasure(...): -want, +got:\n%s", diff)
		}
	})
}

// A broken question panics, as a question whose answer crashes a client library.
type broken struct{ *source }

func (broken) Ask(context.Context, time.Duration) gates.Answer { panic("boom") }

// TestPanicOfAQuestion measures a check whose question panics beside one of the same host.
func TestPanicOfAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, live := start(ctx), time.Now()
		bad, good := task(broken{&source{name: "bad"}}, live), task(&source{name: "good"}, live)
		b.Measure(key(1), "u", []Task{bad})
		b.Measure(key(2), "u", []Task{good})
		after(time.Minute)
		want := gates.Judgement{Phase: v1alpha1.CheckError, Message: "the measurement panicked: this is a bug of the provider, whose log has the stack"}
		got := b.Measure(key(1), "u", []Task{bad})[0]
		if diff := cmp.Diff(want, gates.Judgement{Phase: got.Phase, Message: got.Message}); diff != "" {
			t.Errorf("\nThe panic of a question is the error of its check.\nMeasure(...): -want, +got:\n%s", diff)
		}
		if got := b.Measure(key(2), "u", []Task{good})[0]; got.Phase != v1alpha1.CheckPassed {
			t.Errorf("\nThe other checks of a host are measured after a panic.\nMeasure(...): %+v", got)
		}
	})
}

// TestPanicOfAWake wakes owners in a way that panics.
func TestPanicOfAWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m, s := New(time.Now, func(types.NamespacedName) { panic("boom") }, nil), &source{name: "q"}
		go func() { _ = m.Start(ctx) }()
		tk := task(s, time.Now())
		m.Measure(key(1), "u", []Task{tk})
		after(time.Minute)
		if got := m.Measure(key(1), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckPassed {
			t.Errorf("\nA check ends although its owner cannot be woken.\nMeasure(...): %+v", got)
		}
	})
}

func TestFailureWakesWithinAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q"}
		tk := task(s, time.Now())
		tk.Rules.Count = 10
		b.Measure(key(1), "u", []Task{tk})
		after(11 * time.Second)
		if got := b.Measure(key(1), "u", []Task{tk})[0]; got.Phase != v1alpha1.CheckRunning || got.Count == 0 {
			t.Fatalf("it is measured: %+v", got)
		}
		s.say(7)
		begun := time.Now()
		<-b.woken
		if took := time.Since(begun); took > tk.Rules.Interval {
			t.Errorf("it took %s to see a failure", took)
		}
		want := gates.Judgement{Phase: v1alpha1.CheckFailed, Value: "7", Message: "the value is beyond the threshold", Count: 3}
		for range 2 {
			got := b.Measure(key(1), "u", []Task{tk})[0]
			got.Recent = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Measure(...): -want, +got:\n%s", diff)
			}
			s.say(0)
			after(time.Minute) // A check that ended is not measured again.
		}
	})
}

func TestOnlyWhatIsLiveCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q", takes: time.Second}
		live := time.Now()
		b.Measure(key(1), "u", []Task{task(s, live)})
		for !s.busy() {
			after(time.Second / 2)
		}
		// Its subject is lost while an answer is under way, and comes back before that.
		b.Measure(key(1), "u", []Task{task(s, time.Time{})})
		s.say(7)
		liveAgain := time.Now().Add(time.Second / 4)
		after(time.Second / 4)
		b.Measure(key(1), "u", []Task{task(s, liveAgain)})
		after(time.Second / 2)
		if got := b.Measure(key(1), "u", []Task{task(s, liveAgain)})[0]; got.Count != 0 || got.Phase != v1alpha1.CheckRunning {
			t.Errorf("an answer about something else counts: %+v", got)
		}
		b.Measure(key(1), "u", []Task{task(s, time.Time{})})
		questions := s.times()
		after(time.Hour)
		if s.times() != questions || len(b.woken) > 0 {
			t.Errorf("a subject that is not live was measured %d times, and woke %d", s.times()-questions, len(b.woken))
		}
	})
}

func TestTimeCountsOnlyWhileLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q", takes: 10 * time.Hour}
		tk := task(s, time.Now())
		tk.Lead = 20 * time.Second
		phase := func() v1alpha1.CheckPhase { return b.Measure(key(1), "u", []Task{tk})[0].Phase }
		phase()
		after(79 * time.Second) // The lead is no part of the minute.
		if got := phase(); got != v1alpha1.CheckRunning {
			t.Errorf("before the minute is over: %s", got)
		}
		tk.LiveSince = time.Time{}
		phase()
		after(time.Hour)
		if got := phase(); got != v1alpha1.CheckRunning {
			t.Errorf("an hour without a subject: %s", got)
		}
		tk.LiveSince = time.Now()
		phase()
		after(time.Second + tk.Rules.Interval) // The first measurement was up to an interval later than the lead.
		if got := phase(); got != v1alpha1.CheckTimedOut {
			t.Errorf("after the minute: %s", got)
		}
		select {
		case <-b.woken:
		default:
			t.Error("the owner is not woken")
		}
	})
}

// TestGridTakesNoTime has checks that just fit into their timeouts. Wherever the grid puts their first measurements, they come to an end.
func TestGridTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{}
		taskOf := func(i int, live time.Time) Task {
			tk := task(named{source: s, name: fmt.Sprint(i)}, live)
			tk.Rules = gates.Rules{InitialDelay: 30 * time.Second, Interval: 2 * time.Minute, Timeout: 5 * time.Minute, Count: 3}
			return tk
		}
		live := time.Now()
		for i := range 100 {
			b.Measure(key(i), "u", []Task{taskOf(i, live)})
		}
		after(7 * time.Minute)
		ends := map[v1alpha1.CheckPhase]int{}
		for i := range 100 {
			ends[b.Measure(key(i), "u", []Task{taskOf(i, live)})[0].Phase]++
		}
		if diff := cmp.Diff(map[v1alpha1.CheckPhase]int{v1alpha1.CheckPassed: 100}, ends); diff != "" {
			t.Errorf("a hundred subjects without a fault: -want, +got:\n%s", diff)
		}
	})
}

func TestLeadAndDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q"}
		tk := task(s, time.Now())
		tk.Lead = 30 * time.Second
		b.Measure(key(1), "u", []Task{tk})
		after(30*time.Second - 1)
		if s.times() > 0 {
			t.Error("it was asked about the time before the subject was live")
		}
		after(5 * time.Second)
		if s.times() != 1 {
			t.Errorf("it was asked %d times in the first interval", s.times())
		}
		// A subject that was live long before the meter began is measured at once.
		otherSource := &source{name: "r"}
		tk = task(otherSource, time.Now().Add(-time.Hour))
		b.Measure(key(2), "u", []Task{tk})
		after(5 * time.Second)
		if otherSource.times() != 1 {
			t.Errorf("it was asked %d times in the first interval", otherSource.times())
		}
	})
}

func TestServersAreNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{takes: time.Second}
		for i := range 100 {
			b.Measure(key(i), "u", []Task{task(named{source: s, name: fmt.Sprint(i)}, time.Now().Add(-time.Minute))})
		}
		after(30 * time.Second)
		if _, _, highest := s.count(); highest != maxPerHost {
			t.Errorf("at most %d questions were under way, want %d", highest, maxPerHost)
		}
	})
}

// named is the same source by another question.
type named struct {
	*source

	name string
}

func (n named) Key(time.Duration) string { return n.name }

func TestForgetGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q"}
		tk := task(s, time.Now())
		b.Measure(key(1), "u", []Task{tk})
		after(11 * time.Second)
		if got := b.Measure(key(1), "another", []Task{tk})[0]; got.Count != 0 {
			t.Errorf("a Gate inherits from one of its name: %+v", got)
		}
		b.Measure(key(1), "another", nil)
		questions := s.times()
		after(time.Minute)
		b.Forget(key(1))
		after(time.Minute)
		if s.times() != questions {
			t.Errorf("a question without a Gate was asked %d times", s.times()-questions)
		}
		if len(b.gates) > 0 {
			t.Errorf("%d Gates are remembered", len(b.gates))
		}
	})
}

func TestSlot(t *testing.T) {
	now := time.Unix(1790000000, 0)
	slots := []time.Time{}
	for range 100 {
		now = now.Add(97 * time.Millisecond)
		slot := nextQuestionSlot("q", 5*time.Second, now)
		if !slot.After(now) || slot.Sub(now) > 5*time.Second {
			t.Fatalf("slot(%s): %s", now, slot)
		}
		if !slices.Contains(slots, slot) {
			slots = append(slots, slot)
		}
	}
	if len(slots) > 3 {
		t.Errorf("there are %d slots in 10 s", len(slots))
	}
	if nextQuestionSlot("q", 5*time.Second, now).Equal(nextQuestionSlot("other", 5*time.Second, now)) {
		t.Error("all questions are asked at the same moment")
	}
}

// TestCancelledQuestionIsNotMeasured stops the Meter while a question is under way. The source answers when it is cancelled, with a value that
// would be measured otherwise: the shutdown of the provider says nothing about the subject of a check.
func TestCancelledQuestionIsNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &source{name: "q", takes: time.Hour}
		tk := task(s, time.Now())
		tk.Rules.Timeout = 2 * time.Hour
		b.Measure(key(1), "u", []Task{tk})
		after(time.Minute)
		if !s.busy() {
			t.Fatal("no question is under way")
		}
		cancel()
		synctest.Wait()
		if s.busy() {
			t.Fatal("the question was not cancelled")
		}
		if b.counts.measured != 0 {
			t.Errorf("a cancelled question counts as %d measurements", b.counts.measured)
		}
		if got := b.Measure(key(1), "u", []Task{tk})[0]; got.Count != 0 {
			t.Errorf("a cancelled question counts for the check: %+v", got)
		}
	})
}
