package transition

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// Reasons of the events of a canary. Each is made once for a step of a revision.
const (
	// ReasonCanaryStep is the reason of the event for a step that begins.
	ReasonCanaryStep = "CanaryStep"

	// ReasonCanaryPaused is the reason of the event for a pause that runs.
	ReasonCanaryPaused = "CanaryPaused"

	// ReasonCanaryAwaitsPromotion is the reason of the event for a step that waits for a user: its pause has no duration, or its Gate no verdict.
	ReasonCanaryAwaitsPromotion = "CanaryAwaitsPromotion"

	// ReasonCanaryPromoted is the reason of the event for a step that a user released.
	ReasonCanaryPromoted = "CanaryPromoted"

	// ReasonCanaryTrafficReturned is the reason of the event for a rejected revision that no Site gives requests any more.
	ReasonCanaryTrafficReturned = "CanaryTrafficReturned"
)

// A canaryLog is the observed canary of one deployment in this process.
type canaryLog struct {
	// last is the last canary status, of revision.
	last     deploymentv1alpha1.CanaryStatus
	revision int64

	// isRejected is true if the status had the rejection of the revision.
	isRejected bool

	// began is the time at which this process observed the begin of the step, and rejected the begin of the rollback. Zero: it began before.
	began, rejected time.Time

	// reported are the reasons of the events that this process made for the step, and pending the events that are not made yet.
	reported map[event.Reason]bool
	pending  []*corev1.Event
}

// isCanaryAtRest is true for a canary that makes no progress.
func isCanaryAtRest(c deploymentv1alpha1.CanaryStatus) bool { return c.State == "" }

// isStepUnderWay is true for a canary whose step has not come to its end: the last one has once its verdict is recorded and the other track drains. A
// revision without steps has none.
func isStepUnderWay(c deploymentv1alpha1.CanaryStatus) bool {
	n, all, _ := strings.Cut(c.Step, "/")
	isDrained := c.State == deploymentv1alpha1.CanaryDraining && n == all
	return !isCanaryAtRest(c) && c.Step != "" && c.State != deploymentv1alpha1.CanaryRollingBack && !isDrained
}

// awaitsUserRelease is true for a step that a user has to release.
func awaitsUserRelease(c deploymentv1alpha1.CanaryStatus) bool {
	return c.State == deploymentv1alpha1.CanaryAwaitingPromotion || c.State == deploymentv1alpha1.CanaryHeld
}

// updateCanary counts the changes of a deployment's canary, and adds the events about them.
func (r *Reconciler) updateCanary(s *phaseLog, u *unstructured.Unstructured, status *observedStatus) {
	log, now := &s.canary, ptr.Deref(status.Canary, deploymentv1alpha1.CanaryStatus{})
	r.countCanary(log.last.State, now.State)
	isOther, isRejected := status.Revision != log.revision, status.Rollback.Reason != ""
	if result := r.stepEndResult(log, now, isOther, isRejected); result != "" && s.observed {
		r.countCanaryStep(log, result)
		if result == telemetry.StepPromoted {
			log.addEvent(newCanaryEvent(u, log.revision, log.last.Step, event.Reason(ReasonCanaryPromoted), r.now(), fmt.Sprintf("Step %s of revision %d was promoted", log.last.Step, log.revision)))
		}
	}
	r.updateRejection(log, u, now, isOther, s.observed)
	if isOther || now.Step != log.last.Step {
		log.began, log.reported = time.Time{}, map[event.Reason]bool{}
		if s.observed {
			log.began = r.now()
		}
	}
	log.last, log.revision, log.isRejected = now, status.Revision, isRejected
	if reason, message := canaryReason(u, now, status.Revision); reason != "" && !log.reported[reason] {
		log.reported[reason] = true
		log.addStepEvent(u, now, status.Revision, r.now())
		log.addEvent(newCanaryEvent(u, status.Revision, now.Step, reason, r.now(), message))
	}
}

// countCanary moves a deployment to the count of the state of its canary.
func (r *Reconciler) countCanary(previous, now deploymentv1alpha1.CanaryState) {
	if previous == now {
		return
	}
	if previous != "" {
		r.metrics.CanaryState(previous, -1)
	}
	if now != "" {
		r.metrics.CanaryState(now, 1)
	}
}

// stepEndResult returns the end of the step of the last observation, or "" if it is in progress or had ended before. A rejection ends the step in any following
// state: a canary that has no requests to lose is never RollingBack.
func (r *Reconciler) stepEndResult(log *canaryLog, now deploymentv1alpha1.CanaryStatus, isOther, isRejected bool) string {
	previous := log.last
	switch {
	case log.isRejected || !isStepUnderWay(previous):
		return ""
	case isOther:
		return telemetry.StepSuperseded
	case isRejected, now.State == deploymentv1alpha1.CanaryRollingBack:
		return telemetry.StepRejected
	case isStepUnderWay(now) && now.Step == previous.Step:
		return ""
	case awaitsUserRelease(previous), previous.Until != nil && previous.State == deploymentv1alpha1.CanaryPaused && r.now().Before(previous.Until.Time):
		return telemetry.StepPromoted
	}
	return telemetry.StepReleased
}

