package live

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// A stage has the sample that a viewer sees.
type stage struct {
	shown *samples.Sample
	err   error
	looks int
}

func (s *stage) look(context.Context) (*cluster.Subjects, error) {
	s.looks++
	if s.err != nil {
		return nil, s.err
	}
	return &cluster.Subjects{Deployments: []*cause.Facts{s.shown.Facts()}}, nil
}

// drawings counts writes.
type drawings struct {
	strings.Builder

	n int
}

func (d *drawings) Write(b []byte) (int, error) {
	d.n++
	return d.Builder.Write(b)
}

// TestPlainWatch prints a line for each object that changed, and none for a change that it does not show.
func TestPlainWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, scenes := &drawings{}, &stage{shown: samples.Canary(false)}
		changed := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		v := &viewer{Streams: &terminal.Streams{Out: out, Now: samples.Now}, command: &Status{Name: "shop"}, look: scenes.look}
		ended := make(chan error)
		go func() { ended <- v.followChanges(ctx, changed) }()
		synctest.Wait()
		for _, next := range []*samples.Sample{samples.Canary(false), samples.RollingBack(), samples.RolledBack()} {
			scenes.shown = next
			changed <- struct{}{}
			time.Sleep(redrawInterval)
			synctest.Wait()
		}
		scenes.err = errors.New("the server is away")
		changed <- struct{}{}
		time.Sleep(redrawInterval)
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := `14:03:40 team-a/shop Delivering revision 7 sites 2/2 step 2/4 20%: The step is live, and pauses. This is step 2 of 4.
14:03:40 team-a/shop RollingBack revision 7 sites 1/2: Revision 7 was rejected: GateFailed. latency_p99 at edge2 is 812ms, not <= 500ms. Attempt 1 of 3 rolls back to revision 5. Syncing: Site edge1: Progressing: flux-system/fleet: reconciling
14:03:40 team-a/shop Succeeded/RolledBack revision 7 sites 2/2: Revision 7 was rejected: GateFailed. latency_p99 at edge2 is 812ms, not <= 500ms. The Sites run revision 5 again. To go on, change the intent, or deliver it again: kubectl intent retry shop -n team-a.
14:03:40 the server is away
`
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	})
}

// TestTerminalWatch draws at most five times in a second, whatever changes, and the last change always.
func TestTerminalWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, scenes := &drawings{}, &stage{shown: samples.Canary(false)}
		changed := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		v := &viewer{
			Streams: &terminal.Streams{Out: out, Now: func() time.Time { return samples.Now().Add(time.Since(began)) }, Screen: func() (int, int) { return 80, 24 }},
			command: &Status{Name: "shop"}, look: scenes.look,
		}
		ended := make(chan error)
		go func() { ended <- v.followChanges(ctx, changed) }()
		for range 1000 {
			select {
			case changed <- struct{}{}:
			default:
			}
			time.Sleep(time.Millisecond)
		}
		scenes.shown = samples.RolledBack()
		changed <- struct{}{}
		time.Sleep(redrawInterval)
		synctest.Wait()
		limit := int(time.Since(began)/redrawInterval) + 1
		if scenes.looks < 4 || scenes.looks > limit || out.n > limit {
			t.Errorf("1,000 changes in %s were looked at %d times, and drawn %d times, want at most %d", time.Since(began), scenes.looks, out.n, limit)
		}
		if text := out.String(); !strings.HasPrefix(text, terminal.EraseWhole+terminal.ToBegin) || !strings.Contains(text, "Succeeded/RolledBack") || !strings.HasSuffix(text, terminal.EraseRest) {
			t.Errorf("the terminal does not show the last change: %q", text)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestPauseAfter(t *testing.T) {
	cases := map[string]struct {
		reason string
		took   time.Duration
		want   time.Duration
	}{
		"Quick": {reason: "A drawing that takes little is followed by the interval.", took: time.Millisecond, want: 200 * time.Millisecond},
		"Slow":  {reason: "A drawing of many objects takes a fortieth of the time.", took: 20 * time.Millisecond, want: 800 * time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := redrawPause(tc.took, 200*time.Millisecond); got != tc.want {
				t.Errorf("\n%s\npauseAfter(%s): want %s, got %s", tc.reason, tc.took, tc.want, got)
			}
		})
	}
}
