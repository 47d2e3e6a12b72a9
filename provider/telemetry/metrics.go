package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Names of the metrics.
const (
	nameTransitions        = "intentdeployment_phase_transitions_total"
	namePhases             = "intentdeployment_phase_duration_seconds"
	nameValidations        = "intentdeployment_validation_results_total"
	nameRollbacks          = "intentdeployment_rollback_total"
	nameOutcomes           = "intentdeployment_outcomes_total"
	nameSyncs              = "intentdeployment_sync_duration_seconds"
	nameCurrent            = "intentdeployment_current"
	nameUnreachable        = "intentdeployment_ledger_unreachable"
	nameCanaries           = "intentdeployment_canary"
	nameCanarySteps        = "intentdeployment_canary_steps_total"
	nameCanaryStepTook     = "intentdeployment_canary_step_duration_seconds"
	nameCanaryZero         = "intentdeployment_canary_weight_zero_seconds"
	nameClusterCurrent     = "workloadcluster_current"
	nameClusterMoves       = "workloadcluster_phase_transitions_total"
	nameClusterPhases      = "workloadcluster_phase_duration_seconds"
	nameApplicationMoves   = "application_phase_transitions_total"
	nameApplicationPhases  = "application_phase_duration_seconds"
	nameApplicationCurrent = "application_current"
	nameBundleMoves        = "bundle_phase_transitions_total"
	nameBundlePhases       = "bundle_phase_duration_seconds"
	nameBundleCurrent      = "bundle_current"
	nameBuilds             = "application_builds_total"
	nameBuildTook          = "application_build_duration_seconds"
	nameSourceLooks        = "intentplane_source_looks_total"
	nameSourceHooks        = "intentplane_source_hooks_total"
	nameOperations         = "intentplane_git_operations_total"
	nameOperationSeconds   = "intentplane_git_operation_duration_seconds"
	nameGroups             = "intentplane_git_push_deliveries"
	nameMeasurements       = "intentplane_gate_measurements_total"
	namePruned             = "intentplane_prune_items_total"
	nameMeasuring          = "intentplane_gate_measurement_duration_seconds"
	nameMandates           = "intentplane_mandate_events_total"
	nameNotifications      = "intentplane_notifications_total"
	nameNotifyPending      = "intentplane_notifications_pending"
	nameBuild              = "intentplane_build_info"
)

// A Family is one metric.
type Family struct {
	// Name and Help of the metric.
	Name, Help string

	// Labels of the metric.
	Labels []string

	// Buckets of a histogram. Others have none.
	Buckets []float64

	// Now is true for a gauge.
	Now bool
}

