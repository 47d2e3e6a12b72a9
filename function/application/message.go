package application

import (
	"cmp"
	"fmt"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// pendingMessage names the missing object, or reports that the deployment has not observed the spec yet.
func (f *Facts) pendingMessage() string {
	switch d := f.Deployment; {
	case f.Missing != "":
		return f.Missing
	case !d.isSpecTakenUp() || d.Message == "":
		return fmt.Sprintf("IntentDeployment %s has not taken up this spec yet.", d.Name)
	default:
		return projection.Sentences("The deployment waits", d.Message)
	}
}

// buildMessage describes the progress of the build.
func (f *Facts) buildMessage() string {
	b := f.Build
	if b.needsApproval() {
		return capitalizeFirst(b.describeSource()) + " waits for an approval: the image of the deployment has no record. Push another commit, or approve its image."
	}
	switch b.State {
	case BuildWaiting:
		return projection.Sentences("The build waits: "+b.Reason, projection.Sentence(b.Message))
	case BuildRunning:
		if b.FailedFor != "" {
			return projection.Sentences(capitalizeFirst(b.describeSource())+" is built again after a failure: "+b.FailedFor, projection.Sentence(b.Message))
		}
		return projection.Sentences(capitalizeFirst(b.describeSource())+" is being built.", projection.Sentence(b.Message))
	case BuildFailed:
		return projection.Sentences("The build of "+b.describeSource()+" failed: "+cmp.Or(b.FailedFor, b.Reason), projection.Sentence(b.Message), b.failureAdvice())
	}
	return "The source was not observed yet."
}

// failureAdvice returns the action of a user after a failed build.
func (b *Build) failureAdvice() string {
	if b.isDisrupted() {
		return "Repair the nodes, or the object that the message names; then set another spec.source.trigger to build it again."
	}
	return "Push a commit that builds, or set another spec.source.trigger to build this one again."
}

// describeSource names the commit or archive of the build.
func (b *Build) describeSource() string {
	if b.Commit == "" {
		return "the archive"
	}
	return "commit " + shortCommit(b.Commit)
}

func capitalizeFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// rolledBackMessage repeats the cause of the rollback. The running image is in the state of the Sites.
func (f *Facts) rolledBackMessage() string {
	return projection.Sentences("The revision was rolled back.", projection.Sentence(f.Deployment.Message))
}

// failedMessage repeats why the deployment failed, with the trouble of the pods.
func (f *Facts) failedMessage() string {
	return projection.Sentences("The deployment failed.", projection.Sentence(f.Deployment.Message), f.unavailableMessage())
}

// runningMessage has the number of serving Sites.
func (f *Facts) runningMessage() string {
	serving, all := f.countServing()
	if _, reason := f.routeTrouble(); reason != "" {
		return projection.Sentences(servingText(serving, all), f.routeMessage())
	}
	return servingText(serving, all)
}

func servingText(serving, all int) string {
	if all == 1 && serving == 1 {
		return "The Site serves the image."
	}
	return fmt.Sprintf("%d of %d Sites serve the image.", serving, all)
}

// unavailableMessage names the first Site that does not serve, with the reason. It is empty if all Sites serve, or if the deployment names no Site.
func (f *Facts) unavailableMessage() string {
	s, found := f.firstNotServing()
	if !found {
		return ""
	}
	return projection.Sentences(f.servedMessage(), siteMessage(s))
}

// servedMessage has the number of serving Sites, and the number of unobserved Sites.
func (f *Facts) servedMessage() string {
	serving, all := f.countServing()
	switch unknownCount := f.countUnknown(); {
	case unknownCount == 0:
		return servingText(serving, all)
	case unknownCount < all:
		return fmt.Sprintf("%d of %d Sites serve the image, and of %d it is not known.", serving, all, unknownCount)
	case all == 1:
		return "It is not known whether the Site serves the image."
	}
	return "It is not known whether the Sites serve the image."
}

// siteMessage returns the reason why a Site does not serve.
func siteMessage(s deliveryv1alpha1.SiteHealthState) string {
	text := fmt.Sprintf("Site %s: %s", s.Name, cmp.Or(s.Reason, string(s.State)))
	if s.Message != "" {
		text += ": " + s.Message
	}
	return projection.Sentence(text)
}

// deployingMessage repeats the progress of the deployment; after its success, it names the Site without a pod.
func (f *Facts) deployingMessage() string {
	if f.hasSucceeded() {
		return cmp.Or(f.unavailableMessage(), "The deployment names no Sites yet.")
	}
	return f.deployingMessageWith(projection.Sentence(f.Deployment.Message))
}

func (f *Facts) deployingMessageWith(detail string) string {
	return projection.Sentences("The image is being deployed.", detail, f.troubleMessage())
}

// stalledDeploymentMessage repeats the deployment's message, if a user has to act. Conditions do not follow it from step to step, since each change of a
// condition costs two writes: status.message does.
func (f *Facts) stalledDeploymentMessage() string {
	if !f.Deployment.Stalled {
		return ""
	}
	return projection.Sentence(f.Deployment.Message)
}

// troubleMessage has the error of the pods while the deployment is in progress. Starting pods, and Sites without the image yet, are not errors.
func (f *Facts) troubleMessage() string {
	s, found := f.firstNotServing()
	if !found || s.State != deliveryv1alpha1.HealthUnavailable {
		return ""
	}
	return siteMessage(s)
}

// shortCommit returns the first characters of a commit id.
func shortCommit(id string) string { return id[:min(len(id), 8)] }

// routeTrouble returns the first Site whose route is not accepted, and why. The reason is empty if all routes are accepted, or the spec has none.
func (f *Facts) routeTrouble() (site deliveryv1alpha1.SiteHealthState, reason string) {
	if f.URL == "" {
		return site, ""
	}
	for _, s := range f.observedSites() {
		switch {
		case s.Route == nil:
			return s, string(deliveryv1alpha1.HealthNotObserved)
		case !s.Route.Accepted:
			return s, s.Route.Reason
		}
	}
	return site, ""
}

// siteWithEarlierRoute returns the first Site whose route was read before the Site was proven to run the revision of the deployment, or "". The route of a provider
// that records no revision counts.
func (f *Facts) siteWithEarlierRoute() string {
	for _, s := range f.observedSites() {
		if s.Route != nil && s.Route.Revision != nil && *s.Route.Revision != f.Deployment.Revision {
			return s.Name
		}
	}
	return ""
}

// routeMessage names the route that is not accepted, with the reason. It is empty if all routes are accepted.
func (f *Facts) routeMessage() string {
	s, reason := f.routeTrouble()
	switch {
	case reason == "":
		return ""
	case s.Route == nil && s.State == deliveryv1alpha1.HealthNotObserved:
		return projection.Sentence(fmt.Sprintf("Site %s: it is not known whether its route is accepted: %s", s.Name, cmp.Or(s.Message, s.Reason)))
	case s.Route == nil:
		return fmt.Sprintf("Site %s: the route was not observed yet.", s.Name)
	}
	text := fmt.Sprintf("Site %s: %s", s.Name, reason)
	if s.Route.Message != "" {
		text += ": " + s.Route.Message
	}
	return projection.Sentence(text)
}
