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

// rangeOfExpression returns the values that an expression can have.
func rangeOfExpression(e parser.Expr) measure.Range {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return measure.OneValue(e.Val)
	case *parser.ParenExpr:
		return rangeOfExpression(e.Expr)
	case *parser.SubqueryExpr:
		return rangeOfExpression(e.Expr)
	case *parser.UnaryExpr:
		if e.Op == parser.SUB {
			return rangeOfExpression(e.Expr).Negative()
		}
		return rangeOfExpression(e.Expr)
	case *parser.Call:
		return rangeOfCall(e)
	case *parser.AggregateExpr:
		return rangeOfAggregation(e)
	case *parser.BinaryExpr:
		return rangeOfOperation(e)
	}
	return measure.AnyValue()
}

// Functions by the values that they give (https://prometheus.io/docs/prometheus/latest/querying/functions).

// countingFunctions give no negative number.
func countingFunctions() []string {
	return []string{
		"abs", "sqrt", "exp", "rate", "irate", "increase", "changes", "resets", "count_over_time", "time",
		"stddev_over_time", "stdvar_over_time", "mad_over_time", "histogram_count", "histogram_stddev", "histogram_stdvar", "timestamp", "acosh",
	}
}

// presenceFunctions give 1, or no series.
func presenceFunctions() []string { return []string{"absent", "absent_over_time", "present_over_time"} }

// boundedFunctions give values in one range, for all arguments.
func boundedFunctions() map[string]measure.Range {
	return map[string]measure.Range{
		"histogram_fraction": {Low: 0, High: 1}, "pi": measure.OneValue(math.Pi),
		"minute": {Low: 0, High: 59}, "hour": {Low: 0, High: 23}, "day_of_week": {Low: 0, High: 6}, "day_of_month": {Low: 1, High: 31},
		"day_of_year": {Low: 1, High: 366}, "days_in_month": {Low: 28, High: 31}, "month": {Low: 1, High: 12},
		"sin": {Low: -1, High: 1}, "cos": {Low: -1, High: 1}, "tanh": {Low: -1, High: 1}, "cosh": {Low: 1, High: math.Inf(1)},
		"acos": {Low: 0, High: math.Pi}, "asin": {Low: -math.Pi / 2, High: math.Pi / 2}, "atan": {Low: -math.Pi / 2, High: math.Pi / 2},
	}
}

// steppedFunctions give a greater or equal value for a greater argument.
func steppedFunctions() map[string]func(float64) float64 {
	return map[string]func(float64) float64{
		"ceil": math.Ceil, "floor": math.Floor, "sgn": signOfNumber, "round": func(v float64) float64 { return math.Floor(v + 0.5) },
	}
}

// choosingFunctions give values in the range of their last argument.
func choosingFunctions() []string {
	return []string{
		"vector", "scalar", "avg_over_time", "min_over_time", "max_over_time", "last_over_time", "first_over_time",
		"sort", "sort_desc",
	}
}

// changingFunctions give values in the range of their first argument.
func changingFunctions() []string {
	return []string{"label_replace", "label_join", "clamp", "clamp_min", "clamp_max"}
}

func signOfNumber(v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Copysign(1, v)
}

func rangeOfCall(call *parser.Call) measure.Range {
	name := call.Func.Name
	bounded, isBounded := boundedFunctions()[name]
	switch {
	case isBounded:
		return bounded
	case slices.Contains(countingFunctions(), name):
		return measure.NotNegative()
	case slices.Contains(presenceFunctions(), name):
		return measure.OneValue(1)
	case len(call.Args) == 0:
		return measure.AnyValue()
	case slices.Contains(choosingFunctions(), name) && len(call.Args) == 1:
		return rangeOfExpression(call.Args[0])
	case slices.Contains(changingFunctions(), name):
		return rangeOfClamp(call, rangeOfExpression(call.Args[0]))
	case name == "sum_over_time":
		return rangeOfSums(rangeOfExpression(call.Args[0]))
	case name == "quantile_over_time" && len(call.Args) == 2:
		return quantileRange(call.Args[0], rangeOfExpression(call.Args[1]))
	}
	return steppedRange(call)
}

// steppedRange returns the values of a function that keeps the order of its arguments.
func steppedRange(call *parser.Call) measure.Range {
	step, ok := steppedFunctions()[call.Func.Name]
	values := rangeOfExpression(call.Args[0])
	switch {
	case !ok:
		return measure.AnyValue()
	case len(call.Args) == 1:
		return measure.Range{Low: step(values.Low), High: step(values.High)}
	}
	// A value that is rounded to a multiple keeps its sign.
	return rangeOfSums(measure.Range{Low: min(values.Low, 0), High: max(values.High, 0)})
}

