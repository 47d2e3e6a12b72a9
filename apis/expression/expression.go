// Package expression reads and evaluates the expressions of web checks, which are CEL, over answers of servers that are not trusted.
//
// CEL adds up the cost of an expression after each step, and cannot interrupt a step, so that no step may be long: no function matches
// regular expressions, and no expression makes a value that is larger than the answer, or refers to it more often than the answer does. To
// compare two such values would take longer than any caller waits, and to hold one would take more memory than a machine has.
package expression

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/intentplane/intentplane/apis/memo"
)

const (
	// maxCharacters of an expression.
	maxCharacters = 1024

	// maxCost of evaluating one, as CEL counts it: enough to look at each of some thousand elements, and over in milliseconds.
	maxCost = 100_000

	// checkFrequency is the number of loop steps between two checks of the deadline by CEL.
	checkFrequency = 10

	// evaluationTimeout is the timeout of an evaluation.
	evaluationTimeout = time.Second

	// bytesPerCharacter is a high estimate of the memory of a compiled expression for each of its characters.
	bytesPerCharacter = 512

	// answerVariable is the name of the answer in an expression.
	answerVariable = "answer"

	// accumulatorName is the name that CEL gives to the result of a loop. Expressions may not use it.
	accumulatorName = "__result__"
)

// An Expression is a compiled CEL expression that returns a number.
type Expression struct {
	program cel.Program

	// env and parsed are the environment and the syntax tree of the program.
	env    *cel.Env
	parsed *cel.Ast
}

// A CostError is an expression that costs too much to evaluate.
type CostError struct{}

// Error returns a message without the answer.
func (*CostError) Error() string { return "the expression costs too much to evaluate over the answer" }

// A Reader reads expressions, and caches the last results, also of invalid expressions, up to a number of bytes: a compiled expression takes many times
// the memory of its text, and tenants write the texts. It may be used by several goroutines.
type Reader struct {
	env   func() (*cel.Env, error)
	known *memo.Memo[cachedResult]
}

type cachedResult struct {
	expression *Expression
	err        error
}

// NewReader returns a Reader that caches so many bytes.
func NewReader(maxBytes int) *Reader {
	return &Reader{env: sync.OnceValues(newEnvironment), known: memo.New[cachedResult](maxBytes)}
}

// Read compiles an expression. It returns an error for an expression that is not CEL, that cannot give a number, or that might make
// values larger than an answer.
func (r *Reader) Read(text string) (*Expression, error) {
	if len(text) > maxCharacters {
		return nil, errors.Errorf("has more than %d characters", maxCharacters)
	}
	key := memo.KeyOf(text)
	if cached, ok := r.known.Get(key); ok {
		return cached.expression, cached.err
	}
	e, err := r.compileExpression(text)
	r.known.Put(key, cachedResult{expression: e, err: err}, bytesPerCharacter*len(text))
	return e, err
}

func (r *Reader) compileExpression(text string) (*Expression, error) {
	env, err := r.env()
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare CEL")
	}
	if strings.Contains(text, accumulatorName) {
		return nil, errors.Errorf("%s is CEL's own", accumulatorName)
	}
	parsed, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, errors.Errorf("is not CEL that checks may use: %.200s", issues.Errors()[0].Message)
	}
	if err := checkExpression(parsed); err != nil {
		return nil, err
	}
	p, err := env.Program(parsed, cel.CostLimit(maxCost), cel.CostTracking(costs{}), cel.InterruptCheckFrequency(checkFrequency))
	return &Expression{program: p, env: env, parsed: parsed}, errors.Wrap(err, "cannot prepare the expression")
}

// checkExpression returns an error unless an expression gives a number or a boolean, and makes no list or map of several values.
func checkExpression(parsed *cel.Ast) error {
	switch t := parsed.OutputType(); {
	case t.IsExactType(cel.DynType), t.IsExactType(cel.BoolType), t.IsExactType(cel.IntType), t.IsExactType(cel.UintType), t.IsExactType(cel.DoubleType):
	default:
		return errors.New("gives neither a number nor true or false")
	}
	large := false
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) { large = large || countVariableParts(e) > 1 }))
	if large {
		return errors.New("makes a list or a map of several things that are not constants")
	}
	return nil
}

// countVariableParts returns the number of parts that a list or a map is made from, without constants.
func countVariableParts(e ast.Expr) int {
	parts := []ast.Expr{}
	if e.Kind() == ast.ListKind {
		parts = e.AsList().Elements()
	}
	if e.Kind() == ast.MapKind {
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	}
	n := 0
	for _, part := range parts {
		if part.Kind() != ast.LiteralKind {
			n++
		}
	}
	return n
}

// Evaluate evaluates the expression over an answer, which is JSON. It returns a CostError for an evaluation that exceeds its cost or time limit, and
// otherwise an error, which may repeat the answer, for an evaluation that fails.
func (e *Expression) Evaluate(ctx context.Context, answer any) (ref.Val, error) {
	ctx, cancel := context.WithTimeout(ctx, evaluationTimeout)
	defer cancel()
	v, _, err := e.program.ContextEval(ctx, map[string]any{answerVariable: answer})
	if err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "cost limit exceeded")) {
		return types.NullValue, &CostError{}
	}
	return v, errors.Wrap(err, "cannot evaluate the expression")
}
