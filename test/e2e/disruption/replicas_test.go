package disruption

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// strangersPerSecond is how fast a foreign pusher has to be, to be one that disturbs.
const strangersPerSecond = 5

// TestReplicas takes the active one of two replicas away while all deliver and a stranger pushes as fast as they can.
func TestReplicas(t *testing.T) {
	cases := map[string]struct {
		reason string
		lose   func(t *testing.T) (end func())
	}{
		"Killed": {
			reason: "The second one goes on where the first one died.",
			lose:   func(*testing.T) func() { cp.KillProvider(); return func() {} },
		},
		"Frozen": {
			reason: "One that wakes up too late, in the middle of what it did, writes nothing any more.",
			lose:   frozen,
		},
	}
	each, writers := soak.Rounds(t, 3, 50), 20
	if !soak.Long() {
		delete(cases, "Frozen")
		writers = 8
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			args := controlplane.Program{Args: []string{"--leader-election", "--leader-lease=5s"}}
			cp.KillProvider()
			startProvider(t, args.Args...)
			if err := cp.StartStandby(t.Context(), args); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				cp.KillProvider()
				cp.KillStandby()
				if err := cp.StartProvider(context.WithoutCancel(t.Context()), controlplane.Program{}); err != nil {
					t.Error(err)
				}
			})
			t.Log(tc.reason)
			f := newFleet(scene.New(t, cp, "edge1"), writers)
			f.race(int64(each), func() func() { return tc.lose(t) })
			f.once()
		})
	}
}

// frozen stops the provider, and returns what lets it go on.
func frozen(t *testing.T) func() {
	t.Helper()
	pid := cp.ProviderPID()
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(pid, s); err != nil {
			t.Error(err)
		}
	}
	signal(syscall.SIGSTOP)
	return func() {
		ended := make(chan error, 1)
		go func() { ended <- cp.AwaitProviderEnd(t.Context()) }()
		signal(syscall.SIGCONT)
		if err := <-ended; err != nil {
			t.Errorf("who lost the lease should end: %v", err)
		}
	}
}

// race lets all deliver while a stranger pushes, and takes the active provider away in the middle.
func (f *fleet) race(each int64, lose func() func()) {
	f.T.Helper()
	stop, stopped := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(stopped)
		f.strangers(stop)
	}()
	f.deliver(each / 3)
	f.advance() // Somebody is always at work.
	end := lose()
	f.deliver(each)
	end()
	close(stop)
	<-stopped
	took := time.Since(began).Seconds()
	rate := float64(len(f.theirs)) / took
	f.T.Logf("soak %s: ours %.1f/s, theirs %.1f/s", f.T.Name(), float64(int64(len(f.ordered))*each)/took, rate)
	if rate < strangersPerSecond {
		f.T.Errorf("the stranger should push %d times per second, not %.1f", strangersPerSecond, rate)
	}
}

// pace of strangers in the short form. Under make soak they push as often as they can.
const pace = 100 * time.Millisecond

// strangers push over the network until they are stopped.
func (f *fleet) strangers(stop <-chan struct{}) {
	c, err := git.NewClient(git.Remote{URL: f.Git.URL(f.Namespace), Branch: "main", StateRef: "refs/foreign/state"})
	if err != nil {
		f.T.Error(err)
		return
	}
	defer c.Close()
	next := time.NewTicker(pace)
	if soak.Long() {
		next.Reset(time.Nanosecond)
	}
	defer next.Stop()
	for f.T.Context().Err() == nil {
		select {
		case <-stop:
			return
		case <-next.C:
		}
		message := fmt.Sprintf("Theirs %d", len(f.theirs))
		switch err := pushOne(f.T.Context(), c, fmt.Sprintf("theirs/%d", len(f.theirs)), message); {
		case err == nil:
			f.theirs[message] = 1
		case !git.IsConflict(err): // Who comes too late comes again.
			f.T.Errorf("a stranger cannot push: %v", err)
			return
		}
	}
}

func pushOne(ctx context.Context, c *git.Client, dir, message string) error {
	seen, err := c.Look(ctx, nil)
	if err != nil {
		return err
	}
	p, err := git.Plan(seen, git.Change{
		Put:     map[string]map[string][]byte{dir: {"file": []byte("theirs\n")}},
		Message: message, Author: git.Author{Name: "A Stranger", Email: "stranger@example.org"}, When: time.Unix(1, 0),
	})
	if err != nil {
		return err
	}
	_, err = c.Push(ctx, p)
	return err
}

// deliver until each delivery is at a revision.
func (f *fleet) deliver(revision int64) {
	f.T.Helper()
	f.Until("all revisions carried out", scene.Patience+time.Duration(revision)*10*time.Second, func() bool {
		busy := false
		for _, d := range f.Deliveries() {
			name := d.GetName()
			behind := f.ordered[name] < revision
			busy = busy || behind || !f.delivered(&d)
			if behind && f.delivered(&d) {
				f.order(name)
			}
		}
		return !busy
	})
}

// advance orders the next revision of all.
func (f *fleet) advance() {
	f.T.Helper()
	for name := range f.ordered {
		f.order(name)
	}
}
