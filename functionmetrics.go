package main

import (
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/client_golang/prometheus"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
)

// Sources of an answer.
const (
	fromMemory   = "Memory"
	fromCore     = "Computed"
	fromFailures = "Failed"
)

// telemetry holds the metrics of the function, beside the SDK's metrics of gRPC. It is safe for concurrent use.
type telemetry struct {
	stages  *prometheus.HistogramVec
	answers *prometheus.CounterVec
	build   *prometheus.GaugeVec
}

// newTelemetry returns metrics that a registry has, all of them from the start. It returns an error if the registry has some of them already.
func newTelemetry(r prometheus.Registerer) (*telemetry, error) {
	t := &telemetry{
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "intentplane_function_stage_duration_seconds", Help: "How long the stages of calls took: Compiling or Rendering.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 60},
		}, []string{"stage"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "intentplane_function_answers_total", Help: "Answers to Crossplane, by where they came from: Memory, Computed, or Failed, which is a bug.",
		}, []string{"source"}),
		build: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "intentplane_build_info", Help: "1, with the version of the function, and of the rules by which it renders.",
		}, []string{"component", "version", "renderer"}),
	}
	t.build.WithLabelValues("function", version, strconv.Itoa(int(render.Version))).Set(1)
	for _, stage := range []deploymentv1alpha1.Phase{deploymentv1alpha1.PhaseCompiling, deploymentv1alpha1.PhaseRendering} {
		t.stages.WithLabelValues(string(stage))
	}
	for _, source := range []string{fromMemory, fromCore, fromFailures} {
		t.answers.WithLabelValues(source)
	}
	return t, errors.Wrap(errors.Join(r.Register(t.stages), r.Register(t.answers), r.Register(t.build)), "cannot register metrics")
}

// countAnswer counts an answer. A nil telemetry counts nothing.
func (t *telemetry) countAnswer(source string) {
	if t != nil {
		t.answers.WithLabelValues(source).Inc()
	}
}

// observeStages records how long the stages of a call took. A nil telemetry records nothing.
func (t *telemetry) observeStages(stages []deployment.Stage) {
	if t == nil {
		return
	}
	for _, s := range stages {
		t.stages.WithLabelValues(string(s.Name)).Observe(s.Took.Seconds())
	}
}
