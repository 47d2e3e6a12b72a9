package web

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates"
)

// A server returns the answer of a test.
type server fetch.Answer

func (s server) Do(context.Context, fetch.Request) (fetch.Answer, error) {
	return fetch.Answer(s), nil
}

func TestWebAnswers(t *testing.T) {
	good := `{"errors":0.25,"ready":true,"items":[1,2,3],"state":"ok","none":null}`
	long := `[` + strings.Repeat("1,", 20_000) + `1]`
	cases := map[string]struct {
		reason     string
		expression string
		status     int
		kind       string
		body       string
		want       gates.Answer
	}{
		"Number": {reason: "A number is the value of the check.", expression: "answer.errors", body: good, want: gates.Answer{Values: []float64{0.25}}},
		"Whole":  {reason: "A whole number is a value, too.", expression: "size(answer.items)", body: good, want: gates.Answer{Values: []float64{3}}},
		"Counted": {
			reason:     "An expression may count the elements of a list.",
			expression: "answer.items.filter(i, i > 1.0).size()", body: good, want: gates.Answer{Values: []float64{2}},
		},
		"Unsigned": {reason: "An unsigned number is a value.", expression: "uint(answer.items[0])", body: good, want: gates.Answer{Values: []float64{1}}},
		"True":     {reason: "True counts as the value 1.", expression: `answer.state == "ok"`, body: good, want: gates.Answer{Values: []float64{1}}},
		"False": {
			reason:     "False counts as the value 0.",
			expression: `answer.ready && answer.errors > 1.0`, body: good, want: gates.Answer{Values: []float64{0}},
		},
		"Null":    {reason: "Null counts as an answer without data.", expression: "answer.none", body: good},
		"Missing": {reason: "An absent field is an error.", expression: "answer.gone", body: good, want: gates.Answer{Problem: problemEval}},
		"Guarded": {
			reason:     "An expression with has() may use a field that is absent.",
			expression: "has(answer.gone) ? answer.gone : 7.0", body: good, want: gates.Answer{Values: []float64{7}},
		},
		"Text": {reason: "A text is not a value to judge.", expression: "answer.state", body: good, want: gates.Answer{Problem: problemNumber}},
		"HTML": {
			reason:     "A page of HTML is not an answer, whatever its body.",
			expression: "answer", kind: "text/html", body: "<html><title>Sign\n in</title>",
			want: gates.Answer{Problem: problemType + ": an HTML page: Sign in"},
		},
		"Other":  {reason: "A content type that ends in +json is JSON.", expression: "answer", kind: "application/health+json; charset=utf-8", body: "1", want: gates.Answer{Values: []float64{1}}},
		"Broken": {reason: "JSON that breaks off is not an answer.", expression: "answer", body: `{"a":`, want: gates.Answer{Problem: problemJSON}},
		"Two":    {reason: "Two JSON values after each other are not an answer.", expression: "answer", body: `1 2`, want: gates.Answer{Problem: problemJSON}},
		"Status": {
			reason:     "An answer with another status than 200 is not judged.",
			expression: "answer", status: http.StatusServiceUnavailable, body: `{"message":"starting"}`,
			want: gates.Answer{Problem: problemStatus + ": status 503 Service Unavailable: starting"},
		},
		"Many": {
			reason:     "An answer that takes much memory is not read.",
			expression: "size(answer)", body: `[` + strings.Repeat("[],", 30_000) + `1]`, want: gates.Answer{Problem: problemMany},
		},
		"Expensive": {
			reason:     "A loop in a loop ends.",
			expression: "answer.all(a, answer.all(b, answer.all(c, a == c)))", body: long,
			want: gates.Answer{Problem: (*expression.CostError)(nil).Error()},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := server{Status: http.StatusOK, ContentType: "application/json", Body: []byte(tc.body)}
			if tc.status != 0 {
				s.Status = tc.status
			}
			if tc.kind != "" {
				s.ContentType = tc.kind
			}
			u, err := Address("https://shop.example.org/health")
			if err != nil {
				t.Fatal(err)
			}
			q, err := NewQuestion(s, expression.NewReader(1), u, tc.expression)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, q.Ask(t.Context(), 0)); diff != "" {
				t.Errorf("%s\nAsk(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A failing client returns its error for each request.
type failing struct{ err error }

func (f failing) Do(context.Context, fetch.Request) (fetch.Answer, error) {
	return fetch.Answer{}, f.err
}

func TestAskWithoutAnswer(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   gates.Answer
	}{
		"Silent": {
			reason: "A server that does not answer may be the judged software itself.",
			err:    fetch.Error(fetch.ProblemSilent), want: gates.Answer{Problem: fetch.ProblemSilent},
		},
		"Slow": {
			reason: "A server that does not answer in time may be the judged software itself.",
			err:    fetch.Error(fetch.ProblemSlow), want: gates.Answer{Problem: fetch.ProblemSlow},
		},
		"Busy": {
			reason: "A question that was not sent, since the requests of other namespaces are under way, says nothing about the server.",
			err:    fetch.ErrBusy, want: gates.Answer{Problem: fetch.ErrBusy.Error(), Unavailable: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, _ := Address("https://shop.example.org")
			q, err := NewQuestion(failing{err: tc.err}, expression.NewReader(1), u, "answer")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, q.Ask(t.Context(), 0)); diff != "" {
				t.Errorf("\n%s\nAsk(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRefusedExpressions(t *testing.T) {
	u, _ := Address("https://shop.example.org")
	const want = "web.expression: is not CEL that checks may use"
	for _, text := range []string{"answer.", `answer.s.matches("(a|b)*")`} {
		if _, err := NewQuestion(server{}, expression.NewReader(1), u, text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("NewQuestion(%q): want %q, got %v", text, want, err)
		}
	}
}

func TestAddress(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://shop.example.org/a?b=c": true, "http://shop.example.org": false, "https://u:p@shop.example.org": false,
		"https://shop.example.org@evil.example.org": false, "file:///etc/passwd": false, "https://": false, "unix:///run/x.sock": false,
	} {
		if _, err := Address(text); (err == nil) != ok {
			t.Errorf("Address(%q): %v", text, err)
		}
	}
}
