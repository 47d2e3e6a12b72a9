package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/function-sdk-go/logging"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
)

// TestTelemetry asks for the same twice, and for something that nothing can answer. Each look at the clock finds it a second later.
func TestTelemetry(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := newTelemetry(registry)
	if err != nil {
		t.Fatal(err)
	}
	if got := testutil.ToFloat64(m.build.WithLabelValues("function", version, strconv.Itoa(int(render.Version)))); got != 1 {
		t.Errorf("newTelemetry(...): want the version of the build from the start, got %v", got)
	}
	now := time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC)
	clock := func() time.Time { return now }
	seconds := 0
	stopwatch := func() time.Time { seconds++; return now.Add(time.Duration(seconds) * time.Second) }
	core := deployment.New(render.NewRenderer(), deployment.WithStopwatch(stopwatch))
	f := NewFunction(core, logging.NewNopLogger(), testTTL, clock).Remember(1 << 20).Measure(m)
	if got := testutil.CollectAndCount(m.answers); got != 3 {
		t.Errorf("newTelemetry(...): want a counter for each of 3 sources from the start, got %d", got)
	}
	req := request(t, namespacedComposite)
	rsp := resolved(t, f, req, catalogOf(t))
	// The answer to a request whose status is that of the answer is remembered.
	req.Observed.Composite.Resource.Fields["status"] = rsp.GetDesired().GetComposite().GetResource().GetFields()["status"]
	run(t, f, req)
	run(t, f, req)
	run(t, f, request(t, "{metadata: {name: nobody}}"))
	var got []string
	for _, source := range []string{fromMemory, fromCore, fromFailures} {
		if testutil.ToFloat64(m.answers.WithLabelValues(source)) > 0 {
			got = append(got, source)
		}
	}
	if diff := cmp.Diff([]string{fromMemory, fromCore, fromFailures}, got); diff != "" {
		t.Errorf("sources of answers: -want, +got:\n%s", diff)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	took := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if h := metric.GetHistogram(); h.GetSampleCount() > 0 {
				took[metric.GetLabel()[0].GetValue()] = h.GetSampleSum() / float64(h.GetSampleCount())
			}
		}
	}
	if diff := cmp.Diff(map[string]float64{"Compiling": 1, "Rendering": 1}, took); diff != "" {
		t.Errorf("seconds of each stage: -want, +got:\n%s", diff)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("GatherAndLint(...): %v, %v", problems, err)
	}
	if _, err := newTelemetry(registry); err == nil || !strings.Contains(err.Error(), "cannot register metrics") {
		t.Errorf("newTelemetry(...) of a registry that has the metrics: %v", err)
	}
}
