package expression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// maxText is the greatest length of a concatenated text.
const maxText = 64 << 10

// allowedMacros returns the loops whose output is not larger than their input: map makes lists that hold one value many times.
func allowedMacros() []string {
	return []string{operators.Has, operators.All, operators.Exists, operators.ExistsOne, operators.Filter}
}

// allowedFunctions returns the functions with short steps. Functions for regular expressions, for bytes, and for times, whose zones are
// files, are not allowed.
func allowedFunctions() []*env.Function {
	names := []string{
		operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Conditional, operators.NotStrictlyFalse,
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
		operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate, operators.In, operators.Index,
		overloads.Size, overloads.Contains, overloads.StartsWith, overloads.EndsWith,
		overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble, overloads.TypeConvertString,
		overloads.TypeConvertBool, overloads.TypeConvertDyn,
	}
	out := make([]*env.Function, 0, len(names))
	for _, name := range names {
		out = append(out, env.NewFunction(name))
	}
	return out
}

// newEnvironment returns the environment of expressions.
func newEnvironment() (*cel.Env, error) {
	return cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(env.NewLibrarySubset().AddIncludedMacros(allowedMacros()...).AddIncludedFunctions(allowedFunctions()...))),
		cel.Variable(answerVariable, cel.DynType),
		additionOperator(),
	)
}

// additionOperator adds two values of one type, by addValues.
func additionOperator() cel.EnvOption {
	overload := func(id string, t *cel.Type) cel.FunctionOpt { return cel.Overload(id, []*cel.Type{t, t}, t) }
	return cel.Function(operators.Add, cel.SingletonBinaryBinding(addValues, traits.AdderType),
		overload(overloads.AddInt64, cel.IntType), overload(overloads.AddUint64, cel.UintType), overload(overloads.AddDouble, cel.DoubleType),
		overload(overloads.AddString, cel.StringType), overload(overloads.AddList, cel.ListType(cel.TypeParamType("A"))),
	)
}

// addValues adds numbers and short texts. Only the loops that CEL writes itself may add lists: a value that is added to itself again and again
// outgrows every bound.
func addValues(left, right ref.Val) ref.Val {
	adder, ok := left.(traits.Adder)
	if !ok {
		return types.MaybeNoSuchOverloadErr(left)
	}
	if _, list := left.(traits.Lister); list {
		if _, isMutable := left.(traits.MutableLister); !isMutable {
			return types.NewErr("lists cannot be added")
		}
	}
	if textSize(left)+textSize(right) > maxText {
		return types.NewErr("the text is too long")
	}
	return adder.Add(right)
}

func textSize(v ref.Val) int {
	if s, ok := v.(types.String); ok {
		return len(s)
	}
	return 0
}
