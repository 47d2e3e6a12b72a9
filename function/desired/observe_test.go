package desired

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestObserve reads composed resources, and desires them as they are.
func TestObserve(t *testing.T) {
	observed := map[string]*unstructured.Unstructured{
		"state": {Object: map[string]any{"apiVersion": "v1", "kind": "State", "metadata": map[string]any{"name": "platform"}}},
		"wrong": {Object: map[string]any{"apiVersion": "v1", "kind": "State", "metadata": "platform"}},
	}
	cases := map[string]struct {
		reason, name string
		want         *metav1.PartialObjectMetadata
		fails        bool
	}{
		"There": {
			reason: "An existing resource is read.",
			name:   "state",
			want: &metav1.PartialObjectMetadata{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "State"}, ObjectMeta: metav1.ObjectMeta{Name: "platform"},
			},
		},
		"Missing": {reason: "A missing resource is nil.", name: "other"},
		"Wrong":   {reason: "An unreadable resource is an error.", name: "wrong", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Observe[metav1.PartialObjectMetadata](observed, tc.name)
			if tc.fails != (err != nil) {
				t.Fatalf("\n%s\nObserve(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" && !tc.fails {
				t.Errorf("\n%s\nObserve(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	delete(observed, "wrong")
	all, err := RetainAll(observed)
	if err != nil || len(all) != 1 || all["state"].Ready {
		t.Fatalf("RetainAll(...): %v, %v", all, err)
	}
	SetReady(all, "state", true)
	SetReady(all, "other", true)
	if len(all) != 1 || !all["state"].Ready {
		t.Errorf("SetReady(...): %v", all)
	}
}

// TestChangedAt reads when an object was written last.
func TestChangedAt(t *testing.T) {
	noon := metav1.NewTime(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	later := metav1.NewTime(noon.Add(time.Hour))
	spec, older := metav1.ManagedFieldsEntry{Manager: "a", Time: &noon}, metav1.ManagedFieldsEntry{Manager: "b", Time: new(metav1.NewTime(noon.Add(-time.Hour)))}
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		want    time.Time
	}{
		"None":   {reason: "An object without managed fields has no time of a change."},
		"Newest": {reason: "The newest write counts, in any order.", entries: []metav1.ManagedFieldsEntry{spec, older}, want: noon.Time},
		"Status": {
			reason:  "A write of the status is no change.",
			entries: []metav1.ManagedFieldsEntry{spec, {Manager: "c", Time: &later, Subresource: "status"}}, want: noon.Time,
		},
		"Timeless": {reason: "A write without a time is left out.", entries: []metav1.ManagedFieldsEntry{spec, {Manager: "d"}}, want: noon.Time},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{}}
			o.SetManagedFields(tc.entries)
			if got := ChangedAt(o); !got.Equal(tc.want) {
				t.Errorf("\n%s\nChangedAt(...): want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestObservedGeneration reads the newest observed generation of an object.
func TestObservedGeneration(t *testing.T) {
	condition := func(generation int64) any {
		return map[string]any{"type": "Ready", "status": "True", "observedGeneration": generation}
	}
	cases := map[string]struct {
		reason     string
		conditions any
		want       int64
	}{
		"Newest":     {reason: "The newest generation counts, in any order.", conditions: []any{condition(2), condition(3), condition(1)}, want: 3},
		"None":       {reason: "An object without conditions was not observed."},
		"Unreadable": {reason: "Conditions that cannot be read say nothing.", conditions: "none"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": tc.conditions}}}
			if got := ObservedGeneration(o); got != tc.want {
				t.Errorf("\n%s\nObservedGeneration(...): want %d, got %d", tc.reason, tc.want, got)
			}
		})
	}
}
