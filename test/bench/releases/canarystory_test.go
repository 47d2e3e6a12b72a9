package releases

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// TestKeepingWorst plays stories after an earlier story that had a greater value.
func TestKeepingWorst(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   map[string]float64
	}{
		"Ends":  {reason: "The worst round of a story counts, and no round of another story.", want: map[string]float64{"lag": 3}},
		"Fails": {reason: "A story that ended early has no worst round yet.", err: errors.New("broken"), want: map[string]float64{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &canary{worst: map[string]float64{"lag": 9}}
			got := map[string]float64{}
			err := c.keepingWorst(func(context.Context) error {
				c.recordWorst("lag", 3)
				c.recordWorst("lag", 2)
				return tc.err
			})(t.Context(), got)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err == nil) != (tc.err == nil) {
				t.Errorf("\n%s\nkeepingWorst(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestFailedRequests measures the failed requests of all stories with stories of one figure each, and without clusters.
func TestFailedRequests(t *testing.T) {
	c := &canary{failed: 2}
	s := c.figureSeries()
	s.Base = nil
	for i := range s.Parts[:len(c.canaryParts())] {
		s.Parts[i].Measure = func(_ context.Context, figures map[string]float64) error {
			figures[s.Parts[i].Figures[0]] = 1
			return nil
		}
	}
	if got, err := s.Value(t.Context(), "failed"); err != nil || got != 2 {
		t.Errorf("The worst count of all stories counts: want 2, got %v, %v", got, err)
	}
	s = c.figureSeries()
	s.Base = func(context.Context, map[string]float64) error { return errors.New("no cluster") }
	if got, err := s.Value(t.Context(), "failed"); err == nil {
		t.Errorf("Without stories no request could fail: want an error, got %v", got)
	}
}

func TestRestAfter(t *testing.T) {
	cases := map[string]struct {
		reason string
		tokens float64
		want   time.Duration
	}{
		"Some": {reason: "The breaker gets one token each second.", tokens: 41, want: 41 * time.Second},
		"Many": {reason: "The breaker has a hundred tokens at most.", tokens: 300, want: 100 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := breakerRestAfter(tc.tokens); got != tc.want {
				t.Errorf("\n%s\nrestAfter(%v): want %s, got %s", tc.reason, tc.tokens, tc.want, got)
			}
		})
	}
}
