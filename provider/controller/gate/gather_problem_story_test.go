package gate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/gates/meter"
)

type below float64

func (b below) Holds(v float64) bool { return v < float64(b) }

// TestProblemsOfChecksAreSeparate lets two Gates of two namespaces be measured at the same times.
func TestProblemsOfChecksAreSeparate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := meter.New(time.Now, func(types.NamespacedName) {}, nil)
		go func() { _ = m.Start(ctx) }()
		live, troubles := time.Now(), []string{`host "internal.a.example" is not allowed`, "the configuration does not exist", `host "internal.c.example" is not allowed`}
		measure := func(problem string) gates.Judgement {
			return m.Measure(types.NamespacedName{Namespace: problem, Name: "g"}, "u", []meter.Task{{
				ID: "edge1/x", Question: problemQuestion(problem), LiveSince: live, Criteria: gates.Criteria{Limit: below(1)},
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
