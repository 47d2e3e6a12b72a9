package gate

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/intentplane/intentplane/provider/gates"
)

// metrics count what is measured. No label holds what somebody else may choose.
type metrics struct {
	queries      prometheus.Histogram
	measurements *prometheus.CounterVec
}

// newMetrics registers metrics. It returns an error if they are registered already.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		queries: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "intentplane_gate_query_duration_seconds", Help: "How long servers took to answer what Gates ask. Equal questions are asked once.",
			Buckets: []float64{0.005, 0.02, 0.1, 0.5, 2, 10},
		}),
		measurements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "intentplane_gate_measurements_total", Help: "Measurements of the checks of Gates, by their outcome.",
		}, []string{"outcome"}),
	}
	for _, c := range []prometheus.Collector{m.queries, m.measurements} {
		if err := r.Register(c); err != nil {
			return nil, errors.Wrap(err, "cannot register metrics of Gates")
		}
	}
	return m, nil
}

// Asked counts a question.
func (m *metrics) Asked(took time.Duration) { m.queries.Observe(took.Seconds()) }

// Measured counts a measurement.
func (m *metrics) Measured(outcome gates.Outcome) {
	m.measurements.WithLabelValues(string(outcome)).Inc()
}
