package repository

import (
	"context"
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

// A standstill is a clock that stands still. It tells of each pause that begins.
type standstill struct {
	begun chan time.Duration
	// free are the pauses that end at once.
	free int
}

func (c *standstill) after(d time.Duration) <-chan time.Time {
	c.begun <- d
	out := make(chan time.Time, 1)
	if c.free > 0 {
		c.free--
		out <- time.Time{}
	}
	return out
}

// TestEnd ends a pool in the midst of a pause that would last for ever.
func TestEnd(t *testing.T) {
	cases := map[string]struct {
		reason string
		// free pauses come before.
		free int
		want bool
	}{
		"LostRace": {reason: "Who lost a race is told so, and does not come again", want: false},
		"Won":      {reason: "Who let others go first carries on", free: 1, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			c := &standstill{begun: make(chan time.Duration, 10), free: tc.free}
			p := pool(Options{After: c.after, Pause: func() time.Duration { return time.Hour }})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			stopped := make(chan error, 1)
			go func() { stopped <- p.Start(ctx) }()
			r := open(t, p, s)
			must(t, deliver(r, fiveFiles(1)))
			overtake(t, s)
			first := make(chan error, 1)
			go func() { first <- deliver(r, fiveFiles(2)) }()
			for range tc.free + 1 {
				await(t, c.begun)
			}
			stop()
			if err := await(t, first); (err == nil) != tc.want || err != nil && failure.ClassOf(err) != failure.ClassTransient {
				t.Errorf("\n%s\nDeliver(...): %v", tc.reason, err)
			}
			must(t, await(t, stopped))
			// Whoever comes now is not held up either: there are no pauses any more.
			if tc.want {
				must(t, deliver(r, fiveFiles(3)))
			}
			if n := len(c.begun); n != 0 {
				t.Errorf("\n%s\n%d more pauses began", tc.reason, n)
			}
		})
	}
}

// overtake lets a stranger push what nobody has seen.
func overtake(t *testing.T, s *gitserver.Server) {
	t.Helper()
	c, err := git.NewClient(git.Remote{URL: s.URL(repo), Branch: gitserver.Branch, StateRef: "refs/foreign/state"})
	must(t, err)
	defer c.Close()
	must(t, foreignPush(t, c, "theirs"))
}

func await[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing happens")
	}
	panic("unreachable")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
