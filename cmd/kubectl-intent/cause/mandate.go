package cause

import (
	"fmt"
	"slices"
	"strings"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// describeMandated says how the provider went on by its mandate after the last status of the function, or why it holds the next step back. It is empty if the
// status shows that.
func (f *Facts) describeMandated() string {
	s := f.Ledger()
	switch {
	case s.Current == nil || !f.hasMandatedEvents(s):
		return f.describeHold(s)
	case s.IsRejected():
		return f.describeRejection(s)
	}
	return strings.TrimSpace(f.describeForward(s) + " " + f.describeHold(s))
}

// describeRejection says that the provider rejected a revision, and whether it rolled it back.
func (f *Facts) describeRejection(s ledger.State) string {
	rejection := fmt.Sprintf("Meanwhile the provider, by its mandate, rejected revision %d (%s: %s)", s.Current.Number, s.Verdict.Reason, strings.TrimSuffix(s.Verdict.Message, "."))
	isShown, isRestoredShown := f.publishedOutcome(s.Current.Number)
	switch {
	case isShown && (!s.Restored || isRestoredShown):
		return ""
	case s.Restored:
		return rejection + fmt.Sprintf(" and restored revision %d. %s", s.Target, statusIsOlder)
	case s.Cursor.Attempt > 0:
		return rejection + fmt.Sprintf(" and began to roll back to revision %d. %s", s.Target, statusIsOlder)
	}
	return rejection + ". " + statusIsOlder
}

// describeForward says that the provider verified a revision, or began a step or a wave of it.
func (f *Facts) describeForward(s ledger.State) string {
	status, part := f.Deployment.Status, "wave"
	switch {
	case s.IsVerified() && status.VerifiedRevision < s.Current.Number:
		return fmt.Sprintf("Meanwhile the provider, by its mandate, verified revision %d. %s", s.Current.Number, statusIsOlder)
	case s.IsVerified() || f.isStepPublished(s):
		return ""
	case s.Current.HasSteps():
		part = "step"
	}
	current := fmt.Sprintf("%s %d of %d of revision %d", part, s.Cursor.Step+1, len(s.Current.Plan), s.Current.Number)
	return fmt.Sprintf("Meanwhile the provider, by its mandate, began %s. %s", current, statusIsOlder)
}

// isStepPublished reports whether the status of the deployment shows the step of a state, which is a wave where no step shares requests.
func (f *Facts) isStepPublished(s ledger.State) bool {
	status := f.Deployment.Status
	if s.Current.HasSteps() {
		return status.Canary != nil && status.Revision == s.Current.Number && status.Canary.Step == fmt.Sprintf("%d/%d", s.Cursor.Step+1, len(s.Current.Plan))
	}
	isAwaited := func(site string) bool {
		return status.Delivery.Sites[site].Message == deploymentv1alpha1.SiteMessageWaveAwaited
	}
	return int(s.Cursor.Step) >= len(s.Current.Plan) || !slices.ContainsFunc(s.Current.Plan[s.Cursor.Step].Sites, isAwaited)
}

// describeHold says why the provider holds the next step of a revision back, although its evidence is there. It is empty if the provider holds nothing back.
func (f *Facts) describeHold(s ledger.State) string {
	for i := range f.Deliveries {
		m := f.Deliveries[i].Status.AtProvider.Mandate
		if m == nil || m.Hold == "" || s.Current == nil || m.Revision != s.Current.Number {
			continue
		}
		return fmt.Sprintf("The provider holds the next step of revision %d back: %s.", m.Revision, holdDescription(m.Hold))
	}
	return ""
}

// holdDescription returns a hold of a mandate in words.
func holdDescription(h deliveryv1alpha1.MandateHold) string {
	words := map[deliveryv1alpha1.MandateHold]string{
		deliveryv1alpha1.HoldClaimChanged: "the spec was edited, and Crossplane has not called the function since",
		deliveryv1alpha1.HoldClaimDeleted: "the deployment is gone, or is being deleted",
		deliveryv1alpha1.HoldClaimPaused:  "the deployment has the annotation crossplane.io/paused",
		deliveryv1alpha1.HoldClaimUnread:  "the API server does not answer the provider",
		deliveryv1alpha1.HoldFilesMissing: "no object and no repository has its files, which the function renders",
	}
	if text, ok := words[h]; ok {
		return text
	}
	return string(h)
}

// statusIsOlder says why a status is late.
const statusIsOlder = "The status is older: Crossplane has not called the function since."

// hasMandatedEvents reports whether the provider recorded events of the state by a mandate.
func (f *Facts) hasMandatedEvents(s ledger.State) bool {
	for i := range f.Deliveries {
		observation := f.Deliveries[i].Status.AtProvider
		if observation.Ledger != nil && observation.Ledger.Head == s.Head && observation.Taken != nil {
			return observation.Taken.Epoch == s.Epoch && observation.Taken.Seq < s.Seq
		}
	}
	return false
}

// publishedOutcome reports whether the transitions of the deployment show that a revision was rejected, and that its rollback ended.
func (f *Facts) publishedOutcome(revision int64) (isRejected, isRestored bool) {
	for _, t := range f.Deployment.Status.Transitions {
		if t.Revision == revision && t.Rejected != "" {
			isRejected, isRestored = true, isRestored || t.Restored != 0
		}
	}
	return isRejected, isRestored
}
