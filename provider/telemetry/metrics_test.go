package telemetry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestFamilies uses each metric once, and runs the linter of Prometheus.
func TestFamilies(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	m.Transition("Failed", "RollingBack")
	m.Transition("", "made up by who can write a status")
	m.PhaseTook("Pending", time.Second)
	m.Clusters().Transition("Provisioning", "Provisioned")
	m.Clusters().Transition("Provisioned", "Succeeded")
	m.Clusters().PhaseTook("Provisioning", time.Second)
	m.Applications().Transition("Deploying", "Running")
	m.Applications().Transition("Running", "Succeeded")
	m.Applications().PhaseTook("Deploying", time.Second)
	m.Applications().Current("Running", "", 1)
	m.Bundles().Transition("Deploying", "Succeeded")
	m.Bundles().Transition("Deploying", "Running")
	m.Bundles().PhaseTook("Deploying", time.Second)
	m.Bundles().Current("Succeeded", "", 1)
	m.Built("Failed", "Evicted", time.Minute)
	m.SourceLook("")
	m.SourceHook("Accepted")
	m.Current("Succeeded", "RolledBack", 1)
	m.Clusters().Current("Degraded", "", 1)
	m.LedgerUnreachable(1)
	m.CanaryStepTook(time.Second)
	m.CanaryLostRequests(time.Second)
	m.Validated(true)
	m.Synced(time.Second)
	m.Pruned("Prune", "")
	m.Pruned("Keep", "InUse")
	m.Notified(NotificationDelivered)
	m.NotificationsPending(1)
	m.Operation("push", "", time.Second)
	m.Operation("look", "Auth", time.Second)
	m.Group(3)
	m.Measured("Prometheus", "Pass", time.Second)
	m.Measured("Prometheus", "Pass", time.Second)
	m.Build("v1.2.3")
	found, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(len(Families()), len(found)); diff != "" {
		t.Errorf("metrics that are used: -want, +got:\n%s", diff)
	}
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("GatherAndLint(...): %v, %v", problems, err)
	}
	for labels, want := range map[[2]string]float64{{"Failed", "RollingBack"}: 1, {None, Other}: 1} {
		if got := testutil.ToFloat64(m.transitions.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("transitions %v: want %v, got %v", labels, want, got)
		}
	}
	for labels, want := range map[[2]string]float64{{"Provisioning", "Provisioned"}: 1, {"Provisioned", Other}: 1} {
		if got := testutil.ToFloat64(m.clusterTransitions.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("transitions of clusters %v: want %v, got %v", labels, want, got)
		}
	}
	for labels, want := range map[[2]string]float64{{"Deploying", "Running"}: 1, {"Running", Other}: 1, {"Running", "Degraded"}: 0} {
		if got := testutil.ToFloat64(m.applicationTransitions.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("transitions of Applications %v: want %v, got %v", labels, want, got)
		}
	}
	for labels, want := range map[[2]string]float64{{"Deploying", "Succeeded"}: 1, {"Deploying", Other}: 1, {"Succeeded", "Degraded"}: 0} {
		if got := testutil.ToFloat64(m.bundleTransitions.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("transitions of Bundles %v: want %v, got %v", labels, want, got)
		}
	}
	if got := testutil.ToFloat64(m.measurements.WithLabelValues("Prometheus", "Pass")); got != 2 {
		t.Errorf("measurements: want 2, got %v", got)
	}
	for labels, want := range map[[2]string]float64{{"push", Succeeded}: 1, {"look", "Auth"}: 1} {
		if got := testutil.ToFloat64(m.operations.WithLabelValues(labels[0], labels[1])); got != want {
			t.Errorf("operations %v: want %v, got %v", labels, want, got)
		}
	}
	if got := testutil.ToFloat64(m.build.WithLabelValues("provider", "v1.2.3")); got != 1 {
		t.Errorf("build: want 1, got %v", got)
	}
	if _, err := New(r); err == nil {
		t.Error("New(...) of a registry that has the metrics: want an error")
	}
}
