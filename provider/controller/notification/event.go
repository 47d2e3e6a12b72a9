package notification

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/notification"
)

// Reasons of events about notifications, on the deployment.
const (
	// ReasonNotificationDelayed is the reason of the event for a receiver that did not take the notification of an outcome, which is posted again.
	ReasonNotificationDelayed = "NotificationDelayed"

	// ReasonNotificationGivenUp is the reason of the event for a notification that is not posted again: its receiver did not take it for a day.
	ReasonNotificationGivenUp = "NotificationGivenUp"
)

// reportDelayed creates the event for the first post that failed. Host is the receiver's host in the configuration.
func (r *Reconciler) reportDelayed(ctx context.Context, a notification.Attempt, n *notification.Notification, host string, cause error) {
	message := fmt.Sprintf("%s did not take the notification that revision %d is %s: %s. The provider posts it again for a day", nameReceiver(a.Receiver, host), n.Revision, n.Result, cause)
	r.createEvent(ctx, a, n, event.Reason(ReasonNotificationDelayed), message)
}

// reportGivenUp creates the event for a notification that is not posted again.
func (r *Reconciler) reportGivenUp(ctx context.Context, a notification.Attempt, n *notification.Notification, host string, cause error) {
	message := fmt.Sprintf("%s did not take the notification that revision %d is %s, and the provider does not post it again: %s", nameReceiver(a.Receiver, host), n.Revision, n.Result, cause)
	r.createEvent(ctx, a, n, event.Reason(ReasonNotificationGivenUp), message)
}

// nameReceiver names a receiver as its configuration does, with its host where that is known.
func nameReceiver(id notification.ReceiverID, host string) string {
	if host == "" {
		return "Receiver " + id.Name()
	}
	return "Receiver " + id.Name() + " (" + host + ")"
}

// createEvent creates an event on the deployment of a notification. Its name is derived from the notification, so that it is made once. An event that
// cannot be made is logged: it must not keep the notification from being posted.
func (r *Reconciler) createEvent(ctx context.Context, a notification.Attempt, n *notification.Notification, reason event.Reason, message string) {
	err := r.kube.Create(ctx, r.newWarningEvent(a, n, reason, message))
	if err != nil && !kerrors.IsAlreadyExists(err) && !kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && !kerrors.IsNotFound(err) {
		r.logNotification("Cannot make event about a notification", n, "error", err)
	}
}

func (r *Reconciler) newWarningEvent(a notification.Attempt, n *notification.Notification, reason event.Reason, message string) *corev1.Event {
	sum, d := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", a.ID, a.Receiver, reason)), n.Deployment
	subject := corev1.ObjectReference{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name, UID: types.UID(d.UID)}
	return setup.NewEvent(subject, hex.EncodeToString(sum[:8]), corev1.EventTypeWarning, reason, message, metav1.NewTime(r.now()))
}
