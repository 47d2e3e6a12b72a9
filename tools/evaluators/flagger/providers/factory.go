// Package providers has the Prometheus provider of Flagger.
package providers

import flaggerv1 "github.com/fluxcd/flagger/pkg/apis/flagger/v1beta1"

// A Factory makes providers. Flagger's Factory makes providers for other servers too.
type Factory struct{}

// Provider returns a Prometheus provider.
func (Factory) Provider(_ string, p flaggerv1.MetricTemplateProvider, credentials map[string][]byte) (*PrometheusProvider, error) {
	return NewPrometheusProvider(p, credentials)
}
