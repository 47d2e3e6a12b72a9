// Package web asks web servers for JSON, and an expression in CEL for the number in it.
package web

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
)

// maxValues is how many values an answer may have: as JSON some bytes, and in memory some dozens.
const maxValues = 25_000

// Problems of an answer.
const (
	problemStatus = "the server does not answer with status 200"
	problemType   = "the answer is not said to be JSON"
	problemJSON   = "the answer is not JSON"
	problemMany   = "the answer has too many values"
	problemEval   = "the expression cannot be evaluated over the answer"
	problemNumber = "the expression gives neither a number nor true or false"
)

// A Doer asks one question of a web server. It returns a fetch.Error.
type Doer interface {
	Do(ctx context.Context, r fetch.Request) (fetch.Answer, error)
}

// A Reader reads expressions. A Reader with a cache saves much time: each observation makes the same question again.
type Reader interface {
	// Read an expression. It returns an error for an invalid expression.
	Read(text string) (*expression.Expression, error)
}

// A Question is an expression over the answer of a server.
type Question struct {
	doer       Doer
	url        *url.URL
	text       string
	expression *expression.Expression
}

// Address parses the URL of a server. It returns an error for a URL that is not https, or holds credentials. The error holds nothing of the URL.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("must be an https address without credentials")
	}
	return u, nil
}

// NewQuestion returns a Question. It returns an error for an invalid expression, or an expression that cannot give a number.
func NewQuestion(d Doer, r Reader, u *url.URL, text string) (*Question, error) {
	e, err := r.Read(text)
	return &Question{doer: d, url: u, text: text, expression: e}, errors.Wrap(err, "web.expression")
}

// Host that is asked.
func (q *Question) Host() string { return q.url.Host }

// Key is equal for questions that have the same answer.
func (q *Question) Key(time.Duration) string {
	return strings.Join([]string{hex.EncodeToString([]byte(q.url.String())), q.text}, "\n")
}

// Ask the server. Its answer counts as of now: only its author knows which time it speaks of. A server that does not answer may be the judged software itself.
// A question that the provider never sent, for want of a place or of memory, says nothing about any server.
func (q *Question) Ask(ctx context.Context, _ time.Duration) gates.Answer {
	response, err := q.doer.Do(ctx, fetch.Request{URL: q.url})
	if err != nil {
		return gates.Answer{Problem: err.Error(), Unavailable: errors.Is(err, fetch.ErrBusy)}
	}
	if response.Status != http.StatusOK {
		return gates.Answer{Problem: fetch.WithWords(problemStatus, response.Words(fetch.Credentials{}))}
	}
	kind, _, _ := strings.Cut(response.ContentType, ";")
	if kind = strings.ToLower(strings.TrimSpace(kind)); kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return gates.Answer{Problem: fetch.WithWords(problemType, response.Words(fetch.Credentials{}))}
	}
	if hasManyItems(response.Body) {
		return gates.Answer{Problem: problemMany}
	}
	var body any
	if json.Unmarshal(response.Body, &body) != nil {
		return gates.Answer{Problem: problemJSON}
	}
	return q.evaluateBody(ctx, body)
}

// hasManyItems is true for JSON with many values, before it is read. Text that looks like a value counts too.
func hasManyItems(body []byte) bool {
	return bytes.Count(body, []byte(","))+bytes.Count(body, []byte("["))+bytes.Count(body, []byte("{")) > maxValues
}

func (q *Question) evaluateBody(ctx context.Context, body any) gates.Answer {
	v, err := q.expression.Evaluate(ctx, body)
	var cost *expression.CostError
	switch {
	case errors.As(err, &cost):
		return gates.Answer{Problem: cost.Error()}
	case err != nil:
		return gates.Answer{Problem: problemEval} // The text of the error may repeat the answer.
	}
	return numberAnswer(v)
}

// numberAnswer returns the number of a value. True is 1, and false is 0.
func numberAnswer(v ref.Val) gates.Answer {
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
		return gates.Answer{} // The expression has no data.
	}
	return gates.Answer{Problem: problemNumber}
}
