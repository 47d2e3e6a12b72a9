package telemetry

// Pruned counts an item of a plan by its verdict and, where it is kept, by its reason. Both have few values.
func (m *Metrics) Pruned(verdict, reason string) {
	if reason == "" {
		reason = None
	}
	m.pruned.WithLabelValues(verdict, reason).Inc()
}
