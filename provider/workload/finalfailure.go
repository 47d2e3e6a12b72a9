package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// settleTime is how long a Gateway has to refuse a route, and an engine to be stalled. The objects of one commit come one after the other.
const settleTime = 10 * time.Second

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
		ObservedGeneration generation         `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// A generation is the number of a generation of an object.
type generation int64

// UnmarshalJSON decodes a number, and a number in a text, as Argo Rollouts writes it. It returns an error for any other text.
func (g *generation) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*g = generation(n)
	return errors.Wrap(err, "cannot parse generation")
}

// FindFinalFailure returns the failure that the status of an object declares final for its current generation, or nil. An object that another one controls
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
	states := finalStatesOf(u.GroupVersionKind().GroupKind())
	c := o.finalCondition(states)
	if c == nil {
		c = o.findFinalPhase(u, states)
	}
	if c == nil {
		return nil
	}
	message := fmt.Sprintf("%s %s/%s: %s", u.GetKind(), u.GetNamespace(), u.GetName(), strings.Trim(c.Reason+": "+c.Message, ": "))
	return &FinalFailure{Reason: gatewayapi.ReasonObjectFailed, Message: statusmessage.Sanitize(message), DeclaredAt: c.LastTransitionTime.Time}
}

// finalCondition returns the condition that declares a failure of the current generation final, or nil.
func (o failingObject) finalCondition(states []finalState) *metav1.Condition {
	i := slices.IndexFunc(o.Status.Conditions, func(c metav1.Condition) bool {
		return o.isConditionCurrent(c) && slices.ContainsFunc(states, func(f finalState) bool { return f.matchesCondition(c) })
	})
	if i < 0 {
		return nil
	}
	return &o.Status.Conditions[i]
}

// findFinalPhase returns a phase that declares a failure of the current generation final, as a condition, or nil. It has the time of the last
// change that the status knows.
func (o failingObject) findFinalPhase(u *unstructured.Unstructured, states []finalState) *metav1.Condition {
	i := slices.IndexFunc(states, func(f finalState) bool { return f.hasFinalPhase(u) })
	end := endedObject{}
	if i < 0 || !o.isConditionCurrent(metav1.Condition{}) || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &end) != nil {
		return nil
	}
	fields := states[i].phaseFieldsOf()
	endedAt, _ := time.Parse(time.RFC3339, readStatusText(u, fields.endedAt)) // The zero value means that the status has no time.
	changedAt := laterOfTimes(end.lastContainerEnd(), metav1.NewTime(endedAt))
	for _, c := range o.Status.Conditions {
		changedAt = laterOfTimes(changedAt, c.LastTransitionTime)
	}
	if states[i].needsEnd && changedAt.IsZero() {
		return nil
	}
	reason, message := cmp.Or(end.Status.Reason, readStatusText(u, fields.phase)), cmp.Or(readStatusText(u, fields.message), end.describeContainer())
	return &metav1.Condition{Reason: reason, Message: message, LastTransitionTime: changedAt}
}

// isConditionCurrent reports whether a condition is about the current generation, as far as the condition or the status says. A Job says neither: its spec never
// changes.
func (o failingObject) isConditionCurrent(c metav1.Condition) bool {
	observed := c.ObservedGeneration
	if observed == 0 {
		observed = int64(o.Status.ObservedGeneration)
	}
	return observed == 0 || observed >= o.Metadata.Generation
}

// findRefusal returns that a Gateway refuses the current generation of a route, or nil.
func findRefusal(u *unstructured.Unstructured) *FinalFailure {
	c := gatewayapi.RouteRefusal(u)
	if c == nil {
		return nil
	}
	reason, message := gatewayapi.RouteAcceptance(u)
	return NewFinalFailure(reason, message, c.LastTransitionTime.Time)
}

// FirstFinalFailure returns the first final failure of several objects that was declared since a time, or nil. An earlier one is about an
// earlier content of its object: a Deployment keeps its condition until the pods of the next template make progress. A failure that counts at
// once comes before a failure that has to settle.
func FirstFinalFailure(objects []*unstructured.Unstructured, start time.Time) *FinalFailure {
	var first *FinalFailure
	for _, u := range objects {
		first = EarlierFailure(first, u, start)
	}
	return first
}

// EarlierFailure returns the final failure of an object if it was declared since a time and comes before a first failure, which may be nil. Otherwise it
// returns the first failure. It keeps nothing of the object.
func EarlierFailure(first *FinalFailure, u *unstructured.Unstructured, start time.Time) *FinalFailure {
	next := FindFinalFailure(u)
	if next == nil || next.IsOlderThan(start) || first != nil && !next.SettlesAt.Before(first.SettlesAt) {
		return first
	}
	return next
}
