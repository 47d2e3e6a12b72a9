package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/intentplane/intentplane/apis/measure"
)

// Range returns the values that the query can have, as far as they follow from its text: a count is not negative, and a comparison with bool gives 0 or 1. It
// may be wider than the values are, and is not narrower for counters, which are never negative.
func (t *Template) Range() measure.Range { return t.values }

// IsScalar reports whether the query gives a number, and not series.
func (t *Template) IsScalar() bool { return t.isScalar }

// GivesOneSeries reports whether the query gives one series at most, whatever the server has.
func (t *Template) GivesOneSeries() bool { return t.isScalar || t.isSingle }

// rangeOf returns the values that an expression can have.
func rangeOf(e parser.Expr) measure.Range {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return measure.OneValue(e.Val)
	case *parser.ParenExpr:
		return rangeOf(e.Expr)
	case *parser.SubqueryExpr:
		return rangeOf(e.Expr)
	case *parser.UnaryExpr:
		if e.Op == parser.SUB {
			return negativeOf(rangeOf(e.Expr))
		}
		return rangeOf(e.Expr)
	case *parser.Call:
		return rangeOfCall(e)
	case *parser.AggregateExpr:
		return rangeOfAggregation(e)
	case *parser.BinaryExpr:
		return rangeOfOperation(e)
	}
	return measure.AnyValue()
}

func negativeOf(r measure.Range) measure.Range { return measure.Range{Low: -r.High, High: -r.Low} }

// Functions by the values that they give (https://prometheus.io/docs/prometheus/latest/querying/functions).
var (
	// countingFunctions give no negative number.
	countingFunctions = []string{
		"abs", "sqrt", "exp", "rate", "irate", "increase", "changes", "resets", "count_over_time",
		"stddev_over_time", "stdvar_over_time", "mad_over_time", "histogram_count", "histogram_stddev", "histogram_stdvar",
	}

	// presenceFunctions give 1, or no series.
	presenceFunctions = []string{"absent", "absent_over_time", "present_over_time"}

	// choosingFunctions give values in the range of their last argument.
	choosingFunctions = []string{
		"vector", "scalar", "avg_over_time", "min_over_time", "max_over_time", "last_over_time", "first_over_time",
		"sort", "sort_desc",
	}

	// changingFunctions give values in the range of their first argument.
	changingFunctions = []string{"label_replace", "label_join", "clamp", "clamp_min", "clamp_max"}
)

func rangeOfCall(call *parser.Call) measure.Range {
	name := call.Func.Name
	switch {
	case slices.Contains(countingFunctions, name):
		return measure.NotNegative()
	case slices.Contains(presenceFunctions, name):
		return measure.OneValue(1)
	case name == "histogram_fraction":
		return measure.Range{Low: 0, High: 1}
	case slices.Contains(choosingFunctions, name) && len(call.Args) == 1:
		return rangeOf(call.Args[0])
	case slices.Contains(changingFunctions, name) && len(call.Args) > 0:
		return clampRange(call, rangeOf(call.Args[0]))
	}
	return measure.AnyValue()
}

// clampRange narrows the values of the first argument by the limits of a call, where they are numbers.
func clampRange(call *parser.Call, values measure.Range) measure.Range {
	lowest, highest := math.Inf(-1), math.Inf(1)
	switch {
	case call.Func.Name == "clamp" && len(call.Args) == 3:
		lowest, highest = rangeOf(call.Args[1]).Low, rangeOf(call.Args[2]).High
	case call.Func.Name == "clamp_min" && len(call.Args) == 2:
		lowest = rangeOf(call.Args[1]).Low
	case call.Func.Name == "clamp_max" && len(call.Args) == 2:
		highest = rangeOf(call.Args[1]).High
	}
	bounded := func(v float64) float64 { return min(max(v, lowest), highest) }
	return measure.Range{Low: bounded(values.Low), High: bounded(values.High)}
}

func rangeOfAggregation(a *parser.AggregateExpr) measure.Range {
	switch values := rangeOf(a.Expr); a.Op {
	case parser.COUNT, parser.COUNT_VALUES:
		return measure.Range{Low: 1, High: math.Inf(1)}
	case parser.GROUP:
		return measure.OneValue(1)
	case parser.STDDEV, parser.STDVAR:
		return measure.NotNegative()
	case parser.SUM:
		return sumRange(values)
	case parser.AVG, parser.MIN, parser.MAX, parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return values
	}
	return measure.AnyValue()
}

