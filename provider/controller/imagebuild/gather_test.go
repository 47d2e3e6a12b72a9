package imagebuild

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestBuildOfAnotherImage has an Image whose status names a Build that kpack did not make for it.
func TestBuildOfAnotherImage(t *testing.T) {
	cases := map[string]struct {
		reason string
		owners []metav1.OwnerReference
	}{
		"Users":   {reason: "A Build that a user made proves nothing."},
		"Earlier": {reason: "A Build of an earlier Image of that name proves nothing.", owners: []metav1.OwnerReference{{APIVersion: "kpack.io/v1alpha2", Kind: "Image", Name: "shop", UID: "before", Controller: new(true)}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.reconcile()
			w.plays(1, "True", "UpToDate", "True", func(b *unstructured.Unstructured) { b.SetOwnerReferences(tc.owners) })
			w.expect(tc.reason, "Queued")
			if at, message := w.get().Status.AtProvider, w.get().GetCondition("Ready").Message; at.Latest != nil || !strings.Contains(message, "delete that Build") {
				t.Fatalf("\n%s\n%+v, %s", tc.reason, at.Latest, message)
			}
			w.succeeds(2)
			w.expect("A Build of this Image is evidence", "Built")
			w.plays(3, "True", "UpToDate", "True", func(b *unstructured.Unstructured) { b.SetOwnerReferences(tc.owners) })
			w.expect("What was built stays", "Built")
			if at := w.get().Status.AtProvider; at.Latest.Image != imageNumber("2") {
				t.Errorf("\n%s\n%+v", tc.reason, at.Latest)
			}
		})
	}
}