func (r *Reconciler) countCanaryStep(log *canaryLog, result string) {
	r.metrics.CanaryStepEnded(result)
	if !log.began.IsZero() {
		r.metrics.CanaryStepTook(r.now().Sub(log.began))
	}
}

// updateRejection follows a rejected revision until it has lost its requests.
func (r *Reconciler) updateRejection(log *canaryLog, u *unstructured.Unstructured, now deploymentv1alpha1.CanaryStatus, isOther, observed bool) {
	wasRollingBack, isRollingBack := log.last.State == deploymentv1alpha1.CanaryRollingBack, now.State == deploymentv1alpha1.CanaryRollingBack
	switch {
	case isRollingBack && (!wasRollingBack || isOther):
		log.rejected = time.Time{}
		if observed {
			log.rejected = r.now()
		}
	case wasRollingBack && !isRollingBack && !isOther:
		message := fmt.Sprintf("Revision %d gets no requests any more", log.revision)
		log.addEvent(newCanaryEvent(u, log.revision, log.last.Step, event.Reason(ReasonCanaryTrafficReturned), r.now(), message))
		if !log.rejected.IsZero() {
			r.metrics.CanaryLostRequests(r.now().Sub(log.rejected))
		}
	}
}

// canaryReason returns the reason and the message of the event for a state. Both are empty for a state without an event.
func canaryReason(u *unstructured.Unstructured, c deploymentv1alpha1.CanaryStatus, revision int64) (reason event.Reason, message string) {
	weight := ptr.Deref(c.Weight, 0)
	if c.Step == "" {
		return "", "" // A revision without steps.
	}
	switch c.State {
	case deploymentv1alpha1.CanaryPreparing, deploymentv1alpha1.CanaryShifting, deploymentv1alpha1.CanaryMeasuring:
		return event.Reason(ReasonCanaryStep), stepMessage(c, revision)
	case deploymentv1alpha1.CanaryPaused:
		message = fmt.Sprintf("Revision %d pauses at %d %% of the requests", revision, weight)
		if c.Until != nil {
			message += " until " + c.Until.UTC().Format(time.RFC3339)
		}
		return event.Reason(ReasonCanaryPaused), message
	case deploymentv1alpha1.CanaryAwaitingPromotion:
		return event.Reason(ReasonCanaryAwaitsPromotion), fmt.Sprintf("Revision %d waits at %d %% of the requests for a user: %s", revision, weight, promoteCommand(u))
	case deploymentv1alpha1.CanaryHeld:
		return event.Reason(ReasonCanaryAwaitsPromotion), fmt.Sprintf("Revision %d waits at %d %% of the requests for a user, since its Gate came to no verdict: %s", revision, weight, promoteCommand(u))
	case deploymentv1alpha1.CanaryDraining, deploymentv1alpha1.CanaryRollingBack:
	}
	return "", ""
}

func promoteCommand(u *unstructured.Unstructured) string {
	return fmt.Sprintf("kubectl intent promote %s -n %s", u.GetName(), u.GetNamespace())
}

func stepMessage(c deploymentv1alpha1.CanaryStatus, revision int64) string {
	if weight := ptr.Deref(c.Weight, 0); weight > 0 {
		return fmt.Sprintf("Revision %d is at step %s: it gets %d %% of the requests", revision, c.Step, weight)
	}
	return fmt.Sprintf("Revision %d is at step %s: its pods start in track %s, and get no requests", revision, c.Step, c.Track)
}

// addStepEvent adds the event for the begin of a step that this process observes in a later state.
func (l *canaryLog) addStepEvent(u *unstructured.Unstructured, c deploymentv1alpha1.CanaryStatus, revision int64, timestamp time.Time) {
	if !l.reported[event.Reason(ReasonCanaryStep)] {
		l.reported[event.Reason(ReasonCanaryStep)] = true
		l.addEvent(newCanaryEvent(u, revision, c.Step, event.Reason(ReasonCanaryStep), timestamp, stepMessage(c, revision)))
	}
}

// addEvent adds an event that is not made yet. The oldest one of too many is dropped.
func (l *canaryLog) addEvent(e *corev1.Event) {
	l.pending = append(l.pending, e)
	l.pending = l.pending[max(0, len(l.pending)-maxPending):]
}

// createCanaryEvents creates the events that are not made yet. An event that exists was made by another process.
func (r *Reconciler) createCanaryEvents(ctx context.Context, s *phaseLog) error {
	for len(s.canary.pending) > 0 {
		err := r.kube.Create(ctx, s.canary.pending[0].DeepCopy())
		if err != nil && !kerrors.IsAlreadyExists(err) && !kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			return errors.Wrap(err, "cannot make event")
		}
		s.canary.pending = s.canary.pending[1:]
	}
	return nil
}

// newCanaryEvent returns the event of a step. Its name is derived from the revision, the step and the reason, so that it is made once.
func newCanaryEvent(u *unstructured.Unstructured, revision int64, step string, reason event.Reason, timestamp time.Time, message string) *corev1.Event {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s canary %d %s %s", u.GetUID(), revision, step, reason))
	kind := corev1.EventTypeNormal
	if reason == event.Reason(ReasonCanaryTrafficReturned) {
		kind = corev1.EventTypeWarning
	}
	return setup.NewEvent(setup.ReferenceTo(u), hex.EncodeToString(sum[:8]), kind, reason, message, metav1.NewTime(timestamp))
}
