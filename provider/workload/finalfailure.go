package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/engines"
)

const (
	// reasonDeadlineExceeded is the reason of condition Progressing once a rollout took longer than spec.progressDeadlineSeconds (the deployment controller's
	// TimedOutReason).
	reasonDeadlineExceeded = "ProgressDeadlineExceeded"

	// conditionStalled is the condition of kstatus by which any controller says that it does not try again until the object changes.
	conditionStalled = "Stalled"

	// settleTime is how long a Gateway has to refuse a route, and an engine to be stalled. The objects of one commit come one after the other.
	settleTime = 10 * time.Second
)

// A FinalFailure is a failure that a controller of the cluster declared final: it ends with a change of the object, and not with time.
type FinalFailure struct {
	// Reason and Message of the failure. The message names the object, and is one line.
	Reason, Message string

	// DeclaredAt is when the controller declared it. A failure from before a change of the object may be about the earlier content. The zero value means that
	// the status is about the present content.
	DeclaredAt time.Time

	// SettlesAt is when the failure counts, unless it ends before. The zero value means at once.
	SettlesAt time.Time
}

// NewFinalFailure returns a failure that counts if it lasts for a moment, and not if it is older than the object's present content.
func NewFinalFailure(reason, message string, declaredAt time.Time) *FinalFailure {
	out := &FinalFailure{Reason: reason, Message: message, DeclaredAt: declaredAt}
	if !declaredAt.IsZero() {
		out.SettlesAt = declaredAt.Add(settleTime)
	}
	return out
}

// IsOlderThan reports whether a controller declared the failure before a time. A failure without a time is about the present.
func (f FinalFailure) IsOlderThan(start time.Time) bool {
	return !f.DeclaredAt.IsZero() && f.DeclaredAt.Before(start)
}

// failingObject has the fields that are read from an object whose status may say that it failed.
type failingObject struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// finalConditions lists the conditions by which the controller of a kind declares a failure final. An empty group and kind stand for any.
func finalConditions() []finalCondition {
	return []finalCondition{
		{group: appsv1.GroupName, kinds: []string{"Deployment", "StatefulSet"}, conditionType: string(appsv1.DeploymentProgressing), status: metav1.ConditionFalse, reason: reasonDeadlineExceeded},
		{group: batchv1.GroupName, kinds: []string{"Job"}, conditionType: string(batchv1.JobFailed), status: metav1.ConditionTrue},
		{conditionType: conditionStalled, status: metav1.ConditionTrue},
	}
}

// A finalCondition is a condition by which a controller declares a failure final.
type finalCondition struct {
	group         string
	kinds         []string
	conditionType string
	status        metav1.ConditionStatus
	// reason of the condition. Empty stands for any.
	reason string
}

// FinalResources lists the resources of a deployment whose status may declare a failure final. The sources of Flux come last: they stall seldom.
func FinalResources() []schema.GroupVersionResource {
	out := []schema.GroupVersionResource{
		appsv1.SchemeGroupVersion.WithResource("deployments"), appsv1.SchemeGroupVersion.WithResource("statefulsets"), batchv1.SchemeGroupVersion.WithResource("jobs"),
		{Group: track.GatewayGroup, Version: "v1", Resource: "httproutes"},
		{Group: track.GatewayGroup, Version: "v1", Resource: "grpcroutes"},
		{Group: track.GatewayGroup, Version: "v1", Resource: "tlsroutes"},
		{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
		{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"},
	}
	for _, source := range []string{"gitrepositories", "ocirepositories", "helmrepositories", "buckets"} {
		out = append(out, schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: source})
	}
	return out
}

// FindFinalFailure returns the failure that the status of an object declares final for its present generation, or nil. An object that another one controls
// has none: its owner may replace it.
func FindFinalFailure(u *unstructured.Unstructured) *FinalFailure {
	if u == nil || u.GetDeletionTimestamp() != nil || metav1.GetControllerOfNoCopy(u) != nil {
		return nil
	}
	if u.GroupVersionKind().Group == track.GatewayGroup {
		return findRefusal(u)
	}
	o := failingObject{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &o) != nil {
		return nil // A status that cannot be decoded declares nothing.
	}
	for _, c := range o.Status.Conditions {
		isFinal := slices.ContainsFunc(finalConditions(), func(f finalCondition) bool { return f.matches(u, c) })
		if isFinal && o.isPresent(c) {
			message := fmt.Sprintf("%s %s/%s: %s", u.GetKind(), u.GetNamespace(), u.GetName(), strings.Trim(c.Reason+": "+c.Message, ": "))
			return &FinalFailure{Reason: engines.ReasonObjectFailed, Message: engines.SanitizeMessage(message), DeclaredAt: c.LastTransitionTime.Time}
		}
	}
	return nil
}

// matches reports whether a condition of an object declares a failure final.
func (f finalCondition) matches(u *unstructured.Unstructured, c metav1.Condition) bool {
	isKind := f.group == "" || f.group == u.GroupVersionKind().Group && slices.Contains(f.kinds, u.GetKind())
	return isKind && c.Type == f.conditionType && c.Status == f.status && (f.reason == "" || f.reason == c.Reason)
}

// isPresent reports whether a condition is about the present generation, as far as the condition or the status says. A Job says neither: its spec never changes.
func (o failingObject) isPresent(c metav1.Condition) bool {
	observed := c.ObservedGeneration
	if observed == 0 {
		observed = o.Status.ObservedGeneration
	}
	return observed == 0 || observed >= o.Metadata.Generation
}

// findRefusal returns that a Gateway refuses the present generation of a route, or nil.
func findRefusal(u *unstructured.Unstructured) *FinalFailure {
	c := engines.RouteRefusal(u)
	if c == nil {
		return nil
	}
	reason, message := engines.RouteAcceptance(u)
	return NewFinalFailure(reason, message, c.LastTransitionTime.Time)
}

// FirstFinalFailure returns the first final failure of several objects that was declared since a time, or nil. An earlier one is about an
// earlier content of its object: a Deployment keeps its condition until the pods of the next template make progress. A failure that counts at
// once comes before a failure that has to settle.
func FirstFinalFailure(objects []*unstructured.Unstructured, start time.Time) *FinalFailure {
	var first *FinalFailure
	for _, u := range objects {
		f := FindFinalFailure(u)
		if f == nil || f.IsOlderThan(start) {
			continue
		}
		if first == nil || f.SettlesAt.Before(first.SettlesAt) {
			first = f
		}
	}
	return first
}
