package imagebuild

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/cacheclient"
)

// TestBuildOfAnotherImage has an Image whose status names a Build that kpack did not make for it.
func TestBuildOfAnotherImage(t *testing.T) {
	cases := map[string]struct {
		reason string
		owners []metav1.OwnerReference
	}{
		"Users": {reason: "A Build that a user made proves nothing."},
		"Earlier": {
			reason: "A Build of an earlier Image of that name proves nothing.",
			owners: []metav1.OwnerReference{{APIVersion: "kpack.io/v1alpha2", Kind: "Image", Name: "shop", UID: "before", Controller: new(true)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.reconcile()
			w.plays(1, "True", "UpToDate", "True", func(b *unstructured.Unstructured) { b.SetOwnerReferences(tc.owners) })
			w.expect(tc.reason, "Queued")
			if observation, message := w.get().Status.AtProvider, w.get().GetCondition("Ready").Message; observation.Latest != nil || !strings.Contains(message, "delete that Build") {
				t.Fatalf("\n%s\n%+v, %s", tc.reason, observation.Latest, message)
			}
			w.succeeds(2)
			w.expect("A Build of this Image is evidence", "Built")
			w.plays(3, "True", "UpToDate", "True", func(b *unstructured.Unstructured) { b.SetOwnerReferences(tc.owners) })
			w.expect("The previous image stays", "Built")
			if observation := w.get().Status.AtProvider; observation.Latest.Image != imageNumber("2") {
				t.Errorf("\n%s\n%+v", tc.reason, observation.Latest)
			}
		})
	}
}

// TestUnnamedBuild has an Image whose status reports a running Build without its name, or with the name of a finished
// Build.
func TestUnnamedBuild(t *testing.T) {
	cases := map[string]struct {
		reason string
		// ended is the number of Builds that have ended. The Image names the last of them.
		ended int
		// isGone means that the last Build was removed since.
		isGone bool
	}{
		"First": {reason: "A first Build that the Image does not name runs."},
		"Next":  {reason: "A running Build counts, and not the previous Build, which the Image still names.", ended: 1},
		"Gone":  {reason: "A running Build counts, also if the Build that the Image names was removed.", ended: 1, isGone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.reconcile()
			if tc.ended > 0 {
				w.fails(tc.ended, "prepare", "analyze")
				w.wait(time.Minute)
			}
			w.plays(tc.ended+1, "Unknown", "BuildRunning", "Unknown")
			i := w.image()
			named := ""
			if tc.ended > 0 {
				named = fmt.Sprintf("shop-build-%d", tc.ended)
			}
			w.must(unstructured.SetNestedField(i.Object, named, "status", "latestBuildRef"))
			w.must(w.kube.Update(t.Context(), i))
			if tc.isGone {
				w.must(w.kube.Delete(t.Context(), w.build(tc.ended)))
			}
			w.expect(tc.reason, "Building")
			if running := w.get().Status.AtProvider.Running; running == nil || running.Build != fmt.Sprintf("shop-build-%d", tc.ended+1) {
				t.Errorf("\n%s\nthe status has %+v", tc.reason, running)
			}
		})
	}
}

// TestRunningBuildAmongOthers has an Image that does not name its running Build, in a namespace with fifty running Builds of other Images, and fifty Builds of the
// Image that have ended.
func TestRunningBuildAmongOthers(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.plays(1, "Unknown", "BuildRunning", "Unknown")
	i := w.image()
	w.must(unstructured.SetNestedField(i.Object, "", "status", "latestBuildRef"))
	w.must(w.kube.Update(t.Context(), i))
	for n := range 50 {
		otherImage, ended := w.build(1).DeepCopy(), w.build(1).DeepCopy()
		otherImage.SetName(fmt.Sprintf("other-build-%d", n))
		otherImage.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "kpack.io/v1alpha2", Kind: "Image", Name: "other", UID: "other", Controller: new(true)}})
		ended.SetName(fmt.Sprintf("ended-build-%d", n))
		succeeded := map[string]any{"type": "Succeeded", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
		w.must(unstructured.SetNestedSlice(ended.Object, []any{succeeded}, "status", "conditions"))
		for _, b := range []*unstructured.Unstructured{otherImage, ended} {
			b.SetUID("")
			b.SetResourceVersion("")
			w.must(w.kube.Create(t.Context(), b))
		}
	}
	counter := &cacheclient.Counter{Client: w.kube}
	w.c.cache = counter
	w.expect("The Build of the Image runs.", "Building")
	if counter.Listed == 0 || counter.Listed > 20 { // Each of some quick looks and reconciles reads the Build once.
		t.Errorf("An event reads the running Build of its Image, and no other Build of the namespace: it read %d", counter.Listed)
	}
}
