package expression

import (
	"context"
	"math"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/intentplane/intentplane/apis/measure"
)

// Range returns the values that the expression can give, as far as they follow from its text: true counts as 1 and false as 0, a size is not negative, and
// an expression whose value depends on no answer has that value alone, as "answer.errors >= 0 || true" has.
func (e *Expression) Range() (measure.Range, error) {
	constant, err := e.evaluateWithoutAnswer()
	if err != nil {
		return measure.Range{}, err
	}
	switch constant.(type) {
	case types.Null:
		return measure.NoValue(), nil
	case types.Bool, types.Int, types.Uint, types.Double:
		return rangeOfLiteral(constant), nil
	}
	return ranger{types: e.parsed.NativeRep()}.rangeOfExpression(e.parsed.NativeRep().Expr()), nil
}

// evaluateWithoutAnswer evaluates the expression as far as it does not depend on the answer. Its result is unknown where it does.
func (e *Expression) evaluateWithoutAnswer() (ref.Val, error) {
	p, err := e.env.Program(e.parsed, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkFrequency))
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare the expression")
	}
	unknownFields, err := cel.PartialVars(map[string]any{}, cel.AttributePattern(answerVariable))
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare the answer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), evaluationTimeout)
	defer cancel()
	v, _, err := p.ContextEval(ctx, unknownFields)
	if err != nil {
		// An expression that cannot be evaluated gives errors, which are not values.
		return types.NullValue, nil
	}
	return v, nil
}

// booleanRange is the Range of true and false.
func booleanRange() measure.Range { return measure.Range{Low: 0, High: 1} }

// A ranger finds the values of the parts of an expression.
type ranger struct{ types *ast.AST }

func (r ranger) rangeOfExpression(e ast.Expr) measure.Range {
	switch e.Kind() {
	case ast.LiteralKind:
		return rangeOfLiteral(e.AsLiteral())
	case ast.CallKind:
		return r.rangeOfCall(e)
	case ast.ComprehensionKind:
		return r.rangeOfLoop(e)
	}
	return r.rangeOfType(e)
}

// rangeOfLiteral returns the value of a constant. A constant that is not a number may stand for each value.
func rangeOfLiteral(v ref.Val) measure.Range {
	switch v := v.(type) {
	case types.Bool:
		if v {
			return measure.OneValue(1)
		}
		return measure.OneValue(0)
	case types.Int:
		return measure.OneValue(float64(v))
	case types.Uint:
		return measure.OneValue(float64(v))
	case types.Double:
		return measure.OneValue(float64(v))
	}
	return measure.AnyValue()
}

func (r ranger) rangeOfCall(e ast.Expr) measure.Range {
	args := e.AsCall().Args()
	switch name := e.AsCall().FunctionName(); name {
	case overloads.Size:
		return measure.NotNegative()
	case operators.Conditional:
		return r.rangeOfExpression(args[1]).Union(r.rangeOfExpression(args[2]))
	case operators.LogicalNot:
		return oppositeRange(r.rangeOfExpression(args[0]).Intersection(booleanRange()))
	case operators.LogicalOr, operators.LogicalAnd:
		return r.rangeOfPair(name, args)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.Equals, operators.NotEquals:
		return r.rangeOfComparison(name, args)
	case operators.Negate:
		return r.rangeOfExpression(args[0]).Negative()
	case operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo:
		return rangeOfArithmetic(name, r.rangeOfExpression(args[0]), r.rangeOfExpression(args[1]))
	case overloads.TypeConvertDouble, overloads.TypeConvertDyn:
		return r.rangeOfExpression(args[0])
	case overloads.TypeConvertInt:
		return truncateRange(r.rangeOfExpression(args[0]))
	case overloads.TypeConvertUint:
		return truncateRange(r.rangeOfExpression(args[0])).Intersection(measure.NotNegative())
	}
	return r.rangeOfType(e)
}

