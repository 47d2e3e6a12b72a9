// Package web asks web servers for JSON, and an expression in CEL for the number in it.
package web

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/fetch"
)

const (
	// maxCharacters of an expression.
	maxCharacters = 1024

	// maxCost of evaluating one, as CEL counts it: enough to look at each of some thousand elements, and over in milliseconds.
	maxCost = 100_000

	// checkFrequency is after how many steps of a loop CEL looks whether its time is over.
	checkFrequency = 100

	// evaluation is how long it may take at most.
	evaluation = time.Second

	// variable is what an expression calls the answer.
	variable = "answer"
)

// Problems of an answer.
const (
	problemStatus = "the server does not answer with status 200"
	problemType   = "the answer is not said to be JSON"
	problemJSON   = "the answer is not JSON"
	problemEval   = "the expression cannot be evaluated over the answer"
	problemCost   = "the expression costs too much to evaluate over the answer"
	problemNumber = "the expression gives neither a number nor true or false"
)

// A Doer asks one question of a web server. It returns a fetch.Error.
type Doer interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Answer, error)
}

// A Question is an expression over the answer of a server.
type Question struct {
	doer    Doer
	url     *url.URL
	text    string
	program cel.Program
}

// Address parses the URL of a server. It returns an error for one that is not https, or holds credentials. The error holds nothing of it.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("must be an https address without credentials")
	}
	return u, nil
}

// NewQuestion returns a Question. It returns an error for an expression that is none, or cannot give a number.
func NewQuestion(d Doer, u *url.URL, expression string) (*Question, error) {
	p, err := compile(expression)
	return &Question{doer: d, url: u, text: expression, program: p}, err
}

func compile(expression string) (cel.Program, error) {
	if len(expression) > maxCharacters {
		return nil, errors.Errorf("the expression has more than %d characters", maxCharacters)
	}
	env, err := cel.NewEnv(cel.Variable(variable, cel.DynType))
	if err != nil {
		return nil, errors.Wrap(err, "cannot prepare CEL")
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, errors.Wrap(issues.Err(), "the expression is not CEL")
	}
	switch t := ast.OutputType(); {
	case t.IsExactType(cel.DynType), t.IsExactType(cel.BoolType), t.IsExactType(cel.IntType), t.IsExactType(cel.UintType), t.IsExactType(cel.DoubleType):
	default:
		return nil, errors.New(problemNumber)
	}
	p, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(checkFrequency))
	return p, errors.Wrap(err, "cannot prepare the expression")
}

// Host that is asked.
func (q *Question) Host() string { return q.url.Host }

// Key is equal for questions that have the same answer.
func (q *Question) Key(time.Duration) string {
	return strings.Join([]string{hex.EncodeToString([]byte(q.url.String())), q.text}, "\n")
}

// Ask the server. What it says is of now: nobody but its own author knows what it speaks about.
func (q *Question) Ask(ctx context.Context, _ time.Duration) gates.Answer {
	said, err := q.doer.Do(ctx, fetch.Request{URL: q.url})
	if err != nil {
		return gates.Answer{Problem: err.Error()}
	}
	if said.Status != http.StatusOK {
		return gates.Answer{Problem: problemStatus}
	}
	kind, _, _ := strings.Cut(said.ContentType, ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return gates.Answer{Problem: problemType}
	}
	var body any
	if json.Unmarshal(said.Body, &body) != nil {
		return gates.Answer{Problem: problemJSON}
	}
	return q.evaluate(ctx, body)
}

func (q *Question) evaluate(ctx context.Context, body any) gates.Answer {
	ctx, cancel := context.WithTimeout(ctx, evaluation)
	defer cancel()
	v, _, err := q.program.ContextEval(ctx, map[string]any{variable: body})
	switch {
	case err != nil && (ctx.Err() != nil || strings.Contains(err.Error(), "cost limit exceeded")):
		return gates.Answer{Problem: problemCost}
	case err != nil:
		return gates.Answer{Problem: problemEval} // What the error says may repeat the answer.
	}
	return number(v)
}

// number of a value. True is 1, and false is 0.
func number(v ref.Val) gates.Answer {
	switch v := v.(type) {
	case types.Bool:
		if v {
			return gates.Answer{Values: []float64{1}}
		}
		return gates.Answer{Values: []float64{0}}
	case types.Double:
		return gates.Answer{Values: []float64{float64(v)}}
	case types.Int:
		return gates.Answer{Values: []float64{float64(v)}}
	case types.Uint:
		return gates.Answer{Values: []float64{float64(v)}}
	case types.Null:
		return gates.Answer{} // There is no data.
	}
	return gates.Answer{Problem: problemNumber}
}
