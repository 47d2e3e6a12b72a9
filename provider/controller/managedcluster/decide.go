package managedcluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// A decision is what follows from the facts.
type decision struct {
	// apply these objects, in this order.
	apply []*unstructured.Unstructured
	// publish the Site.
	publish bool
	// reason of the Ready condition, which is true with ReasonReady only, and the message.
	reason  xpv2.ConditionReason
	message string
	// deadline is when the next thing will have taken too long. Zero if nothing can.
	deadline time.Time
}

// decide what is made, and what the status says. It is pure: the same facts give the same decision.
func decide(f facts) decision {
	if reason, message := refuse(f); reason != "" {
		return decision{reason: reason, message: message}
	}
	d := decision{}
	ignored := []string{}
	for _, p := range f.parts {
		want, left := change(p)
		ignored = append(ignored, left...)
		if want != nil && writable(f) {
			d.apply = append(d.apply, want)
		}
	}
	d.reason, d.message, d.deadline = state(f)
	d.publish = d.reason == v1alpha1.ReasonReady && f.site.missing && f.site.problem == "" && f.site.gone == ""
	switch {
	case len(ignored) > 0:
		d.reason = v1alpha1.ReasonChangeIgnored
		d.message = strings.Join(ignored, "; ") + ": CAPT carries out nothing that is changed after it began. Take the change back, or build another cluster and move to it"
	case f.site.problem != "":
		d.reason, d.message = v1alpha1.ReasonPolicyDenied, f.site.problem
	case f.site.gone != "" && d.reason == v1alpha1.ReasonReady:
		d.reason, d.message = v1alpha1.ReasonSiteGone, f.site.gone
	}
	return d
}

// refuse to make anything: what is wrong is named, and nothing is deleted.
func refuse(f facts) (xpv2.ConditionReason, string) {
	switch gone := lost(f); {
	case f.denied != "":
		return v1alpha1.ReasonPolicyDenied, f.denied
	case f.lacks.Reason != "":
		return xpv2.ConditionReason(f.lacks.Reason), f.lacks.String()
	case gone != "":
		return v1alpha1.ReasonObjectsGone, gone
	case f.taken != "":
		return v1alpha1.ReasonNameTaken, f.taken
	case f.site.problem != "" && incomplete(f):
		return v1alpha1.ReasonPolicyDenied, f.site.problem // What cannot be used as it was asked for is not paid for.
	case len(f.templates) > 0 && incomplete(f):
		return v1alpha1.ReasonTemplateMissing, strings.Join(f.templates, ", ") + " does not exist"
	}
	for _, p := range f.parts {
		if p.unknown != "" {
			return xpv2.ConditionReason(p.unknown), "it cannot be told whether " + p.want.GetKind() + " " + p.want.GetName() + " exists"
		}
	}
	return "", ""
}

// incomplete is true while something has to be made.
func incomplete(f facts) bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.live == nil })
}

// writable is false for a cluster that is paused, or that somebody deletes.
func writable(f facts) bool {
	return !f.report.Is(readiness.TypePaused, readiness.True) && !f.report.Is(readiness.TypeDeleting, readiness.True)
}

// change is the object to apply, or nil if it is as it should be. What CAPT would ignore is named, and not written.
func change(p part) (*unstructured.Unstructured, []string) {
	if p.live == nil {
		return p.want, nil
	}
	if carries(p.live, p.want) {
		return nil, nil
	}
	begun, _, _ := unstructured.NestedString(p.live.Object, "spec", "workspaceTemplateApplyName")
	ignored := differs(p)
	if begun == "" || len(ignored) == 0 && !says(text(p.live.GetLabels()), text(p.want.GetLabels())) {
		return p.want, nil // CAPT does nothing for a label, such as that of another ManagedCluster of the same composite.
	}
	return nil, ignored
}

