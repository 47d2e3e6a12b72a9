// Package argo judges series of answers by the evaluators of Argo Rollouts.
package argo

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/argoproj/argo-rollouts/metricproviders/webmetric"
	"github.com/argoproj/argo-rollouts/pkg/apis/rollouts/v1alpha1"
	metricutil "github.com/argoproj/argo-rollouts/utils/metric"
	"github.com/prometheus/common/model"
	log "github.com/sirupsen/logrus"

	"github.com/intentplane/intentplane/tools/evaluators"
)

// Provider has the logger that the Prometheus provider of Argo Rollouts evaluates with. Its methods are extracted.
type Provider struct {
	logCtx log.Entry
}

// newEntry returns a logger that writes nothing.
func newEntry() *log.Entry {
	logger := log.New()
	logger.SetOutput(io.Discard)
	logger.SetLevel(log.PanicLevel)
	return log.NewEntry(logger)
}

// A Metric is a metric of Argo Rollouts, with its evaluators.
type Metric struct {
	spec   v1alpha1.Metric
	logger *log.Entry
}

// NewMetric returns a Metric. It returns an error for a metric that Argo Rollouts refuses.
func NewMetric(spec v1alpha1.Metric) (*Metric, error) {
	log.SetLevel(log.PanicLevel)
	return &Metric{spec: spec, logger: newEntry()}, ValidateMetrics([]v1alpha1.Metric{spec})
}

// judge returns the verdict about a series of measurements, which ends at the first missing measurement.
func (m *Metric) judge(measurements func(i int) (v1alpha1.Measurement, bool)) evaluators.Verdict {
	result := v1alpha1.MetricResult{Name: m.spec.Name, Phase: v1alpha1.AnalysisPhaseRunning}
	for i := 0; ; i++ {
		measurement, ok := measurements(i)
		if !ok {
			return evaluators.None
		}
		countMeasurement(&result, measurement, m.logger)
		result.Measurements = []v1alpha1.Measurement{measurement}
		result.Phase = assessMetricStatus(m.spec, result, false)
		if result.Phase.Completed() {
			return verdictOf(result.Phase)
		}
	}
}

func verdictOf(p v1alpha1.AnalysisPhase) evaluators.Verdict {
	switch p {
	case v1alpha1.AnalysisPhaseSuccessful:
		return evaluators.Passed
	case v1alpha1.AnalysisPhaseFailed:
		return evaluators.Failed
	case v1alpha1.AnalysisPhaseInconclusive:
		return evaluators.Inconclusive
	}
	return evaluators.Error
}

// JudgeAnswers returns the verdict about a series of answers of Prometheus: a number each where the query is scalar, and else series.
func (m *Metric) JudgeAnswers(answers []evaluators.Answer, isScalar bool) evaluators.Verdict {
	return m.judge(func(i int) (v1alpha1.Measurement, bool) {
		if i >= len(answers) {
			return v1alpha1.Measurement{}, false
		}
		return m.measure(answers[i], isScalar), true
	})
}

// measure judges one answer as the Prometheus provider does.
func (m *Metric) measure(a evaluators.Answer, isScalar bool) v1alpha1.Measurement {
	if a.Fails() {
		return metricutil.MarkMeasurementError(v1alpha1.Measurement{}, errors.New(string(a.Kind)))
	}
	p := &Provider{logCtx: *m.logger}
	value, phase, err := p.processResponse(m.spec, valueOf(a, isScalar))
	if err != nil {
		return metricutil.MarkMeasurementError(v1alpha1.Measurement{}, err)
	}
	return v1alpha1.Measurement{Value: value, Phase: phase}
}

func valueOf(a evaluators.Answer, isScalar bool) model.Value {
	vector := model.Vector{}
	for _, v := range a.Values() {
		if isScalar {
			return &model.Scalar{Value: model.SampleValue(v)}
		}
		sample := &model.Sample{Value: model.SampleValue(v)}
		if a.Kind == evaluators.Histogram {
			sample.Histogram = &model.SampleHistogram{Count: 1, Sum: 1}
		}
		vector = append(vector, sample)
	}
	return vector
}

// ErrPanic is the error for a series at which Argo Rollouts panics: a path that selects null.
var ErrPanic = errors.New("the web provider panics")

// JudgeWeb returns the verdict about a series of answers of a web server.
func (m *Metric) JudgeWeb(answers []evaluators.WebAnswer) (v evaluators.Verdict, err error) {
	defer func() {
		if recover() != nil {
			v, err = evaluators.None, ErrPanic
		}
	}()
	parser, err := webmetric.NewWebMetricJsonParser(m.spec)
	if err != nil {
		return evaluators.None, err
	}
	return m.judge(func(i int) (v1alpha1.Measurement, bool) {
		if i >= len(answers) {
			return v1alpha1.Measurement{}, false
		}
		client := &http.Client{Transport: evaluators.WebServer{Answer: answers[i]}, Timeout: time.Minute}
		return webmetric.NewWebMetricProvider(*m.logger, client, parser).Run(nil, m.spec), true
	}), nil
}
