package application

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// projectConditions returns all conditions that follow from facts. All types are always returned: Crossplane does not remove a condition that the
// function stops returning.
func projectConditions(f *Facts) []projection.Condition {
	return []projection.Condition{
		validCondition(f), sourceCondition(f), builtCondition(f), deployedCondition(f), availableCondition(f), routedCondition(f), stalledCondition(f), reconcilingCondition(f),
	}
}

func validCondition(f *Facts) projection.Condition {
	if f.Problem != "" {
		return projection.Is(v1alpha1.TypeValid, false, f.ProblemReason, f.Problem)
	}
	return projection.Is(v1alpha1.TypeValid, true, v1alpha1.ReasonValid, f.Note)
}

func sourceCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeSourceResolved
	switch b := f.Build; {
	case !b.isRequired():
		return projection.Is(conditionType, true, v1alpha1.ReasonNotRequired, "")
	case b.Wanted != "":
		return projection.Is(conditionType, true, v1alpha1.ReasonResolved, projection.Sentence(b.SourceTrouble))
	case b.State == BuildWaiting:
		return projection.Is(conditionType, false, cmp.Or(b.Reason, v1alpha1.ReasonWaiting), b.Message)
	}
	return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, "")
}

func builtCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeBuilt
	hasImage := f.Build.WantedImage() != ""
	if f.Build.needsApproval() {
		return projection.Is(conditionType, false, v1alpha1.ReasonWaiting, f.buildMessage())
	}
	switch f.Build.State {
	case BuildNotRequired:
		return projection.Is(conditionType, true, v1alpha1.ReasonNotRequired, "")
	case BuildFailed:
		if hasImage {
			return projection.Is(conditionType, true, v1alpha1.ReasonRebuildFailed, f.Build.Message)
		}
		return projection.Is(conditionType, false, f.Build.failureReason(), f.buildMessage())
	case BuildWaiting:
		return projection.Is(conditionType, hasImage, v1alpha1.ReasonWaiting, f.buildMessage())
	case BuildRunning:
		return projection.Is(conditionType, hasImage, v1alpha1.ReasonBuilding, f.buildMessage())
	case BuildSucceeded, BuildUnknown:
	}
	if hasImage {
		return projection.Is(conditionType, true, v1alpha1.ReasonBuilt, "")
	}
	return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, f.buildMessage())
}

func deployedCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeDeployed
	switch {
	case f.ProblemReason == v1alpha1.ReasonNameTaken:
		return projection.Is(conditionType, false, f.ProblemReason, f.Problem)
	case f.Missing != "":
		return projection.Is(conditionType, false, f.missingReason(), f.Missing)
	case !f.hasWantedImage():
		return projection.Is(conditionType, false, v1alpha1.ReasonNoImage, f.buildMessage())
	case f.Deployment.isSuspended():
		return projection.Is(conditionType, false, v1alpha1.ReasonHeldBack, f.pendingMessage())
	case !f.Deployment.isAboutCurrentSpec():
		return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, f.pendingMessage())
	case f.wasRolledBack():
		return projection.Is(conditionType, false, v1alpha1.ReasonRolledBack, f.rolledBackMessage())
	case f.hasDeploymentFailed():
		return projection.Is(conditionType, false, v1alpha1.ReasonDeploymentFailed, projection.Sentence(f.Deployment.Message))
	case f.hasSucceeded():
		return projection.Is(conditionType, true, v1alpha1.ReasonDeployed, "")
	}
	return projection.Is(conditionType, false, v1alpha1.ReasonDeploying, f.stalledDeploymentMessage())
}

func (f *Facts) missingReason() string { return cmp.Or(f.MissingReason, v1alpha1.ReasonMissing) }

// availableCondition reports whether each Site has an available pod. Pods of an earlier image count while the present image is not deployed; after
// that they are there because another controller changed the Deployment.
func availableCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeAvailable
	served, isWanted := f.isServedEverywhere(), f.hasWantedImage() && !f.KeepsOtherImage
	s, _ := f.firstNotServing()
	switch {
	case served && isWanted && f.isScaledToZero():
		return projection.Is(conditionType, true, string(deliveryv1alpha1.HealthScaledToZero), "")
	case served && isWanted:
		return projection.Is(conditionType, true, v1alpha1.ReasonServing, "")
	case served, !f.hasSucceeded() && f.hasEarlierImage():
		return projection.Is(conditionType, true, v1alpha1.ReasonEarlierImage, "Pods of an earlier image serve.")
	case f.Health.Image == "" || f.Health.Image != f.Image || s.Name == "":
		return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, "")
	case s.State == deliveryv1alpha1.HealthNotObserved:
		return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, siteMessage(s))
	case !f.hasSucceeded() && (s.State == deliveryv1alpha1.HealthMissing || s.State == deliveryv1alpha1.HealthOtherImage):
		return projection.Is(conditionType, false, v1alpha1.ReasonNotDelivered, fmt.Sprintf("The image is not delivered to Site %s yet.", s.Name))
	}
	return projection.Is(conditionType, false, cmp.Or(s.Reason, string(s.State)), siteMessage(s))
}

