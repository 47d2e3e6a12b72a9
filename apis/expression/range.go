package expression

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
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
	switch v := constant.(type) {
	case types.Null:
		return measure.NoValue(), nil
	case types.Bool:
		if v {
			return measure.OneValue(1), nil
		}
		return measure.OneValue(0), nil
	case types.Int:
		return measure.OneValue(float64(v)), nil
	case types.Uint:
		return measure.OneValue(float64(v)), nil
	case types.Double:
		return measure.OneValue(float64(v)), nil
	}
	return rangeOfType(e.parsed), nil
}

// evaluateWithoutAnswer evaluates the expression as far as it does not depend on the answer. Its result is unknown where it does.
func (e *Expression) evaluateWithoutAnswer() (ref.Val, error) {
	p, err := e.env.Program(e.parsed, cel.EvalOptions(cel.OptPartialEval), cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkFrequency))
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare the expression")
	}
	unknown, err := cel.PartialVars(map[string]any{}, cel.AttributePattern(answerVariable))
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare the answer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), evaluationTimeout)
	defer cancel()
	v, _, err := p.ContextEval(ctx, unknown)
	if err != nil {
		// An expression that cannot be evaluated gives errors, which are not values.
		return types.NullValue, nil //nolint:nilerr // The error is one of each measurement.
	}
	return v, nil
}

// rangeOfType returns the values that the type of an expression has.
func rangeOfType(parsed *cel.Ast) measure.Range {
	switch t := parsed.OutputType(); {
	case t.IsExactType(cel.BoolType):
		return measure.Range{Low: 0, High: 1}
	case t.IsExactType(cel.UintType), isSize(parsed.NativeRep().Expr()):
		return measure.NotNegative()
	}
	return measure.AnyValue()
}

func isSize(e ast.Expr) bool {
	return e.Kind() == ast.CallKind && e.AsCall().FunctionName() == overloads.Size
}
