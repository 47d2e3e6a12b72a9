package gate

import (
	"context"
	"fmt"
	"time"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/endpoint"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
)

// prometheusKind is the kind of checks which ask a Prometheus server.
func prometheusKind() kind {
	return kind{
		name:  "Prometheus",
		isSet: func(c *v1alpha1.GateCheck) bool { return c.Prometheus != nil },
		allow: func(site *catalogv1alpha1.Site, k endpoint.Config, c v1alpha1.GateCheck) error {
			return policy.CheckPrometheus(site, k.Kind, k.Spec, c.Prometheus)
		},
		ask:  askPrometheus,
		lead: leadOfQuery,
	}
}

// askPrometheus asks the server of the check, the Site or the configuration, which is read once for all checks of a Gate that have the same.
func askPrometheus(ctx context.Context, e *external, s subject, t *meter.Task) (string, error) {
	c := s.check
	key := fmt.Sprintf("%s\n%s\n%v", c.Site, c.Prometheus.Address, s.gate.ConfigOf(c))
	a, ok := s.servers[key]
	if !ok {
		var err error
		if a, err = endpoint.Find(ctx, e.kube, s.config, s.site, c.Prometheus.Address); err != nil {
			return "", err
		}
		s.servers[key] = a
	}
	if a.Problem != "" {
		t.Question = failingQuestion(a)
		return "", nil
	}
	denied, err := e.deniedQuery(ctx, s.reconcileCache, s.config, c, s.site)
	if err != nil {
		return "", err
	}
	if denied != "" { // A Blueprint that was changed makes another revision, and this Gate waits for that one.
		t.Question = meter.ServerProblem{Problem: meter.Problem(denied)}
		return "", nil
	}
	q, err := prometheus.NewQuestion(e.clientFor(s.gate.GetNamespace()), e.memory.queries, a.Server, c.Prometheus.Query, t.Criteria.MinSamples > 1)
	if err != nil {
		return err.Error(), nil //nolint:nilerr // The query is invalid, so that the check can never be measured.
	}
	t.Question, t.Host, t.Lead = q, q.Host(), q.Lead()
	return "", nil
}

// leadOfQuery returns the longest window and offset of a query. It is zero for an invalid query, whose measurement returns the error.
func leadOfQuery(e *external, c v1alpha1.GateCheck) time.Duration {
	reach, err := e.memory.queries.ReachOf(c.Prometheus.Query)
	if err != nil {
		return 0
	}
	return reach.Lead()
}
