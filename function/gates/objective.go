package gates

import (
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
)

// compileObjectives returns the checks of the thresholds, sorted by the name of their metric, with the queries of the Blueprint.
func compileObjectives(in Input) ([]declaredCheck, error) {
	if err := checkRuleNames(in.Config); err != nil {
		return nil, err
	}
	var (
		out     []declaredCheck
		refused refusals
	)
	for _, metric := range slices.Sorted(maps.Keys(in.Config.SLOThresholds)) {
		path := in.objectivePath(metric)
		m, c, err := in.compileObjective(metric, string(in.Config.SLOThresholds[metric]))
		if err != nil {
			refused = append(refused, errors.Wrap(err, path))
			continue
		}
		rules := in.Config.MetricRules[metric]
		if err := applyMetricRules(&c, completeRules(rules, m.MetricRules)); err != nil {
			refused = append(refused, errorAtField(metricRulesPath(metric), err))
			continue
		}
		out = append(out, declaredCheck{path: path, kind: prometheusKind(), rules: rules, Check: c})
	}
	return out, refused.joinRefusals()
}

// objectivePath returns the field that declares the threshold of a metric. An intent may hold it in a sentence, which has no fields.
func (in Input) objectivePath(metric string) string {
	if field, ok := in.Objectives[metric]; ok {
		return field + ": objective " + metric
	}
	return thresholdPath(metric)
}

func thresholdPath(metric string) string { return "spec.gatesConfig.sloThresholds." + metric }

// compileObjective returns the check of one threshold, and the metric of the Blueprint that it is for.
func (in Input) compileObjective(metric, text string) (catalogv1alpha1.BlueprintMetric, deploymentv1alpha1.Check, error) {
	b := in.Blueprint
	i := slices.IndexFunc(b.Spec.Metrics, func(m catalogv1alpha1.BlueprintMetric) bool { return m.Name == metric })
	if i < 0 {
		return catalogv1alpha1.BlueprintMetric{}, deploymentv1alpha1.Check{}, unknownMetric(b)
	}
	m := b.Spec.Metrics[i]
	c := deploymentv1alpha1.Check{Name: metric, Type: typePrometheus, Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: in.queryOfMetric(m)}, Unit: m.Unit}
	t, err := threshold.Parse(text)
	if err != nil {
		return m, c, err
	}
	if t, err = t.Directed(m.Direction); err != nil {
		return m, c, err
	}
	if t, err = t.In(m.Unit); err != nil {
		return m, c, errors.Wrapf(err, "Blueprint %s measures in another unit", b.GetName())
	}
	c.Threshold = deploymentv1alpha1.Threshold(t.String())
	return m, c, nil
}

// queryOfMetric returns the query of a metric: in the steps of a canary the query for canaries, if there is one.
func (in Input) queryOfMetric(m catalogv1alpha1.BlueprintMetric) string {
	if in.Canary != "" && m.Canary != "" {
		return m.Canary
	}
	return m.Query
}

func unknownMetric(b *catalogv1alpha1.Blueprint) error {
	names := make([]string, 0, len(b.Spec.Metrics))
	for _, m := range b.Spec.Metrics {
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return errors.Errorf("Blueprint %s has no metrics, so no threshold can be judged: leave the threshold out (spec.gatesConfig.sloThresholds, "+
			"or slos in the intent), or choose a Blueprint whose spec.metrics measures it", b.GetName())
	}
	slices.Sort(names)
	return errors.Errorf("Blueprint %s has no such metric: it has %s", b.GetName(), strings.Join(names, ", "))
}
