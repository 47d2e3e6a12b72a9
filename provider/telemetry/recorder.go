// Package telemetry has the metrics of the provider. Their labels have few values, independent of the content of the cluster. A new metric
// begins in metrics.go.
package telemetry

import (
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/client_golang/prometheus"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// Values of labels.
const (
	// None is the phase before the first one.
	None = "None"

	// Other is the label of every unknown value.
	Other = "Other"

	// Succeeded is the class of an operation without an error, and the result of a build.
	Succeeded = "Succeeded"

	// Failed is the result of a build that failed.
	Failed = "Failed"
)

// Metrics of the provider. They may be used by several goroutines. Counters begin at zero with the process and exist from then on, so that
// Prometheus sees the first increment.
type Metrics struct {
	transitions, clusterTransitions, validations, rollbacks, outcomes, operations, measurements *prometheus.CounterVec
	phases, clusterPhases, syncs, operationSeconds, groups, measuring                           *prometheus.HistogramVec
	current, clusterCurrent, unreachable, canaries, build                                       *prometheus.GaugeVec
	canarySteps, applicationTransitions, bundleTransitions, pruned                              *prometheus.CounterVec
	applicationPhases, bundlePhases                                                             *prometheus.HistogramVec
	applicationCurrent, bundleCurrent                                                           *prometheus.GaugeVec
	canaryStepSeconds, canaryZeroSeconds, buildSeconds                                          *prometheus.HistogramVec
	builds, sourceLooks, sourceHooks, notifications, mandated                                   *prometheus.CounterVec
	notificationsPending                                                                        *prometheus.GaugeVec
}

// New returns metrics that a registry has. It returns an error if the registry has some of them already.
func New(r prometheus.Registerer) (*Metrics, error) {
	all := map[string]prometheus.Collector{}
	for _, f := range Families() {
		all[f.Name] = f.newCollector()
		if err := r.Register(all[f.Name]); err != nil {
			return nil, errors.Wrapf(err, "cannot register metric %s", f.Name)
		}
	}
	counter := func(name string) *prometheus.CounterVec { c, _ := all[name].(*prometheus.CounterVec); return c }
	histogram := func(name string) *prometheus.HistogramVec { h, _ := all[name].(*prometheus.HistogramVec); return h }
	gauge := func(name string) *prometheus.GaugeVec { g, _ := all[name].(*prometheus.GaugeVec); return g }
	m := &Metrics{
		current: gauge(nameCurrent), clusterCurrent: gauge(nameClusterCurrent), unreachable: gauge(nameUnreachable),
		transitions: counter(nameTransitions), clusterTransitions: counter(nameClusterMoves), clusterPhases: histogram(nameClusterPhases), validations: counter(nameValidations), rollbacks: counter(nameRollbacks), outcomes: counter(nameOutcomes),
		operations: counter(nameOperations), phases: histogram(namePhases), syncs: histogram(nameSyncs),
		operationSeconds: histogram(nameOperationSeconds), groups: histogram(nameGroups), measuring: histogram(nameMeasuring), measurements: counter(nameMeasurements),
	}
	m.canaries, m.canarySteps, m.canaryStepSeconds, m.canaryZeroSeconds = gauge(nameCanaries), counter(nameCanarySteps), histogram(nameCanaryStepTook), histogram(nameCanaryZero)
	m.applicationTransitions, m.applicationPhases, m.applicationCurrent = counter(nameApplicationMoves), histogram(nameApplicationPhases), gauge(nameApplicationCurrent)
	m.bundleTransitions, m.bundlePhases, m.bundleCurrent = counter(nameBundleMoves), histogram(nameBundlePhases), gauge(nameBundleCurrent)
	m.pruned = counter(namePruned)
	m.builds, m.buildSeconds, m.sourceLooks = counter(nameBuilds), histogram(nameBuildTook), counter(nameSourceLooks)
	m.sourceHooks = counter(nameSourceHooks)
	m.notifications, m.notificationsPending = counter(nameNotifications), gauge(nameNotifyPending)
	m.mandated, m.build = counter(nameMandates), gauge(nameBuild)
	startAtZero(all)
	m.startGauges()
	return m, nil
}

// startGauges makes gauges that alerts read, so that they are 0 and not absent until something changes them.
func (m *Metrics) startGauges() {
	m.unreachable.WithLabelValues()
	m.notificationsPending.WithLabelValues()
	for _, s := range deploymentv1alpha1.CanaryStates() {
		m.canaries.WithLabelValues(string(s))
	}
}

// Build says which version of the provider runs.
func (m *Metrics) Build(version string) { m.build.WithLabelValues("provider", version).Set(1) }

// Transition counts a change of the phase of a deployment, and the rollback that starts or the outcome that comes with it.
func (m *Metrics) Transition(source, target string) {
	m.transitions.WithLabelValues(phaseLabel(source, deploymentPhases()), phaseLabel(target, deploymentPhases())).Inc()
	if target == string(deploymentv1alpha1.PhaseRollingBack) {
		m.rollbacks.WithLabelValues().Inc()
	}
	if outcome := outcomeOfChange(source, target); outcome != "" {
		m.outcomes.WithLabelValues(string(outcome)).Inc()
	}
}

// outcomeOfChange returns the outcome of a change of the phase, or "".
func outcomeOfChange(source, target string) deploymentv1alpha1.Outcome {
	switch {
	case target == string(deploymentv1alpha1.PhaseFailed):
		return deploymentv1alpha1.OutcomeFailed
	case target == string(deploymentv1alpha1.PhaseSucceeded) && source == string(deploymentv1alpha1.PhaseRollingBack):
		return deploymentv1alpha1.OutcomeRolledBack
	case target == string(deploymentv1alpha1.PhaseSucceeded):
		return deploymentv1alpha1.OutcomeSucceeded
	}
	return ""
}

// PhaseTook notes how long a deployment was in a phase. Compiling and Rendering begin and end in one call of the function, which measures
// them: here they would always take no time.
func (m *Metrics) PhaseTook(p string, took time.Duration) {
	if p == string(deploymentv1alpha1.PhaseCompiling) || p == string(deploymentv1alpha1.PhaseRendering) {
		return
	}
	m.phases.WithLabelValues(phaseLabel(p, deploymentPhases())).Observe(took.Seconds())
}

// Current adds delta, which may be negative, to the number of deployments that are in a phase, with an outcome.
func (m *Metrics) Current(p, outcome string, delta int) {
	m.current.WithLabelValues(phaseLabel(p, deploymentPhases()), phaseLabel(outcome, deploymentOutcomes())).Add(float64(delta))
}

// LedgerUnreachable adds delta, which may be negative, to the number of deployments that wait for the repository of their ledger.
func (m *Metrics) LedgerUnreachable(delta int) { m.unreachable.WithLabelValues().Add(float64(delta)) }

// Clusters are the same metrics of WorkloadClusters.
func (m *Metrics) Clusters() Clusters { return Clusters{m} }

// Clusters are the metrics of WorkloadClusters.
type Clusters struct{ m *Metrics }

// Transition counts a change of the phase of a WorkloadCluster.
func (c Clusters) Transition(source, target string) {
	c.m.clusterTransitions.WithLabelValues(phaseLabel(source, clusterPhases()), phaseLabel(target, clusterPhases())).Inc()
}

// PhaseTook notes how long a WorkloadCluster was in a phase.
func (c Clusters) PhaseTook(p string, took time.Duration) {
	c.m.clusterPhases.WithLabelValues(phaseLabel(p, clusterPhases())).Observe(took.Seconds())
}

// Current adds delta, which may be negative, to the number of WorkloadClusters that are in a phase. They have no outcome.
func (c Clusters) Current(p, _ string, delta int) {
	c.m.clusterCurrent.WithLabelValues(phaseLabel(p, clusterPhases())).Add(float64(delta))
}

// Validated counts a check that was judged.
func (m *Metrics) Validated(passed bool) {
	m.validations.WithLabelValues(resultLabel(passed)).Inc()
}

func resultLabel(passed bool) string {
	if passed {
		return "passed"
	}
	return "failed"
}

// Synced records how long a Site took to apply a delivery.
func (m *Metrics) Synced(took time.Duration) { m.syncs.WithLabelValues().Observe(took.Seconds()) }

// Operation counts an operation of a Git server, such as look or push, by the class of its error, which is empty without one.
func (m *Metrics) Operation(name, class string, took time.Duration) {
	if class == "" {
		class = Succeeded
	}
	m.operations.WithLabelValues(name, class).Inc()
	m.operationSeconds.WithLabelValues(name).Observe(took.Seconds())
}

// Group records how many deliveries one push carried.
func (m *Metrics) Group(deliveries int) { m.groups.WithLabelValues().Observe(float64(deliveries)) }

// Measured records one measurement of a check. The host is not a label: there may be many.
func (m *Metrics) Measured(check, result string, took time.Duration) {
	m.measurements.WithLabelValues(check, result).Inc()
	m.measuring.WithLabelValues(check).Observe(took.Seconds())
}

// phaseLabel returns a phase as a label: None if it is empty, Other if it is unknown.
func phaseLabel(p string, phases []string) string {
	switch {
	case p == "":
		return None
	case slices.Contains(phases, p):
		return p
	}
	return Other
}

func deploymentPhases() []string {
	return convertToStrings(
		deploymentv1alpha1.PhasePending, deploymentv1alpha1.PhaseCompiling, deploymentv1alpha1.PhaseRendering, deploymentv1alpha1.PhaseDelivering,
		deploymentv1alpha1.PhaseValidating, deploymentv1alpha1.PhaseSucceeded, deploymentv1alpha1.PhaseFailed, deploymentv1alpha1.PhaseRollingBack,
	)
}

func deploymentOutcomes() []string {
	return convertToStrings(deploymentv1alpha1.OutcomeSucceeded, deploymentv1alpha1.OutcomeFailed, deploymentv1alpha1.OutcomeRolledBack)
}

func clusterPhases() []string {
	return convertToStrings(
		workloadclusterv1alpha1.PhasePending, workloadclusterv1alpha1.PhaseProvisioning, workloadclusterv1alpha1.PhaseProvisioned,
		workloadclusterv1alpha1.PhaseDegraded, workloadclusterv1alpha1.PhaseDeleting, workloadclusterv1alpha1.PhaseFailed,
	)
}

func convertToStrings[P ~string](all ...P) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = string(all[i])
	}
	return out
}
