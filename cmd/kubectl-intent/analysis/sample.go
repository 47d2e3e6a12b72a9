package analysis

import (
	"cmp"
	"go/ast"
	"go/token"
	"math"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
)

// A sample is an answer of a metrics server which a check and a metric of Argo Rollouts may judge differently.
type sample struct {
	difference string
	values     []float64
}

// samples returns the answers of at most one series that a query can have beside a finite value.
func samples(isScalar bool) []sample {
	out := []sample{
		{difference: DifferenceNotANumber, values: []float64{math.NaN()}},
		{difference: DifferencePlusInfinity, values: []float64{math.Inf(1)}},
		{difference: DifferenceMinusInfinity, values: []float64{math.Inf(-1)}},
	}
	if isScalar {
		return out
	}
	return append([]sample{{difference: DifferenceNoData}}, out...)
}

// outcomeHere returns the outcome of a check.
func (s sample) outcomeHere(c condition) outcome {
	if (len(s.values) == 0 || math.IsNaN(s.values[0])) && c.noData == noDataPass {
		return passes
	}
	return fails
}

// outcomeInArgo returns the outcome of a metric with two conditions, each of which may be absent (utils/evaluate of Argo Rollouts).
func (s sample) outcomeInArgo(success, failure ast.Expr) outcome {
	succeeds, err := s.evaluateOptional(success)
	if err != nil {
		return isError
	}
	isFailed, err := s.evaluateOptional(failure)
	if err != nil {
		return isError
	}
	switch {
	case success == nil:
		succeeds = !isFailed
	case failure == nil:
		isFailed = !succeeds
	}
	switch {
	case isFailed:
		return fails
	case succeeds:
		return passes
	}
	return isInconclusive
}

func (s sample) evaluateOptional(e ast.Expr) (bool, error) {
	if e == nil {
		return false, nil
	}
	return s.evaluate(e)
}

// evaluate returns whether a condition holds. It evaluates from the left, and no more than it needs, as Argo Rollouts does.
func (s sample) evaluate(e ast.Expr) (bool, error) {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		holds, err := s.evaluate(e.X)
		return !holds, err
	case *ast.CallExpr:
		value, err := s.number(e.Args[0])
		return math.IsNaN(value), err
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			holds, err := s.evaluate(e.X)
			if err != nil || holds == (e.Op == token.LOR) {
				return holds, err
			}
			return s.evaluate(e.Y)
		}
		return s.compare(e)
	}
	return false, errors.New("is not a condition")
}

func (s sample) compare(e *ast.BinaryExpr) (bool, error) {
	left, leftErr := s.number(e.X)
	right, rightErr := s.number(e.Y)
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

// number returns the number that an operand stands for.
func (s sample) number(e ast.Expr) (float64, error) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && isCallOf(call, "len") {
		return float64(len(s.values)), nil
	}
	if !isValue(e) {
		return numberOf(e)
	}
	if len(s.values) == 0 {
		return 0, errors.New("has no element")
	}
	return s.values[0], nil
}

// fitsResult reports whether Argo Rollouts can compile a condition: the result of a query is a number, or a list of numbers.
func fitsResult(e ast.Expr, isScalar bool) bool {
	fits := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			fits = fits && !isScalar
			return false
		case *ast.CallExpr:
			name, isName := n.Args[0].(*ast.Ident)
			if isCallOf(n, "len") {
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

// noteQuery adds a note about the answers of a query that Argo Rollouts judges differently.
func (c *converter) noteQuery(path string, conditions condition, check deploymentv1alpha1.Check) {
	query, err := promql.Parse(check.Prometheus.Query)
	if err != nil {
		return // The query is refused.
	}
	n := verdictNote{judge: judgeArgo}
	if slices.ContainsFunc(conditions.expressions(), func(e ast.Expr) bool { return !fitsResult(e, query.IsScalar()) }) {
		n.addText(DifferenceEachMeasurement, "is an error in Argo Rollouts: result is a list where the query gives series, and else a number")
		c.noteDifferences(path, n)
		return
	}
	for _, s := range samples(query.IsScalar()) {
		n.add(s.difference, s.outcomeHere(conditions), s.outcomeInArgo(conditions.success, conditions.failure))
	}
	if !query.GivesOneSeries() {
		n.addText(DifferenceSeveralSeries, "is an error, and Argo Rollouts judges the first")
	}
	n.add(DifferenceUnanswered, doesNotCount, isError)
	n.addFailures(conditions.bounds, check)
	c.noteDifferences(path, n)
}
