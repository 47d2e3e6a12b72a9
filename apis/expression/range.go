package expression

import (
	"context"

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
	return ranger{types: e.parsed.NativeRep()}.rangeOf(e.parsed.NativeRep().Expr()), nil
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

// truth is the Range of true and false.
func truth() measure.Range { return measure.Range{Low: 0, High: 1} }

// A ranger finds the values of the parts of an expression.
type ranger struct{ types *ast.AST }

func (r ranger) rangeOf(e ast.Expr) measure.Range {
	switch e.Kind() {
	case ast.LiteralKind:
		return rangeOfLiteral(e.AsLiteral())
	case ast.CallKind:
		return r.rangeOfCall(e)
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
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case overloads.Size:
		return measure.NotNegative()
	case operators.Conditional:
		return r.rangeOf(args[1]).Union(r.rangeOf(args[2]))
	case operators.LessEquals:
		return compareRanges(r.rangeOf(args[0]), r.rangeOf(args[1]))
	case operators.GreaterEquals:
		return compareRanges(r.rangeOf(args[1]), r.rangeOf(args[0]))
	case operators.Less:
		return oppositeOf(compareRanges(r.rangeOf(args[1]), r.rangeOf(args[0])))
	case operators.Greater:
		return oppositeOf(compareRanges(r.rangeOf(args[0]), r.rangeOf(args[1])))
	case operators.LogicalNot:
		return oppositeOf(r.rangeOf(args[0]).Intersection(truth()))
	}
	return r.rangeOfType(e)
}

// compareRanges returns whether each value of the lesser Range is at most each value of the greater: 1 if all are, 0 if none is, and else both.
func compareRanges(lesser, greater measure.Range) measure.Range {
	switch {
	case lesser.High <= greater.Low:
		return measure.OneValue(1)
	case lesser.Low > greater.High:
		return measure.OneValue(0)
	}
	return truth()
}

func oppositeOf(r measure.Range) measure.Range {
	return measure.Range{Low: 1 - r.High, High: 1 - r.Low}
}

// rangeOfType returns the values that the type of an expression has.
func (r ranger) rangeOfType(e ast.Expr) measure.Range {
	switch t := r.types.GetType(e.ID()); {
	case t.IsExactType(cel.BoolType):
		return truth()
	case t.IsExactType(cel.UintType):
		return measure.NotNegative()
	}
	return measure.AnyValue()
}
