package gates

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/function/catalog"
)

const typePrometheus = "Prometheus"

// prometheusKind returns the kind of checks that query a Prometheus server.
func prometheusKind() kind {
	return kind{
		block:      "prometheus",
		isSet:      func(check *deploymentv1alpha1.Check) bool { return check.Prometheus != nil },
		read:       readOwnQuery,
		canFail:    queryCanFail,
		fillWeight: queryFillWeight,
		fill:       fillCheckQuery,
		allow:      checkQueryAllowed,
		textBytes:  func(check *deploymentv1alpha1.Check) int { return len(check.Prometheus.Query) },
		lead:       queryLead,
	}
}

// readOwnQuery reads a query that the deployment declares. All of them together are bounded, before the next query is read.
func readOwnQuery(c *Compiler, check *deploymentv1alpha1.Check, weight *int) error {
	t, err := c.queries.Parse(check.Prometheus.Query)
	if err != nil {
		return errors.Wrap(err, "prometheus.query")
	}
	if err := t.CheckNoTracks(); err != nil {
		return errors.Wrap(err, "prometheus.query")
	}
	if *weight += t.Weight(); *weight > promql.MaxWeight {
		return errors.New("prometheus.query: the regular expressions of this query and of those before it take too long to compile")
	}
	return nil
}

func queryCanFail(c *Compiler, check *deploymentv1alpha1.Check, limit threshold.Threshold) (bool, error) {
	t, err := c.queries.Parse(check.Prometheus.Query)
	if err != nil {
		return false, errors.Wrap(err, "prometheus.query")
	}
	return t.CanFail(limit, check.NoData), nil
}

// queryFillWeight returns the weight of a query whose regular expressions depend on the Site. Others are compiled once for all Sites.
func queryFillWeight(c *Compiler, check *deploymentv1alpha1.Check) (int, error) {
	t, err := c.queries.Parse(check.Prometheus.Query)
	if err != nil {
		return 0, errors.Wrap(err, "prometheus.query")
	}
	if t.Constant() {
		return 0, nil
	}
	return t.Weight(), nil
}

func fillCheckQuery(c *Compiler, in Input, check *deploymentv1alpha1.Check) error {
	v := promql.Values{Service: in.Service, Namespace: in.Namespace, Site: check.Site, Canary: in.Canary, Stable: in.Stable}
	filled, err := c.fillCachedQuery(check.Prometheus.Query, v)
	if err != nil {
		return errors.Wrap(err, "prometheus.query")
	}
	check.Prometheus.Query = filled
	return nil
}

// fillCachedQuery puts values into a query, and remembers the result.
func (c *Compiler) fillCachedQuery(query string, v promql.Values) (string, error) {
	return c.filled.Remember(memo.KeyOf(fmt.Sprintf("%q%q", query, v)), func() (string, int, error) {
		t, err := c.queries.Parse(query)
		if err != nil {
			return "", 0, err
		}
		filled, err := t.Fill(v)
		if err != nil {
			return "", 0, err
		}
		if n := utf8.RuneCountInString(filled); n > maxQueryLength {
			return "", 0, errors.Errorf("has %d characters with its values, more than %d", n, maxQueryLength)
		}
		return filled, len(filled), nil
	})
}

// checkQueryAllowed checks that a server is configured and allowed, and that it may get this query.
func checkQueryAllowed(c *Compiler, _ Input, p catalog.Place, check *declaredCheck) error {
	if err := policy.CheckPrometheus(&p.Site, p.ConfigRef.Kind, &p.Config, check.Prometheus); err != nil {
		return err
	}
	if !c.loopback {
		if err := policy.CheckMetricsServer(&p.Site, p.ConfigRef.Kind, &p.Config, check.Prometheus); err != nil {
			return err
		}
	}
	if !check.fromDeployment {
		return nil
	}
	return policy.CheckOwnQuery(&p.Site, &p.Config, check.Prometheus)
}

// queryLead returns the longest window and offset of a query. It is zero for an invalid query, which another check refuses.
func queryLead(check *deploymentv1alpha1.Check) time.Duration {
	reach, err := promql.ReachOf(check.Prometheus.Query)
	if err != nil {
		return 0
	}
	return reach.Lead()
}
