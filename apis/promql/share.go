package promql

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/intentplane/intentplane/apis/measure"
)

// rangeOfShare returns the values of a quotient of a part and its whole, which a number may multiply: 0 to 1, or to that number. Both are sums of counters, or
// counts of series, and the selector of the part has all matchers of the whole. It is false for other quotients.
func rangeOfShare(b *parser.BinaryExpr) (measure.Range, bool) {
	if b.Op != parser.DIV || !matchesAllLabels(b.VectorMatching) {
		return measure.Range{}, false
	}
	dividend, factor := splitFactor(b.LHS)
	part, isPart := withoutZero(dividend).(*parser.AggregateExpr)
	whole, isWhole := withoutFilters(b.RHS).(*parser.AggregateExpr)
	// The values are computed last: below a selector they take no time, and elsewhere they would be computed twice at each level of a query.
	if !isPart || !isWhole || !selectsPart(part.Expr, whole.Expr) || !areSummedAlike(part, whole) {
		return measure.Range{}, false
	}
	return measure.RangeOf(0, factor), true
}

// matchesAllLabels reports whether an operation joins each series with the series that has the same labels.
func matchesAllLabels(m *parser.VectorMatching) bool {
	return m != nil && m.Card == parser.CardOneToOne && !m.On && len(m.MatchingLabels) == 0 && m.FillValues == (parser.VectorMatchFillValues{})
}

// splitFactor returns an expression without the numbers that multiply it, and their product.
func splitFactor(e parser.Expr) (parser.Expr, float64) {
	factor := 1.0
	for {
		e = withoutParens(e)
		b, ok := e.(*parser.BinaryExpr)
		if !ok || b.Op != parser.MUL {
			return e, factor
		}
		left, isLeft := withoutParens(b.LHS).(*parser.NumberLiteral)
		right, isRight := withoutParens(b.RHS).(*parser.NumberLiteral)
		switch {
		case isLeft:
			e, factor = b.RHS, factor*left.Val
		case isRight:
			e, factor = b.LHS, factor*right.Val
		default:
			return e, factor
		}
	}
}

// withoutZero returns an expression without an alternative that is 0.
func withoutZero(e parser.Expr) parser.Expr {
	e = withoutFilters(e)
	if b, ok := e.(*parser.BinaryExpr); ok && b.Op == parser.LOR && isZeroVector(b.RHS) {
		return withoutFilters(b.LHS)
	}
	return e
}

func isZeroVector(e parser.Expr) bool {
	call, ok := withoutParens(e).(*parser.Call)
	if !ok || call.Func.Name != "vector" || len(call.Args) != 1 {
		return false
	}
	n, ok := withoutParens(call.Args[0]).(*parser.NumberLiteral)
	return ok && n.Val == 0
}

// withoutFilters returns an expression without the operations that drop some of its series and keep the values of the others.
func withoutFilters(e parser.Expr) parser.Expr {
	e = withoutParens(e)
	b, ok := e.(*parser.BinaryExpr)
	switch {
	case !ok || !dropsSeries(b):
		return e
	case b.LHS.Type() == parser.ValueTypeScalar:
		return withoutFilters(b.RHS)
	case b.RHS.Type() == parser.ValueTypeScalar || b.Op.IsSetOperator():
		return withoutFilters(b.LHS)
	}
	return e
}

// areSummedAlike reports whether two aggregations are sums of numbers that are not negative, or counts, for equal labels.
func areSummedAlike(part, whole *parser.AggregateExpr) bool {
	isSum := whole.Op == parser.SUM && rangeOfExpression(whole.Expr).Low >= 0
	return part.Op == whole.Op && (isSum || whole.Op == parser.COUNT) && part.Without == whole.Without && slices.Equal(part.Grouping, whole.Grouping)
}

// selectsPart reports whether an expression gives some of the series of another expression, with equal values: both call the same function for selectors.
func selectsPart(part, whole parser.Expr) bool {
	part = withoutFilters(part)
	switch whole := withoutParens(whole).(type) {
	case *parser.Call:
		p, ok := part.(*parser.Call)
		return ok && p.Func.Name == whole.Func.Name && keepsSamples(whole) && selectsPart(p.Args[0], whole.Args[0])
	case *parser.MatrixSelector:
		p, ok := part.(*parser.MatrixSelector)
		return ok && p.Range == whole.Range && p.RangeExpr == nil && whole.RangeExpr == nil && selectsPart(p.VectorSelector, whole.VectorSelector)
	case *parser.VectorSelector:
		p, ok := part.(*parser.VectorSelector)
		return ok && haveOneTime(p, whole) && !slices.ContainsFunc(whole.LabelMatchers, func(m *labels.Matcher) bool { return !hasMatcher(p, m) })
	}
	return false
}

// keepsSamples reports whether a function of one argument gives a number for each series of it.
func keepsSamples(call *parser.Call) bool {
	return len(call.Args) == 1 && slices.Contains(countingFunctions(), call.Func.Name)
}

// haveOneTime reports whether two selectors read samples of the same times.
func haveOneTime(part, whole *parser.VectorSelector) bool {
	return part.OriginalOffset == whole.OriginalOffset && part.OriginalOffsetExpr == nil && whole.OriginalOffsetExpr == nil &&
		part.Anchored == whole.Anchored && part.Smoothed == whole.Smoothed
}

func hasMatcher(s *parser.VectorSelector, wanted *labels.Matcher) bool {
	return slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.String() == wanted.String() })
}

func withoutParens(e parser.Expr) parser.Expr {
	for {
		p, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}
