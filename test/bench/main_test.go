package main

import (
	"context"
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/procfs"
)

// TestMeasureFigures measures figures of which one fails.
func TestMeasureFigures(t *testing.T) {
	var measured []string
	figureOf := func(name string, err error) figure {
		return figure{name: name, unit: "s", measure: func(context.Context) (float64, error) {
			measured = append(measured, name)
			return 1, err
		}}
	}
	cases := map[string]struct {
		reason string
		only   string
		isOver bool
		want   []string
		err    string
	}{
		"All":     {reason: "A figure that fails hides no figure after it.", want: []string{"a_s", "b_s", "c_s"}, err: "cannot measure b_s: broken"},
		"One":     {reason: "A figure that is not wanted is not measured.", only: "c_*", want: []string{"c_s"}},
		"Unknown": {reason: "A name that no figure has is refused.", only: "d_s", err: `cannot measure "d_s": it is not a figure`},
		"Over":    {reason: "A run that was ended measures nothing more.", isOver: true, want: []string{"a_s", "b_s"}, err: "cannot measure b_s: broken"},
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{fs: fs}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			measured = nil
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.isOver {
				cancel()
			}
			got := ""
			if err := k.measureFigures(ctx, []figure{figureOf("a_s", nil), figureOf("b_s", errors.New("broken")), figureOf("c_s", nil)}, tc.only); err != nil {
				got = err.Error()
			}
			if got != tc.err || !slices.Equal(measured, tc.want) {
				t.Errorf("\n%s\nmeasureFigures(...): want %q and %v, got %q and %v", tc.reason, tc.err, tc.want, got, measured)
			}
		})
	}
}
