package readiness

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/statusmessage"
)

// An Object is the result of reading one object, which may be missing. Its fields are read leniently: a field of an unexpected type counts as
// unset.
type Object struct {
	*unstructured.Unstructured

	// Subject is the requested object. Empty if no object refers to one.
	Subject Subject
	// Contract that the object's kind follows.
	Contract Contract
	// Missing is why the object could not be read, one of the reasons of this package. Empty if it was.
	Missing string
}

// Found returns the reading of an existing object.
func Found(u *unstructured.Unstructured, c Contract) Object {
	return Object{Unstructured: u, Subject: Subject{Kind: u.GetKind(), Name: u.GetName()}, Contract: c}
}

// Lacks is an object that could not be read.
func Lacks(s Subject, reason string) Object { return Object{Subject: s, Missing: reason} }

// NotReferenced is an object that no other object refers to.
func NotReferenced() Object { return Object{Missing: ReasonNotReferenced} }

func (o Object) isObjectPresent() bool { return o.Unstructured != nil && o.Missing == "" }

// orNotReferenced is an object that no other object refers to, where its kind is unknown.
func (o Object) orNotReferenced() Object {
	if o.Unstructured == nil && o.Missing == "" {
		return NotReferenced()
	}
	return o
}

func (o Object) objectUID() string {
	if !o.isObjectPresent() {
		return ""
	}
	return string(o.GetUID())
}

// unreadCondition is the condition that follows from an object that could not be read.
func (o Object) unreadCondition(conditionType string) Condition {
	messages := map[string]string{
		ReasonKindMissing:     "the management cluster does not serve this kind",
		ReasonObjectMissing:   "it does not exist",
		ReasonAccessDenied:    "the management cluster does not let us read it",
		ReasonUnreachable:     "the management cluster does not answer",
		ReasonContractUnknown: "the definition of its kind names no contract of Cluster API that is known here",
		ReasonVersionUnknown:  "the management cluster serves no version of it that is known here",
		ReasonNotReferenced:   "the Cluster names none",
	}
	status := Unknown
	if o.Missing == ReasonObjectMissing || o.Missing == ReasonNotReferenced {
		status = False
	}
	return Condition{Type: conditionType, Status: status, Reason: o.Missing, Message: messages[o.Missing], By: o.Subject}
}

func (o Object) conditionWith(conditionType string, s Status, reason, message string) Condition {
	return Condition{Type: conditionType, Status: s, Reason: reason, Message: statusmessage.Sanitize(message), By: o.Subject}
}

func (o Object) textField(fields ...string) string {
	if !o.isObjectPresent() {
		return ""
	}
	s, _, _ := unstructured.NestedString(o.Object, fields...) // It is empty where something else stands there.
	return s
}

// boolField is a boolean. An unset field is false.
func (o Object) boolField(fields ...string) bool {
	if !o.isObjectPresent() {
		return false
	}
	b, _, err := unstructured.NestedBool(o.Object, fields...)
	return b && err == nil
}

func (o Object) intField(fields ...string) int64 {
	if !o.isObjectPresent() {
		return 0
	}
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, fields...) // It is nil where the path leads through something else.
	return parseJSONInteger(v)
}

// parseJSONInteger returns a JSON number as an integer, from each type that decoders use.
func parseJSONInteger(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// A foundCondition is a condition of an object, as its own controller wrote it.
type foundCondition struct {
	found                   bool
	status, reason, message string
	// generation of the object that it is said of.
	generation int64
}

func (s foundCondition) hasStatus(status Status) bool { return s.found && s.status == string(status) }

// messageText returns the message of the condition, with its reason if that says more.
func (s foundCondition) messageText() string {
	if s.message == "" {
		return s.reason
	}
	return s.message
}

// findCondition returns a condition of an object, where Kubernetes has it, or in another place.
func (o Object) findCondition(conditionType string, in ...string) foundCondition {
	if !o.isObjectPresent() {
		return foundCondition{}
	}
	if len(in) == 0 {
		in = []string{"status", "conditions"}
	}
	all, _, err := unstructured.NestedFieldNoCopy(o.Object, in...)
	list, ok := all.([]any)
	if err != nil || !ok {
		return foundCondition{}
	}
	for _, c := range list {
		m, ok := c.(map[string]any)
		if ok && m["type"] == conditionType {
			return foundCondition{
				found: true, status: stringOrEmpty(m["status"]), reason: stringOrEmpty(m["reason"]), message: stringOrEmpty(m["message"]),
				generation: parseJSONInteger(m["observedGeneration"]),
			}
		}
	}
	return foundCondition{}
}

// findSignal returns whether a signal is on, and the condition that says so if it is there.
func (o Object) findSignal(s signal) (bool, foundCondition) {
	if s.condition != "" {
		if c := o.findCondition(s.condition, s.conditions...); c.found {
			return c.hasStatus(True), c
		}
	}
	return len(s.flag) > 0 && o.boolField(s.flag...), foundCondition{}
}

func stringOrEmpty(v any) string {
	s, ok := v.(string)
	if !ok {
		return ""
	}
	return s
}

// annotatedPaused reports whether the annotation of an object pauses it.
func (o Object) annotatedPaused() bool {
	if !o.isObjectPresent() {
		return false
	}
	_, ok := o.GetAnnotations()[annotationPaused]
	return ok
}

// failureText returns the failure that an object reports, wherever its version has it. It is empty if there is none.
func (o Object) failureText() string {
	for _, l := range slices.Backward(supportedLayouts()) {
		base := l.failure
		reason, message := o.textField(append(slices.Clone(base), "failureReason")...), o.textField(append(slices.Clone(base), "failureMessage")...)
		if reason != "" && message != "" {
			return fmt.Sprintf("%s: %s", reason, message)
		}
		if reason+message != "" {
			return reason + message
		}
	}
	return ""
}
