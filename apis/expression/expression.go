// Package expression reads and evaluates the expressions of web checks, which are CEL, over answers of servers that nobody trusts.
//
// CEL counts what an expression costs after each step, and lets nothing end a step, so that no step may be long: nothing here matches
// regular expressions, and nothing makes a value that is larger than the answer, or refers to it more often than the answer does. To
// compare two such values would take longer than anybody waits, and to hold one more memory than there is.
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
	"k8s.io/utils/lru"
)

const (
	// maxCharacters of an expression.
	maxCharacters = 1024

	// maxCost of evaluating one, as CEL counts it: enough to look at each of some thousand elements, and over in milliseconds.
	maxCost = 100_000

	// checkFrequency is after how many steps of a loop CEL looks whether its time is over.
	checkFrequency = 10

	// evaluation is how long it may take at most.
	evaluation = time.Second

	// variable is what an expression calls the answer.
	variable = "answer"

	// accumulator is what CEL calls the result of a loop, and nobody else may.
	accumulator = "__result__"
)

// An Expression is one that was read.
type Expression struct {
	program cel.Program
}

// A CostError is an expression that costs too much to evaluate.
type CostError struct{}

// Error says no more than that.
func (*CostError) Error() string { return "the expression costs too much to evaluate over the answer" }

// A Reader reads expressions, and remembers the last ones, also those that are none. It may be used by several goroutines.
type Reader struct {
	env   func() (*cel.Env, error)
	known *lru.Cache
}

type reading struct {
	expression *Expression
	err        error
}

// NewReader returns a Reader that remembers so many expressions.
func NewReader(expressions int) *Reader {
	return &Reader{env: sync.OnceValues(environment), known: lru.New(expressions)}
}

// Read an expression. It returns an error for one that is not CEL, that cannot give a number, or that might make values which are larger
// than an answer.
func (r *Reader) Read(text string) (*Expression, error) {
	if len(text) > maxCharacters {
		return nil, errors.Errorf("has more than %d characters", maxCharacters)
	}
	if known, ok := r.known.Get(text); ok {
		if k, ok := known.(reading); ok {
			return k.expression, k.err
		}
	}
	e, err := r.read(text)
	r.known.Add(text, reading{expression: e, err: err})
	return e, err
}

func (r *Reader) read(text string) (*Expression, error) {
	env, err := r.env()
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare CEL")
	}
	if strings.Contains(text, accumulator) {
		return nil, errors.Errorf("%s is CEL's own", accumulator)
	}
	parsed, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, errors.Errorf("is not CEL that checks may use: %.200s", issues.Errors()[0].Message)
	}
	if err := check(parsed); err != nil {
		return nil, err
	}
	p, err := env.Program(parsed, cel.CostLimit(maxCost), cel.CostTracking(costs{}), cel.InterruptCheckFrequency(checkFrequency))
	return &Expression{program: p}, errors.Wrap(err, "cannot prepare the expression")
}

// check that an expression gives a number, and makes nothing that refers to two things at once.
func check(parsed *cel.Ast) error {
	switch t := parsed.OutputType(); {
	case t.IsExactType(cel.DynType), t.IsExactType(cel.BoolType), t.IsExactType(cel.IntType), t.IsExactType(cel.UintType), t.IsExactType(cel.DoubleType):
	default:
		return errors.New("gives neither a number nor true or false")
	}
	large := false
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) { large = large || parts(e) > 1 }))
	if large {
		return errors.New("makes a list or a map of several things that are not constants")
	}
	return nil
}

// parts that a list or a map is made from, without constants.
func parts(e ast.Expr) int {
	of := []ast.Expr{}
	if e.Kind() == ast.ListKind {
		of = e.AsList().Elements()
	}
	if e.Kind() == ast.MapKind {
		for _, entry := range e.AsMap().Entries() {
			of = append(of, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	}
	n := 0
	for _, part := range of {
		if part.Kind() != ast.LiteralKind {
			n++
		}
	}
	return n
}

// Evaluate over an answer, which is JSON. It returns a CostError for what would take too long, and an error, which may repeat the answer,
// for what cannot be evaluated.
func (e *Expression) Evaluate(ctx context.Context, answer any) (ref.Val, error) {
	ctx, cancel := context.WithTimeout(ctx, evaluation)
	defer cancel()
	v, _, err := e.program.ContextEval(ctx, map[string]any{variable: answer})
	if err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "cost limit exceeded")) {
		return types.NullValue, &CostError{}
	}
	return v, errors.Wrap(err, "cannot evaluate the expression")
}
