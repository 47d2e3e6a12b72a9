package imagebuild

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
)

// stepInterval is how often the step of a Build is written: each write costs the composite.
const stepInterval = 30 * time.Second

// Reasons of events.
const (
	// ReasonBuildStarted is the reason of the event for a Build that began.
	ReasonBuildStarted = "BuildStarted"

	// ReasonBuildSucceeded is the reason of the event for an image that was built and taken.
	ReasonBuildSucceeded = "BuildSucceeded"

	// ReasonBuildFailed is the reason of the event for a Build that failed.
	ReasonBuildFailed = "BuildFailed"
)

// A counter counts results of builds.
type counter interface {
	// Built counts a Build that ended, by its result and reason, and notes how long it took.
	Built(result, reason string, took time.Duration)
}

// updateStatus writes the decision into the status. The step of a Build may be a while old.
func (e *external) updateStatus(b *v1alpha1.ImageBuild, f *facts) {
	d := &e.decision
	e.note.next = instant.Earliest(d.again, f.lookDue)
	if e.recordStatusHold(d) {
		return
	}
	e.delayStepChange(d, f)
	if !e.quick {
		e.announceChanges(b, d.next)
	}
	b.Status.AtProvider = d.next
	if ready := readyCondition(b, d); !b.GetCondition(xpv2.TypeReady).Equal(ready) {
		b.SetConditions(ready)
	}
}

// recordStatusHold notes the request to kpack, and reports whether the status stays unchanged for a moment.
func (e *external) recordStatusHold(d *decision) bool {
	if e.quick {
		return d.isHeld
	}
	if d.asking != nil {
		e.note.asking = d.asking
	}
	e.note.heldWanted = nil
	if d.isHeld {
		e.note.heldWanted = &d.next.Wanted
	}
	return d.isHeld
}

// delayStepChange keeps the step of the same Build unchanged for a while.
func (e *external) delayStepChange(d *decision, f *facts) {
	previous, current := f.last.Running, d.next.Running
	if previous == nil || current == nil || previous.UID != current.UID || previous.Step == current.Step {
		return
	}
	if due := e.note.stepAt.Add(stepInterval); f.now.Before(due) {
		current.Step = previous.Step
		e.note.next = instant.Earliest(e.note.next, due)
		return
	}
	if !e.quick {
		e.note.stepAt = f.now
	}
}

// announceChanges records events, and counts, for changes that the status does not have yet.
func (e *external) announceChanges(b *v1alpha1.ImageBuild, next v1alpha1.ImageBuildObservation) {
	previous := b.Status.AtProvider
	if r := next.Running; r != nil && (previous.Running == nil || previous.Running.Build != r.Build || previous.Running.UID != r.UID) {
		e.note.stepAt = e.now()
		e.recorder.Event(b, event.Normal(event.Reason(ReasonBuildStarted), "Build "+r.Build+" of commit "+r.Commit+" began"))
	}
	if l := next.Latest; l != nil && (previous.Latest == nil || previous.Latest.Build != l.Build || previous.Latest.UID != l.UID) {
		e.counter.Built("Succeeded", "", buildDuration(previous, l.UID, l.At))
		e.recorder.Event(b, event.Normal(event.Reason(ReasonBuildSucceeded), "Build "+l.Build+" made "+l.Image))
	}
	if l := next.Failed; l != nil && (previous.Failed == nil || previous.Failed.Build != l.Build || previous.Failed.UID != l.UID) {
		e.counter.Built("Failed", l.Reason, buildDuration(previous, l.UID, l.At))
		e.recorder.Event(b, event.Event{Type: event.TypeWarning, Reason: event.Reason(ReasonBuildFailed), Message: "Build " + l.Build + " failed: " + l.Reason + ": " + l.Message})
	}
}

// buildDuration returns how long a Build ran that was seen running, or 0.
func buildDuration(previous v1alpha1.ImageBuildObservation, uid string, ended *metav1.Time) time.Duration {
	if previous.Running == nil || previous.Running.UID != uid || previous.Running.StartedAt == nil || ended == nil {
		return 0
	}
	return ended.Sub(previous.Running.StartedAt.Time)
}

func readyCondition(b *v1alpha1.ImageBuild, d *decision) xpv2.Condition {
	status := corev1.ConditionFalse
	if d.reason == v1alpha1.ReasonBuilt || d.reason == v1alpha1.ReasonRebuildLoop {
		status = corev1.ConditionTrue
	}
	c := xpv2.Condition{Type: xpv2.TypeReady, Status: status, LastTransitionTime: metav1.Now(), Reason: d.reason, Message: d.message}
	return c.WithObservedGeneration(b.GetGeneration())
}