// sumRange returns the values of a sum of one or more numbers.
func sumRange(r measure.Range) measure.Range {
	if r.Low >= 0 {
		return measure.Range{Low: r.Low, High: math.Inf(1)}
	}
	if r.High <= 0 {
		return measure.Range{Low: math.Inf(-1), High: r.High}
	}
	return measure.AnyValue()
}

func rangeOfOperation(b *parser.BinaryExpr) measure.Range {
	left, right := rangeOf(b.LHS), rangeOf(b.RHS)
	switch {
	case b.ReturnBool:
		return measure.Range{Low: 0, High: 1}
	case b.Op.IsComparisonOperator():
		return filteredRange(b, left, right)
	case b.Op == parser.LAND || b.Op == parser.LUNLESS:
		return left
	case b.Op == parser.LOR:
		return left.Union(right)
	}
	return rangeOfArithmetic(b.Op, left, right)
}

// filteredRange returns the values that pass a comparison without bool. They are values of the side with series, and of the left side if both have series.
func filteredRange(b *parser.BinaryExpr, left, right measure.Range) measure.Range {
	op := b.Op
	if b.LHS.Type() == parser.ValueTypeScalar {
		left, right = right, left
		op = mirrorOf(op)
	}
	switch op {
	case parser.EQLC:
		return left.Intersection(right)
	case parser.GTR, parser.GTE:
		return left.Intersection(measure.Range{Low: right.Low, High: math.Inf(1)})
	case parser.LSS, parser.LTE:
		return left.Intersection(measure.Range{Low: math.Inf(-1), High: right.High})
	}
	return left
}

// mirrorOf returns a comparison whose sides are exchanged.
func mirrorOf(op parser.ItemType) parser.ItemType {
	mirrored, ok := map[parser.ItemType]parser.ItemType{
		parser.GTR: parser.LSS, parser.GTE: parser.LTE, parser.LSS: parser.GTR, parser.LTE: parser.GTE,
	}[op]
	if !ok {
		return op
	}
	return mirrored
}

func rangeOfArithmetic(op parser.ItemType, left, right measure.Range) measure.Range {
	areNotNegative := left.Low >= 0 && right.Low >= 0
	switch {
	case op == parser.ADD:
		return knownRange(left.Low+right.Low, left.High+right.High)
	case op == parser.SUB:
		return knownRange(left.Low-right.High, left.High-right.Low)
	case op == parser.MUL && left.IsConstant() && right.IsConstant():
		return knownRange(left.Low*right.Low, left.Low*right.Low)
	case op == parser.MUL && areNotNegative:
		return knownRange(left.Low*right.Low, left.High*right.High)
	case op == parser.DIV && areNotNegative && right.IsConstant() && right.Low > 0:
		return knownRange(left.Low/right.Low, left.High/right.Low)
	case (op == parser.DIV || op == parser.POW) && areNotNegative:
		return measure.NotNegative()
	}
	return measure.AnyValue()
}

// knownRange returns a Range whose ends were computed. An end that is not a number, as infinity less infinity, is unknown.
func knownRange(low, high float64) measure.Range {
	r := measure.AnyValue()
	if !math.IsNaN(low) {
		r.Low = low
	}
	if !math.IsNaN(high) {
		r.High = high
	}
	return r
}

// isSingle reports whether an expression gives a number, or one series at most, which has no labels.
func isSingle(e parser.Expr) bool {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return true
	case *parser.ParenExpr:
		return isSingle(e.Expr)
	case *parser.UnaryExpr:
		return isSingle(e.Expr)
	case *parser.Call:
		return e.Func.Name == "vector" || e.Type() == parser.ValueTypeScalar || len(e.Args) > 0 && keepsSeries(e) && isSingle(e.Args[0])
	case *parser.AggregateExpr:
		several := []parser.ItemType{parser.COUNT_VALUES, parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO}
		return !e.Without && len(e.Grouping) == 0 && !slices.Contains(several, e.Op)
	case *parser.BinaryExpr:
		if e.Op == parser.LAND || e.Op == parser.LUNLESS {
			return isSingle(e.LHS)
		}
		return isSingle(e.LHS) && isSingle(e.RHS)
	}
	return false
}

// keepsSeries reports whether a function gives a series for each series of its first argument, with its labels.
func keepsSeries(call *parser.Call) bool {
	return len(call.Func.ArgTypes) > 0 && call.Func.ArgTypes[0] == parser.ValueTypeVector &&
		!slices.Contains([]string{"absent", "label_replace", "label_join", "info"}, call.Func.Name)
}
