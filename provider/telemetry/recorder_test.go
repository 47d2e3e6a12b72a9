package telemetry

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestStartWithFirst names the counters that have no series before something is counted, so that Prometheus does not see the first increment. The documentation
// names them, too.
func TestStartWithFirst(t *testing.T) {
	r := prometheus.NewRegistry()
	if _, err := New(r); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, f := range Families() {
		if n, err := testutil.GatherAndCount(r, f.Name); err != nil || n == 0 && f.Buckets == nil && !f.Now {
			got = append(got, f.Name)
		}
	}
	page, err := os.ReadFile("../../docs/operations/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(page), "* The series of these begin with the first that is counted")
	line, _, _ = strings.Cut(line, ". An alert")
	want := regexp.MustCompile("[a-z_]+_total").FindAllString(line, -1)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/operations/monitoring.md names other counters that begin with what is counted first: -want, +got:\n%s", diff)
	}
}
