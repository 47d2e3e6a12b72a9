package series

import "context"

// A Figure is something to measure.
type Figure struct {
	Name    string
	Unit    string
	Measure func(ctx context.Context) (float64, error)
}

// NewFigure returns a figure.
func NewFigure(name, unit string, measure func(ctx context.Context) (float64, error)) Figure {
	return Figure{Name: name, Unit: unit, Measure: measure}
}
