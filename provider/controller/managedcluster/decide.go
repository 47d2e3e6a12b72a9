package managedcluster

import (
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/instant"
)

// A decision is the result of the facts: objects to apply, the Site, and the condition.
type decision struct {
	// apply lists the objects to apply, in this order.
	apply []*unstructured.Unstructured
	// publish is true if the Site has to be created.
	publish bool
	// reason and message of the condition Ready. It is true with ReasonReady only.
	reason  xpv2.ConditionReason
	message string
	// deadline is the time at which the awaited step times out. Zero if nothing can time out.
	deadline time.Time
}

// decideCluster returns the objects to apply, and the condition of the status. It is pure: the same facts give the same decision.
func decideCluster(f facts) decision {
	if reason, message := refuseReason(f); reason != "" {
		return decision{reason: reason, message: message}
	}
	d := decision{}
	ignored := []string{}
	for _, p := range f.parts {
		want, left := desired.Change(p.live, p.want)
		ignored = append(ignored, left...)
		if want != nil && mayApplyObjects(f) {
			d.apply = append(d.apply, want)
		}
	}
	d.reason, d.message, d.deadline = readyReason(f)
	d.publish = d.reason == v1alpha1.ReasonReady && f.site.missing && f.site.problem == "" && f.site.gone == ""
	switch {
	case len(ignored) > 0:
		d.reason = v1alpha1.ReasonChangeIgnored
		d.message = strings.Join(ignored, "; ") + ": CAPT ignores changes after it began. Revert the change, or build another cluster and move to it"
	case f.site.problem != "":
		d.reason, d.message = v1alpha1.ReasonPolicyDenied, f.site.problem
	case f.site.gone != "" && d.reason == v1alpha1.ReasonReady:
		d.reason, d.message = v1alpha1.ReasonSiteGone, f.site.gone
	}
	return d
}

// refuseReason returns the reason for creating no object, or an empty reason. The message names the error. No object is deleted because of it.
func refuseReason(f facts) (xpv2.ConditionReason, string) {
	switch lostObjects := describeLostObjects(f); {
	case f.denied != "":
		return v1alpha1.ReasonPolicyDenied, f.denied
	case f.unsupported.Reason != "":
		return xpv2.ConditionReason(f.unsupported.Reason), f.unsupported.String()
	case lostObjects != "":
		return v1alpha1.ReasonObjectsGone, lostObjects
	case f.taken != "":
		return v1alpha1.ReasonNameTaken, f.taken
	case f.site.problem != "" && isIncomplete(f):
		return v1alpha1.ReasonPolicyDenied, f.site.problem // A cluster whose Site cannot be published is not built: it would only cost money.
	case len(f.templates) > 0 && isIncomplete(f):
		return v1alpha1.ReasonTemplateMissing, strings.Join(f.templates, ", ") + " does not exist"
	}
	for _, p := range f.parts {
		if p.unknown != "" {
			return xpv2.ConditionReason(p.unknown), "cannot determine whether " + p.want.GetKind() + " " + p.want.GetName() + " exists"
		}
	}
	return "", ""
}

// isIncomplete reports whether an object has to be made.
func isIncomplete(f facts) bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.live == nil })
}

// mayApplyObjects reports whether objects may be applied: not to a cluster that is paused or being deleted.
func mayApplyObjects(f facts) bool {
	return !f.report.Is(readiness.TypePaused, readiness.True) && !f.report.Is(readiness.TypeDeleting, readiness.True)
}

// readyReason returns the reason of the condition Ready: ready, degraded, timed out, or the blocker.
func readyReason(f facts) (xpv2.ConditionReason, string, time.Time) {
	r := f.report
	b := r.Blocker()
	if b.Reason == "" && !r.Healthy() {
		b = unhealthyBlocker(r)
	}
	observation := f.mc.Status.AtProvider
	switch {
	case f.ready:
		return v1alpha1.ReasonReady, "", time.Time{}
	case r.Is(readiness.TypeDeleting, readiness.True):
		return v1alpha1.ReasonDeleting, b.String(), time.Time{}
	case b.Reason == "":
		return readiness.ReasonStabilizing, "it is ready, and has not been for long enough", time.Time{}
	case observation.WasReady != nil && observation.WasReady.UID == r.UID:
		return v1alpha1.ReasonDegraded, b.Reason + ": " + b.String(), time.Time{}
	}
	return timeoutReason(f, b)
}

// unhealthyBlocker returns the unhealthy object of a cluster that deployments can be delivered to.
func unhealthyBlocker(r readiness.Report) readiness.Blocker {
	for _, conditionType := range []string{readiness.TypeInfrastructureReady, readiness.TypeControlPlaneReady} {
		if c := r.Condition(conditionType); c.Status != readiness.True {
			return readiness.Blocker{By: c.By, Reason: c.Reason, Message: c.Message}
		}
	}
	return readiness.Blocker{}
}

// timeoutReason returns the step that timed out, or the blocker and its deadline. A step that timed out is still awaited.
func timeoutReason(f facts, b readiness.Blocker) (xpv2.ConditionReason, string, time.Time) {
	t := f.mc.Spec.ForProvider.Timeouts
	started, infrastructure := timeoutClocks(f)
	start, limit, reason := started, timeoutOrDefault(t.Infrastructure, defaultInfrastructure), v1alpha1.ReasonInfrastructureTimedOut
	if infrastructure != nil {
		start, limit, reason = infrastructure, timeoutOrDefault(t.ControlPlane, defaultControlPlane), v1alpha1.ReasonControlPlaneTimedOut
	}
	if start == nil || isPausedByUser(f.report) {
		return xpv2.ConditionReason(b.Reason), b.String(), time.Time{}
	}
	if end := start.Add(limit); f.now.Before(end) {
		return xpv2.ConditionReason(b.Reason), b.String(), end
	}
	return reason, b.Reason + ": " + b.String(), time.Time{}
}

// isPausedByUser reports whether a user paused the cluster, so that no controller works on it.
func isPausedByUser(r readiness.Report) bool {
	return r.Condition(readiness.TypePaused).Reason == readiness.ReasonPaused
}

// timeoutClocks returns the start of the wait for infrastructure and control plane. A pause does not count: after it, the awaited step has its whole timeout
// again.
func timeoutClocks(f facts) (started, infrastructure *metav1.Time) {
	observation := f.mc.Status.AtProvider
	rested := f.mc.Status.GetCondition(v1alpha1.TypePaused).Reason == readiness.ReasonPaused
	switch {
	case !rested || isPausedByUser(f.report) || observation.WasReady != nil:
		return observation.StartedAt, observation.InfrastructureReadyAt
	case observation.InfrastructureReadyAt != nil:
		return observation.StartedAt, instant.Timestamp(f.now)
	}
	return instant.Timestamp(f.now), nil
}

const (
	defaultInfrastructure = 15 * time.Minute
	defaultControlPlane   = 30 * time.Minute
	defaultDeletion       = time.Hour
)

// timeoutOrDefault parses a timeout. The API server has checked its form; an empty one is the default.
func timeoutOrDefault(text v1alpha1.Duration, otherwise time.Duration) time.Duration {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return otherwise
	}
	return d
}
