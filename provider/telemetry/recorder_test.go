package telemetry

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestStartAtZero checks that the counters of deployments exist with 0 before anything is counted.
func TestStartAtZero(t *testing.T) {
	r := prometheus.NewRegistry()
	if _, err := New(r); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{nameRollbacks: 1, nameUnreachable: 1, nameOutcomes: 3, nameValidations: 2, nameTransitions: 22, nameClusterMoves: 19, nameCanaries: 8, nameCanarySteps: 4} {
		if got, err := testutil.GatherAndCount(r, name); err != nil || got != want {
			t.Errorf("%s: want %d series from the start, got %d: %v", name, want, got, err)
		}
	}
	found, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		for _, m := range f.GetMetric() {
			if v := m.GetCounter().GetValue(); v != 0 {
				t.Errorf("%s begins at %v", f.GetName(), v)
			}
		}
	}
}
