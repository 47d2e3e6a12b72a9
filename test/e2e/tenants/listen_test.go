package tenants

import (
	"testing"
)

// TestProviderListensForMetricsAndProbesOnly counts the sockets on which the provider accepts connections, regardless of who sends
// them.
func TestProviderListensForMetricsAndProbesOnly(t *testing.T) {
	t.Parallel()
	got, err := listeningSockets(cp.ProviderPID())
	if err != nil || got != 2 {
		t.Errorf("the provider listens on %d sockets, and its flags name two: metrics and probes: %v", got, err)
	}
}
