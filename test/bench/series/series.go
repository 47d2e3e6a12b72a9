// Package series measures figures that share runs: each run happens once, with its effort, and a run that fails leaves the figures of the others.
package series

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// partLimit is the time limit of a part that has none of its own.
const partLimit = 30 * time.Minute

// A Run is a measurement that several figures have values from. Its zero value has not happened yet.
type Run[T any] struct {
	isOver bool
	value  T
	err    error
	effort Effort
}

// Do measures the first time, and returns the result of that measurement each time, also if it failed. Its effort counts for each figure.
func (r *Run[T]) Do(ctx context.Context, measure func(context.Context) (T, error)) (T, error) {
	if !r.isOver {
		r.isOver, r.err = true, errors.New("cannot finish the measurement: it panicked")
		r.value, r.effort, r.err = meterMeasurement(ctx, measure)
	}
	addSharedEffort(ctx, r.effort)
	return r.value, r.err
}

// A Measure writes each figure into a map once its value is final.
type Measure func(ctx context.Context, figures map[string]float64) error

// A Series is figures that are measured on one base.
type Series struct {
	// Base makes the subject of all parts, and may measure figures itself. If it fails no part is measured. Nil means that the parts need none.
	Base Measure

	// Parts measure the figures, independent of each other.
	Parts []Part

	base    Run[struct{}]
	figures map[string]float64
}

// A Part of a series measures some of its figures.
type Part struct {
	Figures []string
	Measure Measure
	// Limit is the time limit of the measurement. Zero means half an hour.
	Limit time.Duration

	run Run[struct{}]
}

// Figure returns the measurement of a figure: the base, and the part that has it, unless they happened before.
func (s *Series) Figure(name string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) { return s.Value(ctx, name) }
}

// Value measures a figure. A figure that was final before its part failed has its value. Value returns an error for any other figure of that part.
func (s *Series) Value(ctx context.Context, name string) (float64, error) {
	if s.figures == nil {
		s.figures = map[string]float64{}
	}
	var err error
	if s.Base != nil {
		err = s.measureWith(ctx, &s.base, s.Base)
	}
	if i := s.partOfFigure(name); i >= 0 && err == nil {
		limited, cancel := context.WithTimeout(ctx, cmp.Or(s.Parts[i].Limit, partLimit))
		defer cancel()
		err = s.measureWith(limited, &s.Parts[i].run, s.Parts[i].Measure)
	}
	if value, isFinal := s.figures[name]; isFinal {
		return value, nil
	}
	if err == nil {
		err = errors.Errorf("no part has a value of %s", name)
	}
	return 0, err
}

func (s *Series) partOfFigure(name string) int {
	return slices.IndexFunc(s.Parts, func(p Part) bool { return slices.Contains(p.Figures, name) })
}

func (s *Series) measureWith(ctx context.Context, r *Run[struct{}], measure Measure) error {
	_, err := r.Do(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, measure(ctx, s.figures) })
	return err
}
