package cause

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// specChangedAt returns when an object got its current generation, as far as the object says it: when a program last changed the spec, or when a user deleted
// the object. A controller that has not observed the generation has not done so since then. It returns nil if the object does not say it.
func specChangedAt(o metav1.Object) *metav1.Time {
	out := o.GetDeletionTimestamp()
	for _, entry := range o.GetManagedFields() {
		if !isSpecWriter(entry) || entry.Time == nil {
			continue
		}
		if out == nil || out.Before(entry.Time) {
			out = entry.Time
		}
	}
	return out
}

// isSpecWriter is true for a program that wrote a field of the spec. Programs that wrote the status, finalizers or annotations leave the
// generation as it is.
func isSpecWriter(entry metav1.ManagedFieldsEntry) bool {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return false
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, ok := fields["f:spec"]
	return ok
}
