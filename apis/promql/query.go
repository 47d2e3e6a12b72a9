package promql

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// A Query measures one metric.
type Query struct {
	// Metric that is measured, as it is called in sloThresholds.
	Metric string

	// Text of the query in PromQL.
	Text string

	// Unit of the value. Empty means no unit.
	Unit string

	// Direction is the good side of a threshold that is a bare number.
	Direction catalogv1alpha1.Direction
}

// Bounds of all queries of a Blueprint, or of a claim.
const (
	maxTogether = 16 << 10

	// MaxWeight of their regular expressions: the weight of each is bounded, and many of them would still take long.
	MaxWeight = 2 * maxWeight
)

// Check returns an error that names the first query of a Blueprint which is not valid, by its path.
func Check(metrics []catalogv1alpha1.BlueprintMetric) error {
	_, err := parseMetricQueries(metrics)
	return err
}

// Queries returns the queries of the metrics of a Blueprint, in their order. It returns an error, with the path, for a query that
// is not valid, and for values that it cannot be filled with.
func Queries(metrics []catalogv1alpha1.BlueprintMetric, v Values) ([]Query, error) {
	templates, err := parseMetricQueries(metrics)
	if err != nil {
		return nil, err
	}
	out := make([]Query, 0, len(metrics))
	for i, m := range metrics {
		text, err := templates[i].Fill(v)
		if err != nil {
			return nil, errors.Wrapf(err, "spec.metrics[%d].query", i)
		}
		out = append(out, Query{Metric: m.Name, Text: text, Unit: m.Unit, Direction: m.Direction})
	}
	return out, nil
}

// parseMetricQueries returns the templates of the queries. It checks queries for canaries, too.
func parseMetricQueries(metrics []catalogv1alpha1.BlueprintMetric) ([]*Template, error) {
	out, sum := make([]*Template, 0, len(metrics)), total{}
	for i, m := range metrics {
		t, err := sum.parseNextQuery(m.Query)
		if err == nil {
			err = t.CheckNoTracks()
		}
		if err != nil {
			return nil, errors.Wrapf(err, "spec.metrics[%d].query", i)
		}
		out = append(out, t)
		if m.Canary == "" {
			continue
		}
		if _, err := sum.parseNextQuery(m.Canary); err != nil {
			return nil, errors.Wrapf(err, "spec.metrics[%d].canary", i)
		}
	}
	return out, nil
}

// total is the summed size of the parsed queries.
type total struct{ bytes, weight int }

func (sum *total) parseNextQuery(query string) (*Template, error) {
	if sum.bytes += len(query); sum.bytes > maxTogether {
		return nil, errors.Errorf("the queries have more than %d bytes together", maxTogether)
	}
	t, err := Parse(query)
	if err != nil {
		return nil, err
	}
	if sum.weight += t.Weight(); sum.weight > MaxWeight {
		return nil, errors.New("the regular expressions of all queries together take too long to compile")
	}
	if t.isConstantQuery() {
		return nil, errors.Errorf("gives %g each time, so that it measures nothing: select a metric", t.values.Low)
	}
	return t, nil
}
