package webhook

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// A recordServer stands before the API server: it counts writes of records, and fails some.
type recordServer struct {
	writes, failures int
	// during is called in the next write. Nil is not.
	during func()
}

func (s *recordServer) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if s.failures > 0 {
		s.failures--
		return errors.New("connection refused")
	}
	s.writes++
	if err := c.Patch(ctx, o, p, opts...); err != nil || s.during == nil {
		return err
	}
	interruption := s.during
	s.during = nil
	interruption()
	return nil
}

// newReplicaOf returns a replica that writes through a server.
func (w *world) newReplicaOf(s *recordServer) *replica {
	w.Helper()
	return w.newReplica(interceptor.NewClient(w.kube, interceptor.Funcs{Patch: s.patch}))
}

// TestSpacingOfReplicas has a replica get a hook a moment after another replica recorded a hook of the same Application.
func TestSpacingOfReplicas(t *testing.T) {
	const gap = 300 * time.Millisecond
	cases := map[string]struct {
		reason string
		skew   time.Duration
		delays []time.Duration
		writes int
	}{
		"SameClock":   {reason: "The write waits until the spacing is over.", delays: []time.Duration{700 * time.Millisecond}},
		"LittleAhead": {reason: "A clock that is a little ahead shortens the wait.", skew: 200 * time.Millisecond, delays: []time.Duration{500 * time.Millisecond}},
		"Behind":      {reason: "A clock that is behind waits no longer than the spacing.", skew: -800 * time.Millisecond, delays: []time.Duration{time.Second}},
		"FarBehind":   {reason: "A time far in the future holds up no hook.", skew: -time.Hour, writes: 1},
		"FarAhead":    {reason: "A time long ago holds up no hook.", skew: time.Hour, writes: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hook(w.newReplica(w.kube))
			w.wait(gap)
			s := &recordServer{}
			r := w.newReplicaOf(s)
			r.clock.Now = func() time.Time { return w.clock.Add(tc.skew) }
			w.hook(r)
			if diff := cmp.Diff(tc.delays, r.delays); diff != "" || s.writes != tc.writes {
				t.Errorf("\n%s\nRecord(...): %d writes, delays: -want, +got:\n%s", tc.reason, s.writes, diff)
			}
			w.wait(2 * time.Second)
			r.runLater()
			if s.writes != 1 || len(r.late) != 0 {
				t.Errorf("\n%s\nThe hook is recorded once: %d writes", tc.reason, s.writes)
			}
		})
	}
}

// TestLateReplicas has a hook wait at two replicas: the second one to write waits for the spacing again.
func TestLateReplicas(t *testing.T) {
	w, s := newWorld(t), &recordServer{}
	w.hook(w.newReplica(w.kube))
	w.wait(time.Second / 2)
	replicas := []*replica{w.newReplicaOf(s), w.newReplicaOf(s)}
	for _, r := range replicas {
		w.hook(r)
	}
	for _, want := range []int{1, 2, 2} {
		w.wait(time.Second)
		for _, r := range replicas {
			r.runLater()
		}
		if s.writes != want {
			t.Errorf("Replicas share the spacing: %d writes, want %d", s.writes, want)
		}
	}
}

// TestLateRecord has a hook whose record is put off, and that is not lost.
func TestLateRecord(t *testing.T) {
	runs := func(_ *world, r *replica) { r.runLater() }
	flushes := func(w *world, r *replica) { r.Flush(w.Context()) }
	cases := map[string]struct {
		reason   string
		failures int
		act      func(*world, *replica)
		during   bool
		delays   []time.Duration
		writes   int
	}{
		"Written":    {reason: "A record that was put off is written once.", act: runs, writes: 1},
		"FailedOnce": {reason: "A write that failed is tried again.", failures: 1, act: runs, delays: []time.Duration{time.Second}, writes: 1},
		"FailedOften": {
			reason:   "Writes that fail again are tried less and less often.",
			failures: 3, act: runs, delays: []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, writes: 1,
		},
		"Meanwhile": {
			reason: "A hook that comes during the write is recorded by another write.",
			act:    runs, during: true, delays: []time.Duration{time.Second}, writes: 2,
		},
		"Flushed":     {reason: "A provider that ends writes its deferred records, each once.", act: flushes, writes: 1},
		"FlushFailed": {reason: "A provider that ends tries a failed write again.", failures: 1, act: flushes, writes: 1},
		"Deleted": {reason: "An ImageBuild that was deleted ends the attempts.", act: func(w *world, r *replica) {
			w.must(w.kube.Delete(w.Context(), w.get()))
			r.runLater()
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, s := newWorld(t), &recordServer{}
			r := w.newReplicaOf(s)
			w.hook(r)
			w.wait(time.Second / 2)
			w.hook(r)
			s.writes, s.failures = 0, tc.failures
			if tc.during {
				s.during = func() { w.hook(r) }
			}
			w.wait(time.Second)
			tc.act(w, r)
			for range 5 {
				w.wait(time.Minute)
				r.runLater()
			}
			if diff := cmp.Diff(append([]time.Duration{time.Second / 2}, tc.delays...), r.delays); diff != "" || s.writes != tc.writes || len(r.late) != 0 {
				t.Errorf("\n%s\n%d writes, %d Applications wait, delays: -want, +got:\n%s", tc.reason, s.writes, len(r.late), diff)
			}
		})
	}
}

// TestFailedRecord has a hook that the API server does not take at first.
func TestFailedRecord(t *testing.T) {
	w, s := newWorld(t), &recordServer{failures: 1}
	r := w.newReplicaOf(s)
	if err := r.Record(t.Context(), key()); err == nil {
		t.Error("A hook that cannot be recorded is an error")
	}
	w.hook(r)
	if s.writes != 1 || len(r.later) != 0 {
		t.Errorf("A hook that could not be recorded delays no later one: %d writes, %d wait", s.writes, len(r.later))
	}
}
