package meter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/gates"
)

func TestServerProblem(t *testing.T) {
	problem := Problem("the Secret does not exist")
	cases := map[string]struct {
		reason   string
		question Question
		want     gates.Answer
	}{
		"Check": {reason: "A problem of a check is not an outage of its server.", question: problem, want: gates.Answer{Problem: string(problem)}},
		"Server": {
			reason: "A problem of a server is an outage.", question: ServerProblem{Problem: problem},
			want: gates.Answer{Problem: string(problem), Unavailable: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.question.Ask(t.Context(), 0)); diff != "" {
				t.Errorf("\n%s\nAsk(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestProblemsOfChecksAreSeparate lets two Gates of two namespaces be measured at the same times.
func TestProblemsOfChecksAreSeparate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := New(time.Now, func(types.NamespacedName) {}, nil)
		go func() { _ = m.Start(ctx) }()
		live := time.Now()
		troubles := []string{`host "internal.a.example" is not allowed`, "the configuration does not exist", `host "internal.c.example" is not allowed`}
		measure := func(problem string) gates.Judgement {
			return m.Measure(types.NamespacedName{Namespace: problem, Name: "g"}, "u", []Task{{
				ID: "edge1/x", Question: Problem(problem), LiveSince: live, Criteria: gates.Criteria{Limit: atMost(1)},
				Rules: gates.Rules{InitialDelay: time.Second, Interval: 5 * time.Second, Timeout: time.Minute, Count: 3, ErrorLimit: 1},
			}})[0]
		}
		for _, problem := range troubles {
			measure(problem)
		}
		<-time.After(30 * time.Second)
		synctest.Wait()
		for _, problem := range troubles {
			if got := measure(problem); got.Message != problem {
				t.Errorf("the problem %q is reported as %q", problem, got.Message)
			}
		}
	})
}