// differs names the fields of a spec that are not as wanted, and those of ours that are not wanted any more.
func differs(p part) []string {
	live, _, _ := unstructured.NestedMap(p.live.Object, "spec")
	want, _, _ := unstructured.NestedMap(p.want.Object, "spec")
	fields := append(slices.Collect(maps.Keys(want)), optional()...)
	slices.Sort(fields)
	var out []string
	for _, field := range slices.Compact(fields) {
		left := slices.Contains(optional(), field) && live[field] != nil && !says(want[field], live[field])
		if left || want[field] != nil && !says(live[field], want[field]) {
			out = append(out, fmt.Sprintf("%s %s: spec.%s", p.want.GetKind(), p.want.GetName(), field))
		}
	}
	return out
}

// optional fields of CAPT's objects that nobody but us writes.
func optional() []string {
	return []string{"additionalTags", "existingVpcId", "retainVpcOnDelete", "vpcTemplateRef"}
}

// state of the cluster: ready, degraded, late, or on its way.
func state(f facts) (xpv2.ConditionReason, string, time.Time) {
	r := f.report
	b := r.Blocker()
	if b.Reason == "" && !r.Healthy() {
		b = unhealthy(r)
	}
	at := f.mc.Status.AtProvider
	switch {
	case f.ready:
		return v1alpha1.ReasonReady, "", time.Time{}
	case r.Is(readiness.TypeDeleting, readiness.True):
		return v1alpha1.ReasonDeleting, b.String(), time.Time{}
	case b.Reason == "":
		return readiness.ReasonStabilizing, "it is ready, and has not been for long enough", time.Time{}
	case at.WasReady != nil && at.WasReady.UID == r.UID:
		return v1alpha1.ReasonDegraded, b.Reason + ": " + b.String(), time.Time{}
	}
	return late(f, b)
}

// unhealthy is what is not well of a cluster that can be delivered to.
func unhealthy(r readiness.Report) readiness.Blocker {
	for _, of := range []string{readiness.TypeInfrastructureReady, readiness.TypeControlPlaneReady} {
		if c := r.Condition(of); c.Status != readiness.True {
			return readiness.Blocker{By: c.By, Reason: c.Reason, Message: c.Message}
		}
	}
	return readiness.Blocker{}
}

// late tells what took too long, and when it will have. It is waited on.
func late(f facts, b readiness.Blocker) (xpv2.ConditionReason, string, time.Time) {
	t := f.mc.Spec.ForProvider.Timeouts
	started, infrastructure := clocks(f)
	since, limit, reason := started, within(t.Infrastructure, defaultInfrastructure), v1alpha1.ReasonInfrastructureTimedOut
	if infrastructure != nil {
		since, limit, reason = infrastructure, within(t.ControlPlane, defaultControlPlane), v1alpha1.ReasonControlPlaneTimedOut
	}
	if since == nil || rests(f.report) {
		return xpv2.ConditionReason(b.Reason), b.String(), time.Time{}
	}
	if end := since.Add(limit); f.now.Before(end) {
		return xpv2.ConditionReason(b.Reason), b.String(), end
	}
	return reason, b.Reason + ": " + b.String(), time.Time{}
}

// rests is true for a cluster on which nobody works because somebody wants it so.
func rests(r readiness.Report) bool {
	return r.Condition(readiness.TypePaused).Reason == readiness.ReasonPaused
}

// clocks are since when infrastructure and control plane are waited for. A pause that has ended was no time of theirs, so the one that is
// waited for has all of its time again.
func clocks(f facts) (started, infrastructure *metav1.Time) {
	at := f.mc.Status.AtProvider
	rested := f.mc.Status.GetCondition(v1alpha1.TypePaused).Reason == readiness.ReasonPaused
	switch {
	case !rested || rests(f.report) || at.WasReady != nil:
		return at.StartedAt, at.InfrastructureReadyAt
	case at.InfrastructureReadyAt != nil:
		return at.StartedAt, stamp(f.now)
	}
	return stamp(f.now), nil
}

const (
	defaultInfrastructure = 15 * time.Minute
	defaultControlPlane   = 30 * time.Minute
	defaultDeletion       = time.Hour
)

// within is a timeout. The API server has checked its form.
func within(text v1alpha1.Duration, otherwise time.Duration) time.Duration {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return otherwise
	}
	return d
}
