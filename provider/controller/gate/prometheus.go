package gate

import (
	"context"
	"fmt"
	"time"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
)

// prometheusKind is the kind of checks which ask a Prometheus server.
func prometheusKind() kind {
	return kind{
		name:  "Prometheus",
		isSet: func(c *v1alpha1.GateCheck) bool { return c.Prometheus != nil },
		allow: func(site *catalogv1alpha1.Site, k config, c v1alpha1.GateCheck) error {
			return policy.CheckPrometheus(site, k.kind, k.spec, c.Prometheus)
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
		if a, err = e.findServer(ctx, s.config, s.site, c.Prometheus.Address); err != nil {
			return "", err
		}
		s.servers[key] = a
	}
	if a.problem != "" {
		t.Question = a.failingQuestion()
		return "", nil
	}
	denied, err := e.deniedQuery(ctx, s.reconcileCache, s.config, c, s.site)
	if err != nil {
		return "", err
	}
	if denied != "" { // A Blueprint that was changed makes another revision, and this Gate waits for that one.
		t.Question = answer{problem: denied, outage: true}.failingQuestion()
		return "", nil
	}
	q, err := prometheus.NewQuestion(e.clientFor(s.gate.GetNamespace()), e.memory.queries, a.server, c.Prometheus.Query, t.Criteria.MinSamples > 1)
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
