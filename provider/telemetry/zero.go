package telemetry

import (
	"cmp"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/hooks"
	"github.com/intentplane/intentplane/provider/prune"
)

// startAtZero makes each counter with every value of its labels. Prometheus takes the first sample of a counter for where it begins: a counter that appears as 1
// was never seen to increase.
func startAtZero(all map[string]prometheus.Collector) {
	series := counterSeries()
	maps.Copy(series, buildSeries())
	for name, rows := range series {
		counter, _ := all[name].(*prometheus.CounterVec)
		for _, labels := range rows {
			counter.WithLabelValues(labels...)
		}
	}
}

// counterSeries returns the values of the labels of each counter, one row for each of its series.
func counterSeries() map[string][][]string {
	return map[string][][]string{
		nameTransitions:      changeSeries(deploymentv1alpha1.PhaseChanges()),
		nameClusterMoves:     changeSeries(workloadclusterv1alpha1.PhaseChanges()),
		nameApplicationMoves: changeSeries(applicationv1alpha1.PhaseChanges()),
		nameBundleMoves:      changeSeries(bundlev1alpha1.PhaseChanges()),
		nameRollbacks:        {{}},
		nameOutcomes:         combineLabels(deploymentOutcomes()),
		nameValidations:      combineLabels([]string{resultLabel(true), resultLabel(false)}),
		nameCanarySteps:      combineLabels(stepResults()),
		nameMandates:         combineLabels(mandatedEvents()),
		nameNotifications:    combineLabels(notificationResults()),
		nameOperations:       combineLabels(gitOperations(), errorClasses()),
		nameMeasurements:     combineLabels(gateCheckTypes(), convertToStrings(gates.Outcomes()...)),
		namePruned:           append(combineLabels([]string{string(prune.VerdictKeep)}, convertToStrings(prune.Reasons()...)), []string{string(prune.VerdictPrune), None}),
	}
}

// buildSeries returns the same of the counters of builds and of their sources.
func buildSeries() map[string][][]string {
	return map[string][][]string{
		nameBuilds:      append(combineLabels([]string{Failed}, buildv1alpha1.FailureReasons()), []string{Succeeded, ""}),
		nameSourceLooks: combineLabels(errorClasses()),
		nameSourceHooks: combineLabels(hooks.Results()),
	}
}

// changeSeries returns a row for each legal change of a phase. All may start again at Pending.
func changeSeries[P ~string](changes map[P][]P) [][]string {
	var out [][]string
	for source, next := range changes {
		for _, target := range append(slices.Clone(next), P(deploymentv1alpha1.PhasePending)) {
			out = append(out, []string{cmp.Or(string(source), None), string(target)})
		}
	}
	return out
}

// combineLabels returns each combination of the values of labels.
func combineLabels(labels ...[]string) [][]string {
	out := [][]string{{}}
	for _, values := range labels {
		var longer [][]string
		for _, row := range out {
			for _, v := range values {
				longer = append(longer, append(slices.Clone(row), v))
			}
		}
		out = longer
	}
	return out
}

// errorClasses are the classes of the errors of Git servers, and the class of an operation without one.
func errorClasses() []string { return append(convertToStrings(failure.Classes()...), Succeeded) }

// gitOperations are the operations of Git servers that are counted.
func gitOperations() []string { return []string{"look", "push"} }

// gateCheckTypes are the types of checks of Gates.
func gateCheckTypes() []string { return []string{"Prometheus", "Job", "Web", "Availability"} }
