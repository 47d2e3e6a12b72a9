package setup

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reporter is the component that reports events.
const reporter = "intentplane-provider"

// NewEvent returns an event about an object that happened once. Type is corev1.EventTypeNormal or corev1.EventTypeWarning. The key makes its
// name: an occurrence has the same key in every process, so that it is reported once.
func NewEvent(subject corev1.ObjectReference, key, eventType string, reason event.Reason, message string, timestamp metav1.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: subject.Namespace, Name: subject.Name + "." + key},
		InvolvedObject:      subject,
		Type:                eventType,
		Reason:              string(reason),
		Message:             message,
		Source:              corev1.EventSource{Component: reporter},
		ReportingController: reporter,
		FirstTimestamp:      timestamp,
		LastTimestamp:       timestamp,
		Count:               1,
	}
}

// ReferenceTo returns the reference of events to an object.
func ReferenceTo(u *unstructured.Unstructured) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: u.GetUID()}
}