// Families are all metrics.
func Families() []Family {
	// From a second to two hours, and from ten milliseconds to a minute.
	long := []float64{1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200}
	short := []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	return []Family{
		{Name: nameTransitions, Labels: []string{"from", "to"}, Help: "Changes of the phase of deployments."},
		{Name: namePhases, Labels: []string{"phase"}, Buckets: long, Help: "How long deployments were in a phase that they left. Compiling and Rendering are stages of one call of the function, which measures them."},
		{Name: nameValidations, Labels: []string{"result"}, Help: "Checks of deployments that were judged: passed or failed. Counted from status.validationResults, which has 100 of a revision at most, and those first that failed."},
		{Name: nameRollbacks, Help: "Rollbacks that deployments started."},
		{Name: nameOutcomes, Labels: []string{"outcome"}, Help: "Revisions that came to an end, and specs that cannot be carried out, by outcome. A rejected revision counts as Failed, and once more as RolledBack after its rollback."},
		{Name: nameSyncs, Buckets: long, Help: "Time from the delivery of a tree until its Site ran it."},
		{Name: nameCurrent, Labels: []string{"phase", "outcome"}, Now: true, Help: "Deployments that are in a phase now, by their outcome."},
		{Name: nameUnreachable, Now: true, Help: "Deployments that can be neither ordered, judged nor rolled back now, since the repository of their ledger cannot be read or written: condition Recorded has reason LedgerUnreachable."},
		{Name: nameCanaries, Labels: []string{"state"}, Now: true, Help: "Deployments whose canary is in a state now: status.canary.state."},
		{Name: nameCanarySteps, Labels: []string{"result"}, Help: "Steps of canaries that ended: Released by their pause or Gate, Promoted by a user, Rejected with the revision, or Superseded by another revision. Each provider counts the ends that it observed."},
		{Name: nameCanaryStepTook, Buckets: long, Help: "Duration of steps of canaries, for steps that the provider observed from their beginning."},
		{Name: nameCanaryZero, Buckets: long, Help: "How long rejected canaries took to lose their requests, from the rejection until no Site gives them any."},
		{Name: nameClusterMoves, Labels: []string{"from", "to"}, Help: "Changes of the phase of WorkloadClusters."},
		{Name: nameClusterPhases, Labels: []string{"phase"}, Buckets: long, Help: "How long WorkloadClusters were in a phase that they left."},
		{Name: nameClusterCurrent, Labels: []string{"phase"}, Now: true, Help: "WorkloadClusters that are in a phase now."},
		{Name: nameApplicationMoves, Labels: []string{"from", "to"}, Help: "Changes of the phase of Applications."},
		{Name: nameApplicationPhases, Labels: []string{"phase"}, Buckets: long, Help: "How long Applications were in a phase that they left."},
		{Name: nameApplicationCurrent, Labels: []string{"phase"}, Now: true, Help: "Applications that are in a phase now."},
		{Name: nameBundleMoves, Labels: []string{"from", "to"}, Help: "Changes of the phase of Bundles."},
		{Name: nameBundlePhases, Labels: []string{"phase"}, Buckets: long, Help: "How long Bundles were in a phase that they left."},
		{Name: nameBundleCurrent, Labels: []string{"phase"}, Now: true, Help: "Bundles that are in a phase now."},
		{Name: nameBuilds, Labels: []string{"result", "reason"}, Help: "Builds of images that ended: Succeeded, or Failed with the reason of status.atProvider.failed of the ImageBuild."},
		{Name: nameBuildTook, Buckets: long, Help: "How long builds of images took that the provider saw running."},
		{Name: nameSourceLooks, Labels: []string{"class"}, Help: "Looks at repositories with source code, by the class of their error. One look is for all who name a repository."},
		{Name: nameSourceHooks, Labels: []string{"result"}, Help: "Webhooks that asked for a look at a repository with source code: Accepted, Refused, Limited, TooLarge, or Unread where the API server or the sender did not answer."},
		{Name: nameOperations, Labels: []string{"operation", "class"}, Help: "Operations of Git servers: look or push, by the class of their error."},
		{Name: nameOperationSeconds, Labels: []string{"operation"}, Buckets: short, Help: "How long operations of Git servers took."},
		{Name: nameGroups, Buckets: []float64{1, 2, 4, 8, 16, 32, 64}, Help: "Deliveries that went out with one push."},
		{Name: namePruned, Labels: []string{"verdict", "reason"}, Help: "Directories and packages in plans of PruneRequests: Prune, or Keep with its reason. Entries that a status has no room for are left out."},
		{Name: nameMeasurements, Labels: []string{"type", "outcome"}, Help: "Measurements for checks of gates, by how they ended."},
		{Name: nameMeasuring, Labels: []string{"type"}, Buckets: short, Help: "How long measurements for checks of gates took."},
		{Name: nameMandates, Labels: []string{"event"}, Help: "Events that the provider recorded by the mandate of a GitDelivery, without the function: Rejected, Withdrawn by a user, RolledBack for each attempt, Advanced for each step, and each stage of a rollback in tracks, Restored, Promoted by a user, or Verified."},
		{Name: nameNotifications, Labels: []string{"result"}, Help: "Notifications of outcomes: Delivered to a receiver, Failed posts, which are repeated, or GivenUp after a day."},
		{Name: nameNotifyPending, Now: true, Help: "Notifications that receivers have not taken yet, one for each outcome and receiver."},
		{Name: nameBuild, Labels: []string{"component", "version"}, Now: true, Help: "1, with the version of the provider. The function has this metric too, with component function and the version of its renderer."},
	}
}

// Type of the metric, as Prometheus calls it.
func (f Family) Type() string {
	switch {
	case f.Now:
		return "gauge"
	case f.Buckets == nil:
		return "counter"
	}
	return "histogram"
}

func (f Family) newCollector() prometheus.Collector {
	switch {
	case f.Now:
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.Name, Help: f.Help}, f.Labels)
	case f.Buckets == nil:
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.Name, Help: f.Help}, f.Labels)
	}
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: f.Name, Help: f.Help, Buckets: f.Buckets}, f.Labels)
}
