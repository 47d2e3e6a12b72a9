package gitdelivery

import (
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// Reasons of the events of a GitDelivery by whose mandate the provider recorded an event in the ledger, without a call of the function.
const (
	// ReasonAdvancedByMandate is the reason of the event for a step of a revision, or a stage of its rollback, that the provider began without the function.
	ReasonAdvancedByMandate = "AdvancedByMandate"

	// ReasonPromotedByMandate is the reason of the event for a RolloutRequest that released a step, which the provider carried out without the function.
	ReasonPromotedByMandate = "PromotedByMandate"

	// ReasonRejectedByMandate is the reason of the event for a revision that the provider rejected without the function.
	ReasonRejectedByMandate = "RejectedByMandate"

	// ReasonRestoredByMandate is the reason of the event for the end of a rollback that the provider recorded without the function.
	ReasonRestoredByMandate = "RestoredByMandate"

	// ReasonRolledBackByMandate is the reason of the event for an attempt to roll back that the provider began without the function.
	ReasonRolledBackByMandate = "RolledBackByMandate"

	// ReasonVerifiedByMandate is the reason of the event for a revision that the provider verified without the function.
	ReasonVerifiedByMandate = "VerifiedByMandate"

	// ReasonWithdrawnByMandate is the reason of the event for a RolloutRequest that rolls a verified revision back, which the provider carried out without the
	// function.
	ReasonWithdrawnByMandate = "WithdrawnByMandate"
)

// A mandatedReport reports one event of the ledger that the provider recorded by a mandate.
type mandatedReport struct {
	// label of the event in the metric.
	label telemetry.MandatedEvent

	// reason and message of the event of the GitDelivery.
	reason  event.Reason
	message string
}

// reportMandated reports the ledger events by the mandate that led to a state as Kubernetes events, and in a metric.
func (e *external) reportMandated(d *v1alpha1.GitDelivery, s ledger.State, events []ledger.Event) {
	for i, recorded := range events {
		isRejected := s.IsRejected() && !slices.ContainsFunc(events[i+1:], func(e ledger.Event) bool { return e.Judged != nil || e.Withdrawn != nil })
		report := describeMandated(recorded, isRejected)
		e.metrics.Mandated(report.label)
		e.recorder.Event(d, event.Normal(report.reason, report.message))
	}
}

// describeMandated returns the report of an event by the mandate. isRejected is true for an event about a revision that was rejected by then.
func describeMandated(e ledger.Event, isRejected bool) mandatedReport {
	switch {
	case e.Judged != nil && e.Judged.Verdict.Result == ledger.VerdictVerified:
		return mandatedReport{telemetry.MandatedVerified, event.Reason(ReasonVerifiedByMandate), "The revision was verified: each Site was proven to run it"}
	case e.Judged != nil:
		message := fmt.Sprintf("The revision was rejected: %s: %s", e.Judged.Verdict.Reason, e.Judged.Verdict.Message)
		return mandatedReport{telemetry.MandatedRejected, event.Reason(ReasonRejectedByMandate), message}
	case e.Withdrawn != nil:
		message := fmt.Sprintf("A user rolls back to revision %d: %s", e.Withdrawn.Target, e.Withdrawn.Message)
		return mandatedReport{telemetry.MandatedWithdrawn, event.Reason(ReasonWithdrawnByMandate), message}
	case e.RolledBack != nil:
		message := fmt.Sprintf("A rollback to revision %d began", e.RolledBack.Target)
		return mandatedReport{telemetry.MandatedRolledBack, event.Reason(ReasonRolledBackByMandate), message}
	case e.Promoted != nil:
		message := fmt.Sprintf("RolloutRequest %s released the next step", e.Promoted.RequestRef.Name)
		return mandatedReport{telemetry.MandatedPromoted, event.Reason(ReasonPromotedByMandate), message}
	case e.Advanced != nil && !isRejected:
		return mandatedReport{telemetry.MandatedAdvanced, event.Reason(ReasonAdvancedByMandate), describeStep(*e.Advanced)}
	case e.Advanced != nil:
		return mandatedReport{telemetry.MandatedAdvanced, event.Reason(ReasonAdvancedByMandate), describeStage(e.Advanced.Stage)}
	}
	return mandatedReport{telemetry.MandatedRestored, event.Reason(ReasonRestoredByMandate), "Each Site was proven to run the restored trees"}
}

// describeStep returns a message about a step or a stage of a revision that was not rejected. A revision without tracks stays in the first stage.
func describeStep(a ledger.Advanced) string {
	switch a.Stage {
	case ledger.StageClear:
		return fmt.Sprintf("Wave %d of the revision began", a.Step+1)
	case ledger.StageSteps:
		return fmt.Sprintf("Step %d of the revision began", a.Step+1)
	case ledger.StageAlone:
		return "The requests of the other track have ended, and its pods are removed"
	}
	return "The requests go back to the stable revision, before the revision begins"
}

// describeStage returns a message about a stage of a rollback with tracks.
func describeStage(stage int32) string {
	switch stage {
	case ledger.StageBeside:
		return "The pods of the target start beside the pods of the revision"
	case ledger.StageShift:
		return "The requests go back to the target"
	}
	return "The requests have ended, and the trees of the target are restored"
}
