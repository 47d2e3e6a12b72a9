package budget

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// endless is an answer that gets large, and then comes slowly, until it is closed.
type endless struct {
	left   io.Reader
	large  chan struct{}
	closed chan struct{}
}

func newEndless() *endless {
	return &endless{left: io.LimitReader(zeros{}, modestBytes), large: make(chan struct{}), closed: make(chan struct{})}
}

// Read sends the modest part at once, and then a byte now and then.
func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.left.Read(p); err == nil {
		return n, nil
	}
	select {
	case <-e.large:
	default:
		close(e.large)
	}
	select {
	case <-e.closed:
		return 0, io.ErrClosedPipe
	case <-time.After(time.Millisecond):
		p[0] = 0
		return 1, nil
	}
}

// Close ends the answer.
func (e *endless) Close() error {
	close(e.closed)
	return nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestSlowLargeAnswerIsGivenUp(t *testing.T) {
	b := New()
	b.lane.patience = time.Millisecond
	slow, read := newEndless(), make(chan error, 1)
	go func() {
		s := Share{budget: b.ForNamespace("hostile"), giveUp: slow.Close}
		defer s.Release()
		_, err := s.Read(context.Background(), slow)
		read <- err
	}()
	<-slow.large
	good := Share{budget: b.ForNamespace("team-a")}
	defer good.Release()
	if err := good.Grow(t.Context(), modestBytes+1); err != nil {
		t.Errorf("Another namespace has its turn when the slow answer is given up.\ngrow(...): %v", err)
	}
	if err := <-read; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("A slow large answer ends while another namespace waits.\nread(...): want %v, got %v", context.DeadlineExceeded, err)
	}
}

func TestLargeAnswerIsReadWhileNobodyWaits(t *testing.T) {
	b := New()
	b.lane.patience = time.Nanosecond
	s := Share{budget: b, giveUp: func() error { return errors.New("given up") }}
	defer s.Release()
	want := strings.Repeat("0", modestBytes+1)
	read, err := s.Read(t.Context(), strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(read); err != nil || string(got) != want {
		t.Errorf("A large answer is read to its end while no other namespace waits.\nread(...): %d bytes, %v", len(got), err)
	}
}

// A pacedAnswer brings the modest part at once, and the rest at a rate, until it is closed.
type pacedAnswer struct {
	modest    io.Reader
	rest      int
	perSecond int
	// ready are bytes that came and were not read yet.
	ready  int
	closed atomic.Bool
}

// Read returns the bytes that came, and waits for a tenth of a second if they were read.
func (a *pacedAnswer) Read(p []byte) (int, error) {
	if n, err := a.modest.Read(p); err == nil {
		return n, nil
	}
	if a.ready == 0 {
		<-time.After(time.Second / 10)
		a.ready = min(a.rest, a.perSecond/10)
	}
	switch {
	case a.closed.Load():
		return 0, io.ErrClosedPipe
	case a.rest == 0:
		return 0, io.EOF
	}
	n := min(len(p), a.ready)
	a.rest -= n
	a.ready -= n
	clear(p[:n])
	return n, nil
}

// Close ends the answer.
func (a *pacedAnswer) Close() error {
	a.closed.Store(true)
	return nil
}

// fetchUntilDone reads an answer as often as it is given up, and returns how often that was. It stops after ten times.
func fetchUntilDone(ctx context.Context, b *Budget, rest, perSecond int) (int, error) {
	for gaveUp := 0; ; gaveUp++ {
		a := &pacedAnswer{modest: io.LimitReader(zeros{}, modestBytes), rest: rest, perSecond: perSecond}
		s := Share{budget: b, giveUp: a.Close}
		_, err := s.Read(ctx, a)
		s.Release()
		if !errors.Is(err, context.DeadlineExceeded) || gaveUp == 10 {
			return gaveUp, err
		}
		<-time.After(time.Second)
	}
}

func TestLargeAnswersOfManyNamespacesArrive(t *testing.T) {
	cases := map[string]struct {
		reason string
		// rest is the number of bytes after the modest part.
		rest, perSecond int
		// most is how often one answer may be given up.
		most int
	}{
		"AtRate": {
			reason: "A large answer that comes at a reasonable rate keeps its turn while other namespaces wait.",
			rest:   16 << 20, perSecond: minLargeRate + 100<<10, most: 0,
		},
		"Slow": {
			reason: "A large answer that gave its turn up because it came slowly arrives in the next turn.",
			rest:   15 << 20, perSecond: minLargeRate / 2, most: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New()
				type outcome struct {
					gaveUp int
					err    error
				}
				outcomes := make(chan outcome)
				for _, namespace := range []string{"team-a", "team-b", "team-c", "team-d", "team-e"} {
					go func() {
						gaveUp, err := fetchUntilDone(t.Context(), b.ForNamespace(namespace), tc.rest, tc.perSecond)
						outcomes <- outcome{gaveUp: gaveUp, err: err}
					}()
				}
				for range 5 {
					if o := <-outcomes; o.err != nil || o.gaveUp > tc.most {
						t.Errorf("%s\nread(...): given up %d times, then %v; want at most %d times, and no error", tc.reason, o.gaveUp, o.err, tc.most)
					}
				}
			})
		})
	}
}

func TestLastingTurnIsUsedOnce(t *testing.T) {
	l := New().lane
	got := []bool{l.keepsLargeLane("hostile"), l.keepsLargeLane("team-a"), l.keepsLargeLane("hostile"), l.keepsLargeLane("hostile"), l.keepsLargeLane("hostile")}
	if diff := cmp.Diff([]bool{false, false, true, false, true}, got); diff != "" {
		t.Errorf("A namespace whose answers are always slow keeps the lane every other time only.\nkeepsLane(...): -want, +got:\n%s", diff)
	}
}

func TestBudget(t *testing.T) {
	b := New()
	modest, first, second := &Share{budget: b}, &Share{budget: b}, &Share{budget: b}
	defer second.Release()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := first.Grow(context.Background(), modestBytes+1); err != nil {
		t.Fatal(err)
	}
	if err := second.Grow(ended, modestBytes+1); err == nil {
		t.Error("\nOnly one large answer is read at a time\ngrow(): no error")
	}
	if err := modest.Grow(ended, modestBytes); err != nil {
		t.Errorf("\nModest answers do not wait\ngrow(): %v", err)
	}
	first.Release()
	if err := second.Grow(context.Background(), modestBytes+1); err != nil {
		t.Errorf("\nThe next large answer has its turn\ngrow(): %v", err)
	}
}
