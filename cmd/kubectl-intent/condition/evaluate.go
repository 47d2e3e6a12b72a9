package condition

import (
	"cmp"
	"go/ast"
	"go/token"
	"math"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// An Outcome of a measurement, as notes say it.
type Outcome string

// The outcomes that a condition may have.
const (
	Passes         Outcome = "passes"
	Fails          Outcome = "fails"
	IsError        Outcome = "is an error"
	IsInconclusive Outcome = "is inconclusive"
)

// OutcomeOf returns the outcome in Argo Rollouts (utils/evaluate) for the values of the series that a query gives.
func (c Condition) OutcomeOf(values []float64) Outcome {
	a := answer{values: values}
	succeeds, err := a.evaluateOptional(c.success)
	if err != nil {
		return IsError
	}
	isFailed, err := a.evaluateOptional(c.failure)
	if err != nil {
		return IsError
	}
	switch {
	case c.success == nil:
		succeeds = !isFailed
	case c.failure == nil:
		isFailed = !succeeds
	}
	switch {
	case isFailed:
		return Fails
	case succeeds:
		return Passes
	}
	return IsInconclusive
}

// An answer has the values that result stands for.
type answer struct{ values []float64 }

func (a answer) evaluateOptional(e ast.Expr) (bool, error) {
	if e == nil {
		return false, nil
	}
	return a.evaluateCondition(e)
}

// evaluateCondition returns whether a condition holds. It evaluates from the left, and no more than it needs, as Argo Rollouts does.
func (a answer) evaluateCondition(e ast.Expr) (bool, error) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		holds, err := a.evaluateCondition(e.X)
		return !holds, err
	case *ast.CallExpr:
		value, err := a.operandNumber(e.Args[0])
		return math.IsNaN(value), err
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			holds, err := a.evaluateCondition(e.X)
			if err != nil || holds == (e.Op == token.LOR) {
				return holds, err
			}
			return a.evaluateCondition(e.Y)
		}
		return a.evaluateComparison(e)
	}
	return false, errors.New("is not a condition")
}

func (a answer) evaluateComparison(e *ast.BinaryExpr) (bool, error) {
	left, leftErr := a.operandNumber(e.X)
	right, rightErr := a.operandNumber(e.Y)
	if err := cmp.Or(leftErr, rightErr); err != nil {
		return false, err
	}
	switch e.Op {
	case token.LSS:
		return left < right, nil
	case token.LEQ:
		return left <= right, nil
	case token.GTR:
		return left > right, nil
	case token.GEQ:
		return left >= right, nil
	case token.EQL:
		return left == right, nil
	}
	return left != right, nil
}

// operandNumber returns the number that an operand stands for.
func (a answer) operandNumber(e ast.Expr) (float64, error) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && isCallOfFunction(call, "len") {
		return float64(len(a.values)), nil
	}
	if !isMeasuredValue(e) {
		return parseSignedNumber(e)
	}
	if len(a.values) == 0 {
		return 0, errors.New("has no element")
	}
	return a.values[0], nil
}

// FitsResult reports whether Argo Rollouts can compile the conditions, where a query gives a number, or else series.
func (c Condition) FitsResult(isScalar bool) bool {
	return !slices.ContainsFunc(c.expressions(), func(e ast.Expr) bool { return !fitsResultType(e, isScalar) })
}

// fitsResultType reports whether Argo Rollouts can compile a condition: the result of a query is a number, or a list of numbers.
func fitsResultType(e ast.Expr, isScalar bool) bool {
	fits := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			fits = fits && !isScalar
			return false
		case *ast.CallExpr:
			name, isName := n.Args[0].(*ast.Ident)
			if isCallOfFunction(n, "len") {
				fits = fits && !isScalar && isName && name.Name == resultVariable
				return false
			}
			return true
		case *ast.Ident:
			fits = fits && (n.Name != resultVariable || isScalar)
		}
		return true
	})
	return fits
}