// quantileRange returns the values of a quantile. Outside of 0 to 1 it is infinite.
func quantileRange(quantile parser.Expr, values measure.Range) measure.Range {
	if q := rangeOfExpression(quantile); q.Low < 0 || q.High > 1 {
		return measure.AnyValue()
	}
	return values
}

// rangeOfClamp narrows the values of the first argument by the limits of a call. A limit that is not a number has a range as well.
func rangeOfClamp(call *parser.Call, values measure.Range) measure.Range {
	lower, upper := measure.OneValue(math.Inf(-1)), measure.OneValue(math.Inf(1))
	switch {
	case call.Func.Name == "clamp" && len(call.Args) == 3:
		lower, upper = rangeOfExpression(call.Args[1]), rangeOfExpression(call.Args[2])
	case call.Func.Name == "clamp_min" && len(call.Args) == 2:
		lower = rangeOfExpression(call.Args[1])
	case call.Func.Name == "clamp_max" && len(call.Args) == 2:
		upper = rangeOfExpression(call.Args[1])
	}
	return measure.Range{Low: min(max(values.Low, lower.Low), upper.Low), High: min(max(values.High, lower.High), upper.High)}
}

func rangeOfAggregation(a *parser.AggregateExpr) measure.Range {
	switch values := rangeOfExpression(a.Expr); a.Op {
	case parser.COUNT, parser.COUNT_VALUES:
		return measure.Range{Low: 1, High: math.Inf(1)}
	case parser.GROUP:
		return measure.OneValue(1)
	case parser.STDDEV, parser.STDVAR:
		return measure.NotNegative()
	case parser.SUM:
		return rangeOfSums(values)
	case parser.QUANTILE:
		return quantileRange(a.Param, values)
	case parser.AVG, parser.MIN, parser.MAX, parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return values
	}
	return measure.AnyValue()
}

// rangeOfSums returns the values of a sum of one or more numbers.
func rangeOfSums(r measure.Range) measure.Range {
	if r.Low >= 0 {
		return measure.Range{Low: r.Low, High: math.Inf(1)}
	}
	if r.High <= 0 {
		return measure.Range{Low: math.Inf(-1), High: r.High}
	}
	return measure.AnyValue()
}

func rangeOfOperation(b *parser.BinaryExpr) measure.Range {
	left, right := rangeOfExpression(b.LHS), rangeOfExpression(b.RHS)
	share, isShare := rangeOfShare(b)
	switch {
	case isShare:
		return share
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
		op = mirrorOperator(op)
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

// mirrorOperator returns a comparison whose sides are exchanged.
func mirrorOperator(op parser.ItemType) parser.ItemType {
	mirrored, ok := map[parser.ItemType]parser.ItemType{
		parser.GTR: parser.LSS, parser.GTE: parser.LTE, parser.LSS: parser.GTR, parser.LTE: parser.GTE,
	}[op]
	if !ok {
		return op
	}
	return mirrored
}

func rangeOfArithmetic(op parser.ItemType, left, right measure.Range) measure.Range {
	switch op {
	case parser.ADD:
		return left.Plus(right)
	case parser.SUB:
		return left.Minus(right)
	case parser.MUL:
		return left.Times(right)
	case parser.DIV:
		return left.DividedBy(right)
	case parser.MOD:
		return left.Remainder(right)
	case parser.POW:
		if left.Low >= 0 || right.IsConstant() && math.Mod(right.Low, 2) == 0 {
			return measure.NotNegative()
		}
	case parser.ATAN2:
		return measure.Range{Low: -math.Pi, High: math.Pi}
	}
	return measure.AnyValue()
}

// hasSingleSeries reports whether an expression gives a number, or one series at most, which has no labels.
func hasSingleSeries(e parser.Expr) bool {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return true
	case *parser.ParenExpr:
		return hasSingleSeries(e.Expr)
	case *parser.UnaryExpr:
		return hasSingleSeries(e.Expr)
	case *parser.Call:
		return e.Func.Name == "vector" || e.Type() == parser.ValueTypeScalar || len(e.Args) > 0 && keepsSeries(e) && hasSingleSeries(e.Args[0])
	case *parser.AggregateExpr:
		several := []parser.ItemType{parser.COUNT_VALUES, parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO}
		return !e.Without && len(e.Grouping) == 0 && !slices.Contains(several, e.Op)
	case *parser.BinaryExpr:
		if e.Op == parser.LAND || e.Op == parser.LUNLESS {
			return hasSingleSeries(e.LHS)
		}
		return hasSingleSeries(e.LHS) && hasSingleSeries(e.RHS)
	}
	return false
}

// keepsSeries reports whether a function gives a series for each series of its first argument, with its labels.
func keepsSeries(call *parser.Call) bool {
	return len(call.Func.ArgTypes) > 0 && call.Func.ArgTypes[0] == parser.ValueTypeVector &&
		!slices.Contains([]string{"absent", "label_replace", "label_join", "info"}, call.Func.Name)
}
