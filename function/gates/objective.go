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

// objectives are the checks of thresholds, by the name of their metric, with the queries of the Blueprint.
func objectives(in Input) ([]pathed, error) {
	var out []pathed
	for _, metric := range slices.Sorted(maps.Keys(in.Config.SLOThresholds)) {
		c, err := objective(in.Blueprint, metric, string(in.Config.SLOThresholds[metric]))
		if err != nil {
			return nil, errors.Wrap(err, thresholdPath(metric))
		}
		out = append(out, pathed{path: thresholdPath(metric), Check: c})
	}
	return out, nil
}

func thresholdPath(metric string) string { return "spec.gatesConfig.sloThresholds." + metric }

// objective measures one metric.
func objective(b *catalogv1alpha1.Blueprint, metric, text string) (deploymentv1alpha1.Check, error) {
	i := slices.IndexFunc(b.Spec.Metrics, func(m catalogv1alpha1.BlueprintMetric) bool { return m.Name == metric })
	if i < 0 {
		return deploymentv1alpha1.Check{}, unknownMetric(b)
	}
	m := b.Spec.Metrics[i]
	c := deploymentv1alpha1.Check{Name: metric, Type: typePrometheus, Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: m.Query}, Unit: m.Unit}
	t, err := threshold.Parse(text)
	if err != nil {
		return c, err
	}
	if t, err = t.Directed(m.Direction).In(m.Unit); err != nil {
		return c, errors.Wrapf(err, "Blueprint %s measures in another unit", b.GetName())
	}
	c.Threshold = deploymentv1alpha1.Threshold(t.String())
	c.Default()
	return c, nil
}

func unknownMetric(b *catalogv1alpha1.Blueprint) error {
	known := make([]string, 0, len(b.Spec.Metrics))
	for _, m := range b.Spec.Metrics {
		known = append(known, m.Name)
	}
	if len(known) == 0 {
		return errors.Errorf("Blueprint %s has no metrics", b.GetName())
	}
	slices.Sort(known)
	return errors.Errorf("Blueprint %s has no such metric: it has %s", b.GetName(), strings.Join(known, ", "))
}
