package controlplane

import (
	"context"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
)

// Metrics are the metrics of one component, by name.
type Metrics map[string]*dto.MetricFamily

// CoreMetrics returns the metrics of Crossplane's core. It returns an error if core does not serve them.
func (c *ControlPlane) CoreMetrics(ctx context.Context) (Metrics, error) {
	return scrapeMetrics(ctx, c.ports.coreMetrics)
}

// ProviderMetrics returns the metrics of the provider. It returns an error if the provider does not serve them.
func (c *ControlPlane) ProviderMetrics(ctx context.Context) (Metrics, error) {
	return scrapeMetrics(ctx, c.ports.providerMetrics)
}

// FunctionMetrics returns the metrics of the function. It returns an error if the function does not serve them.
func (c *ControlPlane) FunctionMetrics(ctx context.Context) (Metrics, error) {
	return scrapeMetrics(ctx, c.ports.functionMetrics)
}

func scrapeMetrics(ctx context.Context, number int) (Metrics, error) {
	return ScrapeURL(ctx, "http://"+port.Address(number)+"/metrics")
}

// ProviderMetricsAddress returns host and port of the provider's metrics, which every process of the provider has.
func (c *ControlPlane) ProviderMetricsAddress() string {
	return port.Address(c.ports.providerMetrics)
}

// FunctionMetricsAddress returns host and port of the function's metrics.
func (c *ControlPlane) FunctionMetricsAddress() string {
	return port.Address(c.ports.functionMetrics)
}

// ScrapeURL returns the metrics that a server serves under a URL in Prometheus' text format.
func ScrapeURL(ctx context.Context, url string) (Metrics, error) {
	body, err := process.Fetch(ctx, http.DefaultClient, url)
	if err != nil {
		return nil, errors.Wrap(err, "cannot get metrics")
	}
	defer func() { _ = body.Close() }()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(body)
	return families, errors.Wrap(err, "cannot parse metrics")
}

// Sum returns the sum of all samples of a counter or gauge that have these labels, among others. It is 0 without samples.
func (m Metrics) Sum(name string, labels map[string]string) float64 {
	return m.sumMatchingSamples(name, labels, func(s *dto.Metric) float64 { return s.GetCounter().GetValue() + s.GetGauge().GetValue() })
}

// Count returns the number of observations of histograms that have these labels, among others. It is 0 without observations.
func (m Metrics) Count(name string, labels map[string]string) float64 {
	return m.sumMatchingSamples(name, labels, func(s *dto.Metric) float64 { return float64(s.GetHistogram().GetSampleCount()) })
}

func (m Metrics) sumMatchingSamples(name string, labels map[string]string, valueOf func(*dto.Metric) float64) float64 {
	sum := 0.0
	for _, s := range m[name].GetMetric() {
		if matchesLabels(s, labels) {
			sum += valueOf(s)
		}
	}
	return sum
}

func matchesLabels(m *dto.Metric, labels map[string]string) bool {
	found := 0
	for _, l := range m.GetLabel() {
		if want, ok := labels[l.GetName()]; ok && want == l.GetValue() {
			found++
		}
	}
	return found == len(labels)
}
