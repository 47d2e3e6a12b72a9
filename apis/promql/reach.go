package promql

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/prometheus/promql/parser"
)

// A Reach is the lookback of a query from its evaluation time.
type Reach struct {
	// Windows is the lookback of the ranges in square brackets, with their offsets. 0 means no ranges.
	Windows time.Duration

	// Latest is true for a query that takes the latest sample of a series: a server looks some minutes back for it.
	Latest bool

	// Offset is the offset modifier of those samples: the server looks back for them from that long before the evaluation time.
	Offset time.Duration
}

const (
	// Precision is the precision of the time since which a subject is live.
	Precision = time.Second

	// ShortestLookback is the minimum lookback of a server for the latest sample.
	ShortestLookback = 5 * time.Second
)

// Lead returns the time that a subject has to be live before the query may be sent, so that all samples in its range are of the subject.
func (r Reach) Lead() time.Duration {
	lead := time.Duration(0)
	if r.Windows > 0 {
		lead = r.Windows + Precision
	}
	if r.Latest {
		lead = max(lead, r.Offset+ShortestLookback+Precision)
	}
	return lead
}

// maxReach is the greatest lookback of a query: as long as a check may take. The subject has to be live for as long before the first
// measurement, and has no result until then.
const maxReach = 24 * time.Hour

// ReachOf returns the reach of a query that was filled. It returns an error for text that is not PromQL, and for a query without a valid judgement: a query
// that does not give numbers at one time, that looks back for longer than 24 hours, or that looks at a fixed time, which may lie before the measured revision
// went live.
func ReachOf(text string) (Reach, error) {
	if err := checkLength(text); err != nil {
		return Reach{}, err
	}
	e, err := parseExpression(text)
	if err != nil {
		return Reach{}, err
	}
	return reachOfExpression(e)
}

func reachOfExpression(e parser.Expr) (Reach, error) {
	if kind := e.Type(); kind != parser.ValueTypeVector && kind != parser.ValueTypeScalar {
		return Reach{}, errors.Errorf("gives a %s, which has no value at one time", parser.DocumentedType(kind))
	}
	var (
		out Reach
		err error
	)
	parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && err == nil {
			err = out.addSelector(s, path)
		}
		return nil
	})
	return out, err
}

// addSelector adds a selector, with the subqueries and the window that it stands in.
func (r *Reach) addSelector(s *parser.VectorSelector, path []parser.Node) error {
	steps, window, fixed := []time.Duration{s.OriginalOffset}, false, s.Timestamp != nil || s.StartOrEnd != 0
	for _, n := range path {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			steps, window = append(steps, n.Range), true
		case *parser.SubqueryExpr:
			steps = append(steps, n.Range, n.OriginalOffset)
			fixed = fixed || n.Timestamp != nil || n.StartOrEnd != 0
		}
	}
	if fixed {
		return errors.New("selects a fixed time, which may be before the measured revision went live")
	}
	back, err := sumLookbackSteps(steps)
	if err != nil {
		return err
	}
	if window {
		r.Windows = max(r.Windows, back)
		return nil
	}
	r.Latest, r.Offset = true, max(r.Offset, back)
	return nil
}

// sumLookbackSteps returns the total lookback of some steps. It returns an error beyond the limit, in either direction.
func sumLookbackSteps(steps []time.Duration) (time.Duration, error) {
	back := time.Duration(0)
	for _, step := range steps {
		// Each is checked by itself too, since their sum may overflow.
		if back += step; step.Abs() > maxReach || back > maxReach {
			return 0, errors.New("has a window and offsets of more than 24h: the measured revision would have to be live for as long before the first query")
		}
	}
	return back, nil
}
