package promql

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/prometheus/promql/parser"
)

// A Reach is how far a query looks back from the time that it is asked for.
type Reach struct {
	// Windows is how far the ranges in square brackets reach back, with their offsets. 0 means that there are none.
	Windows time.Duration

	// Latest is true for a query that takes the latest sample of a series: a server looks some minutes back for it.
	Latest bool

	// Offset is how far back those samples are asked for, before the server begins to look.
	Offset time.Duration
}

// ReachOf a query that was filled. It returns an error for what is not PromQL, for a query that does not give numbers at one time, and
// for one that looks at a fixed time: that may lie before what is measured went live.
func ReachOf(text string) (Reach, error) {
	e, err := parse(text)
	if err != nil {
		return Reach{}, err
	}
	if kind := e.Type(); kind != parser.ValueTypeVector && kind != parser.ValueTypeScalar {
		return Reach{}, errors.Errorf("gives a %s, which has no value at one time", parser.DocumentedType(kind))
	}
	out := Reach{}
	parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && err == nil {
			err = out.add(s, path)
		}
		return nil
	})
	return out, err
}

// add a selector, and the subqueries and the window that it stands in.
func (r *Reach) add(s *parser.VectorSelector, path []parser.Node) error {
	back, window, fixed := s.OriginalOffset, false, s.Timestamp != nil || s.StartOrEnd != 0
	for _, n := range path {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			back, window = back+n.Range, true
		case *parser.SubqueryExpr:
			back += n.Range + n.OriginalOffset
			fixed = fixed || n.Timestamp != nil || n.StartOrEnd != 0
		}
	}
	if fixed {
		return errors.New("looks at a fixed time, which may lie before what is measured went live")
	}
	if window {
		r.Windows = max(r.Windows, back)
		return nil
	}
	r.Latest, r.Offset = true, max(r.Offset, back)
	return nil
}
