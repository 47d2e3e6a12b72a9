package readiness

import (
	"testing"
	"time"
)

// TestSteadyReadiness plays a story: each line has the observed state, its seconds after the previous line, and whether it counts as ready
// then.
func TestSteadyReadiness(t *testing.T) {
	type seen struct {
		after int
		is    bool
		want  bool
		due   int // seconds until it will count, or -1.
	}
	cases := map[string]struct {
		reason string
		story  []seen
	}{
		"Stable": {
			reason: "A Cluster counts as ready once it was ready for ten seconds.",
			story:  []seen{{0, true, false, 10}, {9, true, false, 1}, {1, true, true, -1}},
		},
		"Interrupted": {
			reason: "An interruption begins the ten seconds again.",
			story:  []seen{{0, true, false, 10}, {9, false, false, -1}, {1, true, false, 10}, {9, true, false, 1}, {1, true, true, -1}},
		},
		"Lost": {
			reason: "A lost Cluster is not ready at once, and each loss doubles the time after that.",
			story: []seen{
				{0, true, false, 10},
				{10, true, true, -1},
				{5, false, false, -1},
				{1, true, false, 20},
				{20, true, true, -1},
				{1, false, false, -1},
				{1, true, false, 40},
			},
		},
		"Bounded": {reason: "No Cluster has to be ready for longer than ten minutes.", story: func() []seen {
			var out []seen
			for range 12 {
				out = append(out, seen{1, true, false, 0}, seen{600, true, true, -1}, seen{1, false, false, -1})
			}
			for i := range out {
				out[i].due = -2
			}
			return append(out, seen{1, true, false, 600})
		}()},
		"Forgiven": {
			reason: "Earlier losses are forgotten once the Cluster was ready for ten minutes.",
			story: []seen{
				{0, true, false, 10},
				{10, true, true, -1},
				{1, false, false, -1},
				{1, true, false, 20},
				{20, true, true, -1},
				{580, true, true, -1},
				{1, false, false, -1},
				{1, true, false, 20},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, now := Steady{}, noon()
			for i, line := range tc.story {
				now = now.Add(time.Duration(line.after) * time.Second)
				s = s.See("uid-1", line.is, now, Stabilization)
				due := -1
				if d := s.Due(Stabilization); !d.IsZero() {
					due = int(d.Sub(now) / time.Second)
				}
				if s.Ready != line.want || line.due != -2 && due != line.due {
					t.Fatalf("\n%s\nline %d: want %t, due in %d s, got %t, %d s", tc.reason, i, line.want, line.due, s.Ready, due)
				}
			}
			if s = s.See("uid-2", true, now, Stabilization); s.Ready || s.Due(Stabilization) != now.Add(Stabilization) {
				t.Errorf("\n%s\nanother Cluster starts without losses: %+v", tc.reason, s)
			}
		})
	}
}

// TestObserve keeps the losses of an unreachable Cluster, and forgets the losses of a missing Cluster.
func TestObserve(t *testing.T) {
	cases := map[string]struct {
		reason string
		gap    string
		want   time.Duration
	}{
		"Unreachable": {reason: "An unreachable Cluster stays the same Cluster, and lost its readiness twice.", gap: ReasonUnreachable, want: 4 * Stabilization},
		"Gone":        {reason: "A Cluster that replaces a deleted Cluster starts without its losses.", gap: ReasonObjectMissing, want: Stabilization},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			present := Read(good(V1Beta2, V1Beta2))
			gap := Read(Input{Cluster: Lacks(Subject{Kind: "Cluster", Name: "c1"}, tc.gap)})
			now := noon()
			s := Trusted(present.UID, now.Add(-time.Minute)).Observe(present, true, now, Stabilization)
			if !s.Ready || !s.Since.Equal(now.Add(-time.Minute)) {
				t.Fatalf("\n%s\nthe recorded state does not count: %+v", tc.reason, s)
			}
			s = s.Observe(present, false, now, Stabilization).Observe(present, true, now, Stabilization)
			now = now.Add(2 * Stabilization)
			s = s.Observe(present, true, now, Stabilization).Observe(gap, false, now, Stabilization).Observe(present, true, now, Stabilization)
			if got := s.Due(Stabilization).Sub(now); got != tc.want {
				t.Errorf("\n%s\nit counts as ready after: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}