// isScaledToZero reports whether the desired number of pods is 0 at each Site.
func (f *Facts) isScaledToZero() bool {
	for _, s := range f.observedSites() {
		if s.State != deliveryv1alpha1.HealthScaledToZero {
			return false
		}
	}
	return true
}

// routedCondition reports whether each Gateway accepted the route of the current spec. An accepted route is that of an earlier spec until the deployment of this one
// succeeded, and the routes were read after its Site ran the revision; a refused route is reported as soon as the deployment has observed the spec.
func routedCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeRouted
	_, reason := f.routeTrouble()
	switch {
	case f.URL == "":
		return projection.Is(conditionType, true, v1alpha1.ReasonNotRequired, "")
	case f.Problem != "", f.RouteWaits, !f.Deployment.isSpecTakenUp():
		return projection.Unknown(conditionType, v1alpha1.ReasonNotDelivered, messageRoutePending)
	case len(f.Deployment.Sites) == 0, reason == string(deliveryv1alpha1.HealthNotObserved):
		return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, "")
	case reason != "":
		return projection.Is(conditionType, false, reason, f.routeMessage())
	case !f.Deployment.hasSucceeded():
		return projection.Unknown(conditionType, v1alpha1.ReasonNotDelivered, messageRoutePending)
	}
	if site := f.siteWithEarlierRoute(); site != "" {
		return projection.Unknown(conditionType, v1alpha1.ReasonNotDelivered, fmt.Sprintf("Site %s: the route was not read since the Site runs this spec.", site))
	}
	return projection.Is(conditionType, true, v1alpha1.ReasonAccepted, "")
}

// messageRoutePending is the message while the Sites are not proven to have the route of the current spec.
const messageRoutePending = "No deployment of this spec has succeeded yet: the Sites may have the route of an earlier spec."

// stalledCondition is true when the Application makes no progress until a user acts. A crash loop does not count: it may end by itself.
func stalledCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeStalled
	message := f.firstMatchingRow().message(f)
	switch {
	case f.Problem != "":
		return projection.Is(conditionType, true, f.ProblemReason, message)
	case f.Missing != "":
		return projection.Is(conditionType, false, v1alpha1.ReasonProgressing, "")
	case f.hasBuildFailed():
		return projection.Is(conditionType, true, f.Build.failureReason(), message)
	case f.wasRolledBack():
		return projection.Is(conditionType, true, v1alpha1.ReasonRolledBack, message)
	case f.hasDeploymentFailed():
		return projection.Is(conditionType, true, v1alpha1.ReasonDeploymentFailed, message)
	}
	return projection.Is(conditionType, false, v1alpha1.ReasonProgressing, "")
}

// reconcilingCondition is true while something is worked on or waited for. It is never true beside Stalled.
func reconcilingCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeReconciling
	if stalledCondition(f).Status == corev1.ConditionTrue || isApplicationReady(f) {
		return projection.Is(conditionType, false, v1alpha1.ReasonIdle, "")
	}
	if f.Missing == "" && f.hasWantedImage() && f.Deployment.isSuspended() {
		return projection.Is(conditionType, false, v1alpha1.ReasonHeldBack, f.pendingMessage())
	}
	row := f.firstMatchingRow()
	reason, message := v1alpha1.ReasonProgressing, row.message(f)
	switch {
	case f.Missing != "":
		reason = f.missingReason()
	case row.Phase == v1alpha1.PhaseBuilding:
		reason = v1alpha1.ReasonBuilding
	case row.Phase == v1alpha1.PhaseDeploying && !f.hasSucceeded():
		reason, message = v1alpha1.ReasonDeploying, f.deployingMessageWith(f.stalledDeploymentMessage())
	case row.Phase == v1alpha1.PhaseDeploying:
		reason = v1alpha1.ReasonDeploying
	}
	return projection.Is(conditionType, true, reason, message)
}

// isApplicationReady reports whether the Application is in its desired state: it runs, its route is accepted, and its deployment is Ready.
func isApplicationReady(f *Facts) bool {
	return f.firstMatchingRow().Phase == v1alpha1.PhaseRunning && routedCondition(f).Status == corev1.ConditionTrue && f.Deployment.Ready
}
