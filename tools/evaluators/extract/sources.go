package main

// Modules with evaluators.
const (
	moduleArgo    = "github.com/argoproj/argo-rollouts"
	moduleFlagger = "github.com/fluxcd/flagger"
)

// local is the path of packages that stand for packages of Flagger.
const local = "github.com/intentplane/intentplane/tools/evaluators/flagger/"

// A source is a file of a module, with the parts of it that one file of ours gets.
type source struct {
	module, file string

	// output is the file that is written, and name its package.
	output, name string

	// declarations are names of functions and types, and of methods as in Controller.runAB. Without names, all of the file is used.
	declarations []string

	// statements are parts of functions.
	statements []statements

	// imports are packages that others stand for.
	imports map[string]string
}

// statements are a part of the body of a function, in a function of its own.
type statements struct {
	// function has the statements.
	function string

	// begin is a text of the first statement. The statements end with the block that has it, or with the first statement if only is set.
	begin string
	only  bool

	// header is the line that begins the function.
	header string
}

func sources() []source {
	return append(sourcesOfArgo(), sourcesOfFlagger()...)
}

func sourcesOfArgo() []source {
	return []source{
		{
			module: moduleArgo, file: "analysis/analysis.go", output: "argo/zz_generated.analysis.go", name: "argo",
			declarations: []string{"assessMetricStatus", "assessMetricFailureInconclusiveOrError", "SuccessfulAssessmentRunTerminatedResult"},
			statements: []statements{{
				function: "Controller.runMeasurements", begin: "switch newMeasurement.Phase {", only: true,
				header: "func countMeasurement(metricResult *v1alpha1.MetricResult, newMeasurement v1alpha1.Measurement, logger *log.Entry) {",
			}},
		},
		{
			module: moduleArgo, file: "utils/analysis/factory.go", output: "argo/zz_generated.validate.go", name: "argo",
			declarations: []string{"ValidateMetrics", "ValidateMetric"},
		},
		{
			module: moduleArgo, file: "metricproviders/prometheus/prometheus.go", output: "argo/zz_generated.prometheus.go", name: "argo",
			declarations: []string{"Provider.processResponse", "sampleValuesToFloatSlice", "sampleValuesToResultStr"},
		},
	}
}

func sourcesOfFlagger() []source {
	replaced := map[string]string{
		moduleFlagger + "/pkg/canary": local + "canary", moduleFlagger + "/pkg/router": local + "router",
		moduleFlagger + "/pkg/metrics/providers": local + "providers", moduleFlagger + "/pkg/metrics/observers": local + "observers",
	}
	return []source{
		{
			module: moduleFlagger, file: "pkg/controller/scheduler.go", output: "flagger/zz_generated.scheduler.go", name: "flagger", imports: replaced,
			declarations: []string{
				"Controller.runAB", "Controller.runBlueGreen", "Controller.runCanary", "Controller.runAnalysis",
				"Controller.maxWeight", "Controller.totalWeight", "Controller.nextStepWeight", "Controller.min",
			},
			statements: []statements{{
				function: "Controller.advanceCanary", begin: "cd.Status.FailedChecks >= cd.GetAnalysisThreshold()",
				header: "func (c *Controller) advance(cd *flaggerv1.Canary, canaryController canary.Controller, meshRouter router.Interface,\n" +
					"\tscalerReconciler canary.ScalerReconciler, provider string, mirrored, retriable bool, canaryWeight, primaryWeight, maxWeight int, begin time.Time, err error) {",
			}},
		},
		{
			module: moduleFlagger, file: "pkg/controller/scheduler_metrics.go", output: "flagger/zz_generated.metrics.go", name: "flagger", imports: replaced,
			declarations: []string{"Controller.runMetricChecks", "toMetricModel"},
		},
		{module: moduleFlagger, file: "pkg/canary/controller.go", output: "flagger/canary/zz_generated.controller.go", name: "canary"},
		{module: moduleFlagger, file: "pkg/router/router.go", output: "flagger/router/zz_generated.router.go", name: "router", declarations: []string{"Interface"}},
		{module: moduleFlagger, file: "pkg/metrics/providers/prometheus.go", output: "flagger/providers/zz_generated.prometheus.go", name: "providers"},
		{module: moduleFlagger, file: "pkg/metrics/providers/errors.go", output: "flagger/providers/zz_generated.errors.go", name: "providers"},
		{module: moduleFlagger, file: "pkg/metrics/observers/render.go", output: "flagger/observers/zz_generated.render.go", name: "observers"},
	}
}
