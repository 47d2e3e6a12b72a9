package desired

import (
	"testing"

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