// rangeOfPair returns the values of two conditions together. One of two opposites always holds.
func (r ranger) rangeOfPair(name string, args []ast.Expr) measure.Range {
	isEither, left, right := name == operators.LogicalOr, r.rangeOfExpression(args[0]).Intersection(booleanRange()), r.rangeOfExpression(args[1]).Intersection(booleanRange())
	switch {
	case isEither && r.areOpposites(args):
		return measure.OneValue(1)
	case r.areOpposites(args):
		return measure.OneValue(0)
	case isEither:
		return measure.Range{Low: max(left.Low, right.Low), High: max(left.High, right.High)}
	}
	return measure.Range{Low: min(left.Low, right.Low), High: min(left.High, right.High)}
}

// rangeOfComparison returns whether a comparison holds for each answer, for none, or for some. Both sides may be one expression.
func (r ranger) rangeOfComparison(name string, args []ast.Expr) measure.Range {
	left, right := r.rangeOfExpression(args[0]), r.rangeOfExpression(args[1])
	if r.areSameExpressions(args) {
		left, right = measure.OneValue(0), measure.OneValue(0)
	}
	switch name {
	case operators.LessEquals:
		return compareRanges(left, right)
	case operators.GreaterEquals:
		return compareRanges(right, left)
	case operators.Less:
		return oppositeRange(compareRanges(right, left))
	case operators.Greater:
		return oppositeRange(compareRanges(left, right))
	case operators.NotEquals:
		return oppositeRange(equalRanges(left, right))
	}
	return equalRanges(left, right)
}

// rangeOfArithmetic returns the values of a computation. The quotient of two whole numbers is cut.
func rangeOfArithmetic(name string, left, right measure.Range) measure.Range {
	switch name {
	case operators.Add:
		return left.Plus(right)
	case operators.Subtract:
		return left.Minus(right)
	case operators.Multiply:
		return left.Times(right)
	case operators.Modulo:
		return left.Remainder(right)
	}
	quotient := left.DividedBy(right)
	return quotient.Union(truncateRange(quotient))
}

// truncateRange returns the values without their fractions.
func truncateRange(r measure.Range) measure.Range {
	return measure.Range{Low: math.Trunc(r.Low), High: math.Trunc(r.High)}
}

// rangeOfLoop returns the values of a loop. Those of all and exists are true or false at first, and then have the values of their condition.
func (r ranger) rangeOfLoop(e ast.Expr) measure.Range {
	loop := e.AsComprehension()
	step := loop.LoopStep()
	if step.Kind() != ast.CallKind || !slices.Contains([]string{operators.LogicalOr, operators.LogicalAnd}, step.AsCall().FunctionName()) {
		return r.rangeOfType(e)
	}
	return r.rangeOfExpression(loop.AccuInit()).Union(r.rangeOfExpression(step.AsCall().Args()[1])).Intersection(booleanRange())
}

// compareRanges returns whether each value of the lesser Range is at most each value of the greater: 1 if all are, 0 if none is, and else both.
func compareRanges(lesser, greater measure.Range) measure.Range {
	switch {
	case lesser.High <= greater.Low:
		return measure.OneValue(1)
	case lesser.Low > greater.High:
		return measure.OneValue(0)
	}
	return booleanRange()
}

// equalRanges returns whether each value of a Range equals each value of another: 1 if both have one value, 0 if they have none in common, and else both.
func equalRanges(left, right measure.Range) measure.Range {
	common := left.Intersection(right)
	switch {
	case common.Low > common.High:
		return measure.OneValue(0)
	case left.IsConstant() && left == right:
		return measure.OneValue(1)
	}
	return booleanRange()
}

func oppositeRange(r measure.Range) measure.Range {
	return measure.Range{Low: 1 - r.High, High: 1 - r.Low}
}

// rangeOfType returns the values that the type of an expression has.
func (r ranger) rangeOfType(e ast.Expr) measure.Range {
	switch t := r.types.GetType(e.ID()); {
	case t.IsExactType(cel.BoolType):
		return booleanRange()
	case t.IsExactType(cel.UintType):
		return measure.NotNegative()
	}
	return measure.AnyValue()
}
