package promql

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
)

// CanFail reports whether a measurement of the query can fail a threshold: by a value, or by an empty answer where an empty answer is the bad answer of the
// query and noData does not pass.
func (t *Template) CanFail(limit threshold.Threshold, noData string) bool {
	return t.isPresence && !t.isConstantQuery() && noData != deploymentv1alpha1.NoDataPass || !limit.HoldsFor(t.values)
}

// isConstantQuery reports whether the query has one value and reads no series.
func (t *Template) isConstantQuery() bool { return t.values.IsConstant() && !t.hasSelector }

// countsSeries reports whether an aggregation gives 1 or more, and an empty answer in the place of 0.
func countsSeries(op parser.ItemType) bool {
	return op == parser.COUNT || op == parser.COUNT_VALUES || op == parser.GROUP
}

// emptiness reports whether the result of an expression can be empty, and whether the expression tests that: it filters, counts, or detects absence. A rate can
// be empty too, but its value is the result.
type emptiness struct{ isPossible, isAnswer bool }

func (m emptiness) joinEmptiness(second emptiness) emptiness {
	return emptiness{isPossible: m.isPossible || second.isPossible, isAnswer: m.isAnswer || second.isAnswer}
}

func emptinessOf(e parser.Expr) emptiness {
	switch e := e.(type) {
	case *parser.VectorSelector, *parser.MatrixSelector:
		return emptiness{isPossible: true}
	case *parser.ParenExpr:
		return emptinessOf(e.Expr)
	case *parser.UnaryExpr:
		return emptinessOf(e.Expr)
	case *parser.SubqueryExpr:
		return emptinessOf(e.Expr)
	case *parser.Call:
		return emptinessOfCall(e)
	case *parser.AggregateExpr:
		values := emptinessOf(e.Expr)
		values.isAnswer = values.isAnswer || values.isPossible && countsSeries(e.Op)
		return values
	case *parser.BinaryExpr:
		return emptinessOfOperation(e)
	}
	return emptiness{}
}

func emptinessOfCall(call *parser.Call) emptiness {
	if slices.Contains(presenceFunctions(), call.Func.Name) {
		return emptiness{isPossible: true, isAnswer: true}
	}
	out := emptiness{}
	for _, arg := range call.Args {
		out = out.joinEmptiness(emptinessOf(arg))
	}
	return out
}

func emptinessOfOperation(b *parser.BinaryExpr) emptiness {
	left, right := emptinessOf(b.LHS), emptinessOf(b.RHS)
	switch {
	case dropsSeries(b):
		return emptiness{isPossible: true, isAnswer: true}
	case b.Op == parser.LOR && (!left.isPossible || !right.isPossible):
		return emptiness{}
	case b.Op == parser.DIV && left.isPossible:
		right.isAnswer = false // A filter of a divisor guards against a division by zero.
	}
	return left.joinEmptiness(right)
}

// dropsSeries reports whether an operation drops series.
func dropsSeries(b *parser.BinaryExpr) bool {
	return b.Op == parser.LAND || b.Op == parser.LUNLESS || b.Op.IsComparisonOperator() && !b.ReturnBool
}
