package meter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/shares"
)

// TestNextChangeOfWatched is of a check that has its count and is measured on: its timeout is over, and must not be due all the time.
func TestNextChangeOfWatched(t *testing.T) {
	now := time.Unix(10_000, 0)
	watched := run{
		since: now.Add(-time.Hour), due: now.Add(time.Second),
		task:  Task{Question: &source{}, Rules: gates.Rules{Count: 1, Interval: time.Second, Timeout: time.Minute, GoesOn: true}, LiveSince: now.Add(-time.Hour)},
		tally: gates.Tally{}.Add(gates.Measurement{Outcome: gates.Pass, At: now.Add(-time.Minute)}),
	}
	if got := watched.nextRunChange(now); !got.Equal(now.Add(time.Second)) {
		t.Errorf("A check that is watched is looked at when it is measured next.\nnextChange(): want %s, got %s", now.Add(time.Second), got)
	}
	watched.asking = true
	if got := watched.nextRunChange(now); !got.IsZero() {
		t.Errorf("A check that is watched is not looked at before its answer came.\nnextChange(): want a zero time, got %s", got)
	}
}

// An idleService is a source that has no data until it is used, and a backend that can be down.
type idleService struct {
	backend

	used bool
}

func (s *idleService) Ask(ctx context.Context, live time.Duration) gates.Answer {
	a := s.backend.Ask(ctx, live)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.used && !a.Unavailable {
		return gates.Answer{}
	}
	return a
}

func (s *idleService) use(used bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = used
}

// dryTask is a check that waits for data, and may take 20 seconds.
func dryTask(s *idleService) Task {
	t := task(s, time.Now())
	t.Criteria.NoData, t.Rules.Timeout, t.Outages = "Wait", 20*time.Second, gates.OutagePolicy{Timeout: 30 * time.Minute}
	return t
}

// TestCheckWaitsForData measures a service that has no requests for far longer than the check may take, has some once, and none again.
func TestCheckWaitsForData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &idleService{backend: backend{source: source{name: "q"}}}
		tk := dryTask(s)
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		judge()
		<-b.woken
		want := gates.Judgement{Phase: v1alpha1.CheckRunning, Availability: gates.WithoutData, Message: judge().Message}
		after(time.Hour)
		if diff := cmp.Diff(want, judge()); diff != "" || want.Message == "" {
			t.Errorf("A service without requests is not judged: -want, +got:\n%s", diff)
		}
		if n := len(b.woken); n != 0 {
			t.Errorf("The owner is woken once when data are missing, and not %d times more", n)
		}
		if n := s.times(); n < 700 {
			t.Errorf("A check without data goes on: measured %d times in an hour, want once in 5 seconds", n)
		}
		s.use(true)
		<-b.woken
		s.use(false)
		if got := judge(); got.Count != 1 || got.Availability != gates.Available {
			t.Errorf("The first data count: %+v", got)
		}
		after(time.Hour)
		s.use(true)
		for got := judge(); got.Phase != v1alpha1.CheckPassed; got = judge() {
			if got.Ended() {
				t.Fatalf("The time without data does not count against the timeout: %+v", got)
			}
			after(time.Second)
		}
	})
}

// TestClockGoesOnWithData lets a check that has waited for data run out of its time.
func TestClockGoesOnWithData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &idleService{backend: backend{source: source{name: "q"}}}
		tk := dryTask(s)
		tk.Rules.Count = 100
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		judge()
		after(time.Hour)
		s.use(true)
		after(15 * time.Second)
		if got := judge(); got.Ended() {
			t.Errorf("The time without data counts against the timeout: %+v", got)
		}
		after(15 * time.Second)
		if got := judge(); got.Phase != v1alpha1.CheckTimedOut {
			t.Errorf("The time with data counts against the timeout: %+v", got)
		}
	})
}

// TestOutageWithoutData stops the backend of a check that waits for data.
func TestOutageWithoutData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b, s := start(ctx), &idleService{backend: backend{source: source{name: "q"}}}
		tk := dryTask(s)
		judge := func() gates.Judgement { return b.Measure(key(1), "u", []Task{tk})[0] }
		judge()
		after(10 * time.Minute)
		s.stop(true)
		after(10 * time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckRunning || got.Availability != gates.Unavailable {
			t.Errorf("An outage is reported before a lack of data: %+v", got)
		}
		s.stop(false)
		after(10 * time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckRunning || got.Availability != gates.WithoutData {
			t.Errorf("After the outage the check waits for data again: %+v", got)
		}
		s.use(true)
		after(time.Minute)
		if got := judge(); got.Phase != v1alpha1.CheckPassed {
			t.Errorf("Neither an outage nor a lack of data counts against the timeout: %+v", got)
		}
	})
}

// TestPayerAsksItsOwnQuestion has two namespaces with equal questions, each with a client of its own.
func TestPayerAsksItsOwnQuestion(t *testing.T) {
	owned := func(namespace string) member {
		r := &run{owner: types.NamespacedName{Namespace: namespace, Name: "gate"}}
		return member{run: r, question: named{name: namespace}}
	}
	g := &group{members: []member{owned("team-a"), owned("team-b")}, question: named{name: "team-a"}}
	g.occupyPlace(shares.Place{Host: "prometheus", Namespace: "team-b"})
	if diff := cmp.Diff("team-b", g.question.Key(0)); diff != "" {
		t.Errorf("\nThe namespace that has the turn pays for the answer.\noccupy(...): question -want, +got:\n%s", diff)
	}
}
