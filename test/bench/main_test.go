package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/series"
)

// TestMeasureFigures measures figures of which one fails.
func TestMeasureFigures(t *testing.T) {
	var measured []string
	figureOf := func(name string, value float64, err error) series.Figure {
		return series.Figure{Name: name, Unit: "s", Measure: func(context.Context) (float64, error) {
			measured = append(measured, name)
			return value, err
		}}
	}
	panicking := series.Figure{Name: "d_s", Unit: "s", Measure: func(context.Context) (float64, error) { panic("broken") }}
	cases := map[string]struct {
		reason string
		only   string
		isOver bool
		want   []string
		err    string
	}{
		"Fails": {
			reason: "A figure that fails hides no figure after it.", only: "a_s b_s c_s",
			want: []string{"a_s", "b_s", "c_s"}, err: "cannot measure b_s: broken",
		},
		"Panics": {reason: "A figure that panics hides no figure after it.", only: "d_s f_s", want: []string{"f_s"}, err: "cannot measure d_s: panic: broken"},
		"Nothing": {
			reason: "A run that took no time measured nothing.", only: "e_s f_s",
			want: []string{"e_s", "f_s"}, err: "cannot measure e_s: cannot use the value 0 s",
		},
		"One":     {reason: "A figure that is not wanted is not measured.", only: "c_*", want: []string{"c_s"}},
		"Unknown": {reason: "A name that no figure has is refused.", only: "x_s", err: `cannot measure "x_s": it is not a figure`},
		"Over":    {reason: "A run that was ended measures nothing more.", isOver: true, want: []string{"a_s", "b_s"}, err: "cannot measure b_s: broken"},
	}
	all := []series.Figure{
		figureOf("a_s", 1, nil), figureOf("b_s", 1, errors.New("broken")), figureOf("c_s", 1, nil), panicking, figureOf("e_s", 0, nil), figureOf("f_s", 1, nil),
	}
	k := &keeper{}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			measured = nil
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.isOver {
				cancel()
			}
			got := ""
			if err := k.measureFigures(ctx, all, tc.only); err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, tc.err) || (got == "") != (tc.err == "") || !slices.Equal(measured, tc.want) {
				t.Errorf("\n%s\nmeasureFigures(...): want %q and %v, got %q and %v", tc.reason, tc.err, tc.want, got, measured)
			}
		})
	}
}
