package cause

import (
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/advice"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// IsAnswered reports whether the status speaks about the current spec.
func (f *Facts) IsAnswered() bool {
	return f.SpecDigest == "" || f.Deployment.Status.IntentDigest == f.SpecDigest
}

// FindForDeployment returns why a deployment does not go on.
func FindForDeployment(f *Facts, now time.Time) Finding {
	d := f.Deployment
	r := root{
		kind: d.Kind, metadata: d.Metadata, conditions: d.Status.Conditions, installed: f.Installed,
		isAnswered: f.IsAnswered(),
	}
	chain := r.installationChain()
	isGood := false
	if chain == nil {
		chain, isGood = f.deploymentChain(now)
	}
	out := concludeChain(chain)
	out.Waiting = f.waitingRequests()
	if isGood && len(out.Waiting) > 0 {
		waiting := concludeChain(out.Waiting[:1])
		waiting.Waiting, out, isGood = out.Waiting, waiting, false
	}
	out.IsGood, out.Unread, out.Meanwhile = isGood, f.Unread, f.describeMandated()
	return out
}

// deploymentChain returns the chain from the deployment down to the blocker, and true if nothing blocks it.
func (f *Facts) deploymentChain(now time.Time) ([]Link, bool) {
	c, isGood := f.rootCondition()
	first := Link{Kind: advice.IntentDeployment, Object: "IntentDeployment " + f.Deployment.Metadata.Name, Reason: c.Reason, Message: c.Message, Since: c.lastTransition()}
	if first.Message == "" {
		first.Message = f.Deployment.Status.Message
	}
	out := []Link{first}
	if o := f.Installed.Composite; o != nil {
		out = append(out, Link{Object: o.Kind + " " + o.Metadata.Name})
	}
	if isGood {
		return out[:1], true
	}
	return append(out, f.followReason(c.Reason, now)...), false
}

// rootCondition returns the condition that says most about why the deployment does not go on, and true if it need not go on.
func (f *Facts) rootCondition() (Condition, bool) {
	s, isSuspended := f.Deployment.Status, ptr.Deref(f.Deployment.Spec.Suspend, false)
	all := s.Conditions
	c := all.Get(deploymentv1alpha1.TypeReconciling)
	stalled := all.Get(deploymentv1alpha1.TypeStalled)
	switch {
	case s.IsOfEarlierRequest() && isSuspended: // An earlier request may be stalled.
		return Condition{Type: c.Type, Status: metav1.ConditionFalse, Reason: deploymentv1alpha1.ReasonSuspended, Message: s.Message, LastTransitionTime: c.LastTransitionTime}, false
	case stalled.Status == metav1.ConditionTrue:
		return stalled, false
	case c.Status == metav1.ConditionFalse && c.Reason == deploymentv1alpha1.ReasonSuspended:
		return c, false
	case c.Status == metav1.ConditionFalse:
		return c, true
	case c.Status == metav1.ConditionTrue && c.Reason != deploymentv1alpha1.ReasonProgressing:
		return c, false
	}
	return f.progressCondition(c), false
}

// progressCondition returns the condition that describes the present work.
func (f *Facts) progressCondition(otherwise Condition) Condition {
	all := f.Deployment.Status.Conditions
	if c := all.Get(deploymentv1alpha1.TypeRecorded); c.Reason == deploymentv1alpha1.ReasonLedgerUnreachable {
		return c
	}
	for _, typ := range []string{deploymentv1alpha1.TypeSitesFound, deploymentv1alpha1.TypeDelivered, deploymentv1alpha1.TypeValidated, deploymentv1alpha1.TypeAvailable} {
		if c := all.Get(typ); c.Status != metav1.ConditionTrue && c.Reason != "" {
			return c
		}
	}
	return otherwise
}

// followReason goes from a reason of the deployment to the objects that it is about.
func (f *Facts) followReason(reason string, now time.Time) []Link {
	switch reason {
	case deploymentv1alpha1.ReasonNoData, deploymentv1alpha1.ReasonMetricsUnavailable, deploymentv1alpha1.ReasonMeasuring, deploymentv1alpha1.ReasonGateFailed,
		deploymentv1alpha1.ReasonHeld:
		return f.gateChain(now)
	case deploymentv1alpha1.ReasonSyncing, deploymentv1alpha1.ReasonNotLive, deploymentv1alpha1.ReasonSyncTimedOut, deploymentv1alpha1.ReasonSyncFailed,
		deploymentv1alpha1.ReasonSyncNotObserved, deploymentv1alpha1.ReasonWaitingForCluster, deploymentv1alpha1.ReasonClusterTimedOut:
		return f.siteChain(now)
	case deploymentv1alpha1.ReasonRolledBack:
		return f.verdictChain()
	case deploymentv1alpha1.ReasonRollingBack, deploymentv1alpha1.ReasonDelivering, deploymentv1alpha1.ReasonDeliveryBlocked, deploymentv1alpha1.ReasonObjectConflict,
		deploymentv1alpha1.ReasonLedgerUnreachable, deploymentv1alpha1.ReasonDeliveryTimedOut, deploymentv1alpha1.ReasonDeliveryRefused, deploymentv1alpha1.ReasonDrifted,
		deploymentv1alpha1.ReasonProviderNotResponding, deploymentv1alpha1.ReasonNothingOrdered, deploymentv1alpha1.ReasonProgressing:
		if chain := f.deliveryChain(now); chain != nil {
			return chain
		}
		return f.siteChain(now)
	}
	return nil
}

// verdictChain names the revision that was rejected, and why.
func (f *Facts) verdictChain() []Link {
	s := f.Ledger()
	if s.Current == nil || s.Verdict == nil || s.Verdict.Reason == "" {
		return nil
	}
	return []Link{{Kind: advice.IntentDeployment, Object: fmt.Sprintf("revision %d", s.Current.Number), Reason: s.Verdict.Reason, Message: s.Verdict.Message}}
}

// deliveryChain names the first GitDelivery, by name, that is not Ready. A deployment that goes out is blocked first by a GitDelivery that
// needs a person.
func (f *Facts) deliveryChain(now time.Time) []Link {
	var first []Link
	for i := range f.Deliveries {
		d := &f.Deliveries[i]
		ready := readyCondition(d.Status.GetCondition(xpv2.TypeReady))
		object := "GitDelivery " + d.Name
		if l, ok := f.Installed.unobservedLink(observeManaged(object, d), now); ok && first == nil {
			first = []Link{l}
			continue
		}
		if ready.Status == metav1.ConditionTrue {
			continue
		}
		l := Link{Kind: advice.GitDelivery, Object: object, Reason: ready.Reason, Message: ready.Message, Since: ready.lastTransition()}
		if a, ok := l.adviceForLink(); ok && a.NeedsPerson() {
			return []Link{l}
		}
		if first == nil {
			first = []Link{l}
		}
	}
	if first == nil && len(f.Deliveries) == 0 {
		return f.blockedSite()
	}
	return first
}

// blockedSite returns the deployment's own report of the repositories, for a user who may not read GitDeliveries.
func (f *Facts) blockedSite() []Link {
	for _, name := range sortedNames(f.Deployment.Status.Delivery.Sites) {
		s := f.Deployment.Status.Delivery.Sites[name]
		reason, message, _ := strings.Cut(s.Message, ": ")
		l := Link{Kind: advice.GitDelivery, Object: "Site " + name, Reason: reason, Message: message}
		if _, ok := l.adviceForLink(); ok && s.State != deploymentv1alpha1.SiteLive {
			return []Link{l}
		}
	}
	return nil
}

// IsUndecided reports whether nothing was decided about a RolloutRequest, so that the status of its deployment is still from before the
// request.
func IsUndecided(r *rolloutv1alpha1.RolloutRequest) bool {
	c := readyCondition(r.Status.GetCondition(rolloutv1alpha1.TypeCompleted))
	return c.Status != metav1.ConditionTrue && (c.Reason == "" || c.Reason == string(rolloutv1alpha1.ResultWaiting))
}

// waitingRequests are the open RolloutRequests that nothing was decided about.
func (f *Facts) waitingRequests() []Link {
	var out []Link
	for i := range f.Requests {
		r := &f.Requests[i]
		if !IsUndecided(r) {
			continue
		}
		c := readyCondition(r.Status.GetCondition(rolloutv1alpha1.TypeCompleted))
		if c.Reason == "" {
			c.Reason, c.Message = string(rolloutv1alpha1.ResultWaiting), "The provider has not looked at it yet."
		}
		out = append(out, Link{Kind: advice.RolloutRequest, Object: "RolloutRequest " + r.Name, Reason: c.Reason, Message: c.Message, Since: c.lastTransition()})
	}
	return out
}
