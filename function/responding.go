package function

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// unobserving returns the composed resources whose last change the provider has not observed for longer than its timeout, by kind and name. While
// one may still be observed in time, it says when to ask again.
func (c *Core) unobserving(in Input, out *Output) []string {
	if c.providerTimeout <= 0 {
		return nil
	}
	var late []string
	for _, name := range slices.Sorted(maps.Keys(in.Observed)) {
		o := in.Observed[name]
		changed := changedAt(o)
		if o.GetDeletionTimestamp() != nil || changed.IsZero() || observedGeneration(o) >= o.GetGeneration() {
			continue
		}
		wait := c.providerTimeout - in.Now.Sub(changed)
		out.again(max(wait, 0))
		if wait <= 0 {
			late = append(late, o.GetKind()+" "+o.GetName())
		}
	}
	return late
}

// changedAt is when something else than the status of an object was written last, as the API server notes it in managedFields.
func changedAt(o *unstructured.Unstructured) time.Time {
	var last time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// observedGeneration is the newest generation of an object that one of its conditions speaks of.
func observedGeneration(o *unstructured.Unstructured) int64 {
	var conditions []metav1.Condition
	if err := fieldpath.Pave(o.Object).GetValueInto("status.conditions", &conditions); err != nil {
		return 0
	}
	var newest int64
	for _, c := range conditions {
		newest = max(newest, c.ObservedGeneration)
	}
	return newest
}
