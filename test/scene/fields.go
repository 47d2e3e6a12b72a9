package scene

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Field is a string in an object, or empty.
func Field(o *unstructured.Unstructured, fields ...string) string {
	v, _, _ := unstructured.NestedString(o.Object, fields...)
	return v
}

// Number is an integer in an object, or 0.
func Number(o *unstructured.Unstructured, fields ...string) int64 {
	v, _, _ := unstructured.NestedInt64(o.Object, fields...)
	return v
}

// Is returns whether a condition has a status and, unless it is empty, a reason.
func Is(o *unstructured.Unstructured, typ string, status corev1.ConditionStatus, reason string) bool {
	c := Condition(o, typ)
	return c.Status == status && (reason == "" || string(c.Reason) == reason)
}

// Condition is a condition of an object, or one with an unknown status.
func Condition(o *unstructured.Unstructured, typ string) xpv2.Condition {
	c := struct {
		Status xpv2.ConditionedStatus `json:"status"`
	}{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &c); err != nil {
		return xpv2.Condition{Type: xpv2.ConditionType(typ), Status: corev1.ConditionUnknown}
	}
	return c.Status.GetCondition(xpv2.ConditionType(typ))
}
