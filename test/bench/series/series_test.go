package series

import (
	"context"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// TestSeries measures the figures of two parts on one base, in an order, and notes which runs happened.
func TestSeries(t *testing.T) {
	broken := errors.New("broken")
	cases := map[string]struct {
		reason           string
		base, part       error
		isLate           bool
		names, runs, got []string
	}{
		"All": {
			reason: "Each run happens once, with the first figure that needs it.",
			names:  []string{"a", "b", "c", "made"}, runs: []string{"base", "ab", "c"}, got: []string{"1", "2", "3", "7"},
		},
		"Other": {reason: "A part that no figure needs does not run.", names: []string{"c"}, runs: []string{"base", "c"}, got: []string{"3"}},
		"PartFails": {
			reason: "A part that failed is not repeated, and leaves the figures of the other one.", part: broken,
			names: []string{"a", "b", "c"}, runs: []string{"base", "ab", "c"}, got: []string{"broken", "broken", "3"},
		},
		"PartFailsLate": {
			reason: "A figure that was final before its part failed has its value.", part: broken, isLate: true,
			names: []string{"b", "a"}, runs: []string{"base", "ab"}, got: []string{"broken", "1"},
		},
		"BaseFails": {
			reason: "Without a base no part is measured, and the base is not made again.", base: broken,
			names: []string{"a", "c"}, runs: []string{"base"}, got: []string{"broken", "broken"},
		},
		"Unknown": {
			reason: "A figure that no part has is an error, and not zero.",
			names:  []string{"d"}, runs: []string{"base"}, got: []string{"no part has a value of d"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var runs []string
			s := &Series{
				Base: func(_ context.Context, figures map[string]float64) error {
					runs, figures["made"] = append(runs, "base"), 7
					return tc.base
				},
				Parts: []Part{
					{Figures: []string{"a", "b"}, Measure: func(_ context.Context, figures map[string]float64) error {
						runs = append(runs, "ab")
						if tc.part == nil || tc.isLate {
							figures["a"] = 1
						}
						if tc.part == nil {
							figures["b"] = 2
						}
						return tc.part
					}},
					{Figures: []string{"c"}, Measure: func(_ context.Context, figures map[string]float64) error {
						runs, figures["c"] = append(runs, "c"), 3
						return nil
					}},
				},
			}
			var got []string
			for _, figure := range tc.names {
				got = append(got, describe(s.Figure(figure)(t.Context())))
			}
			if diff := cmp.Diff([][]string{tc.runs, tc.got}, [][]string{runs, got}); diff != "" {
				t.Errorf("\n%s\nruns and values: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestContextOfPart starts something in a part that lasts until the end of its context.
func TestContextOfPart(t *testing.T) {
	var ended <-chan struct{}
	s := &Series{Parts: []Part{{Figures: []string{"a"}, Measure: func(ctx context.Context, _ map[string]float64) error {
		ended = ctx.Done()
		return errors.New("broken")
	}}}}
	if _, err := s.Value(t.Context(), "a"); err == nil {
		t.Error("A part that failed has no value")
	}
	select {
	case <-ended:
	default:
		t.Error("A part that failed leaves nothing behind: its context has not ended")
	}
}

// TestRunThatPanics reads a run that never returned.
func TestRunThatPanics(t *testing.T) {
	r := &Run[float64]{}
	func() {
		defer func() { _ = recover() }()
		_, _ = r.Do(t.Context(), func(context.Context) (float64, error) { panic("broken") })
	}()
	if v, err := r.Do(t.Context(), func(context.Context) (float64, error) { return 1, nil }); err == nil {
		t.Errorf("A run that panicked has no value, and does not happen again: want an error, got %v", v)
	}
}

// TestEffortOfFigure measures a figure of two earlier runs, of which the second one was beside other programs.
func TestEffortOfFigure(t *testing.T) {
	quiet := &Run[float64]{isOver: true, value: 4, effort: Effort{Took: time.Minute, Others: 0.1}}
	busy := &Run[float64]{isOver: true, value: 2, effort: Effort{Took: time.Second, Others: 0.9}}
	v, e, err := MeasureFigure(t.Context(), func(ctx context.Context) (float64, error) {
		measured, err := quiet.Do(ctx, nil)
		reference, referenceErr := busy.Do(ctx, nil)
		return measured / reference, errors.Join(err, referenceErr)
	})
	if diff := cmp.Diff(Effort{Took: time.Minute, Others: 0.9}, e); diff != "" || v != 2 || err != nil {
		t.Errorf("A ratio is beside other programs if one of its runs was: %v, %v, -want, +got:\n%s", v, err, diff)
	}
}

// describe returns a value or an error as a text.
func describe(value float64, err error) string {
	if err != nil {
		return err.Error()
	}
	return map[float64]string{1: "1", 2: "2", 3: "3", 7: "7"}[value]
}
