package setup

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
)

// reporter is the component that reports events.
const reporter = "intentplane-provider"

// Bounds of an event. The API server refuses a longer name, and the API events.k8s.io a longer message.
const (
	maxEventName    = 253
	maxMessageBytes = 1024
)

// NewEvent returns an event about an object that happened once. Type is corev1.EventTypeNormal or corev1.EventTypeWarning. The key makes its
// name: an occurrence has the same key in every process, so that it is reported once. A key identifies the subject, too: the names of two subjects may begin
// with the same characters, and a long name is cut. A long message is cut.
func NewEvent(subject corev1.ObjectReference, key, eventType string, reason event.Reason, message string, timestamp metav1.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: subject.Namespace, Name: eventObjectName(subject.Name, key)},
		InvolvedObject:      subject,
		Type:                eventType,
		Reason:              string(reason),
		Message:             boundMessage(message),
		Source:              corev1.EventSource{Component: reporter},
		ReportingController: reporter,
		FirstTimestamp:      timestamp,
		LastTimestamp:       timestamp,
		Count:               1,
	}
}

// eventObjectName returns the name of an event about an object, which is a name of DNS.
func eventObjectName(subject, key string) string {
	if limit := maxEventName - len(key) - 1; len(subject) > limit {
		subject = strings.TrimRight(subject[:limit], ".-")
	}
	return subject + "." + key
}

// boundMessage returns a message of at most maxMessageBytes. The packages that talk to servers remove credentials from texts of servers.
func boundMessage(message string) string {
	if len(message) <= maxMessageBytes {
		return message
	}
	const mark = "…"
	return strings.ToValidUTF8(message[:maxMessageBytes-len(mark)], "") + mark
}

// NewRecorder returns a recorder of events with bounded messages, for a controller.
func NewRecorder(mgr ctrl.Manager, name string) event.Recorder {
	return boundedRecorder{event.NewAPIRecorder(mgr.GetEventRecorderFor(name))}
}

// A boundedRecorder bounds the messages of events.
type boundedRecorder struct {
	event.Recorder
}

// Event records an event about an object.
func (r boundedRecorder) Event(o runtime.Object, e event.Event) {
	e.Message = boundMessage(e.Message)
	r.Recorder.Event(o, e)
}

// WithAnnotations returns a recorder of events with annotations.
func (r boundedRecorder) WithAnnotations(keysAndValues ...string) event.Recorder {
	return boundedRecorder{r.Recorder.WithAnnotations(keysAndValues...)}
}

// ReferenceTo returns the reference of events to an object.
func ReferenceTo(u *unstructured.Unstructured) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID()}
}
