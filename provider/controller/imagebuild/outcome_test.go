package imagebuild

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
)

// TestRetry has Builds that fail because of the infrastructure.
func TestRetry(t *testing.T) {
	w := newWorld(t)
	w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Retries = new(int32(2)) })
	w.reconcile()
	for i, delay := range []time.Duration{30 * time.Second, 2 * time.Minute} {
		w.fails(i+1, "prepare", "analyze", "detect", "restore", "build")
		w.expect("A step export that fails is tried again", "Retrying")
		w.wait(delay - time.Second)
		w.expect("The delay is not over", "Retrying")
		if kpack.IsAskedAgain(w.build(i+1)) || w.result.RequeueAfter > time.Second {
			t.Fatalf("kpack is asked before the delay is over, or the next look is in %s", w.result.RequeueAfter)
		}
		w.wait(time.Second)
		w.expect("The delay is over", "Retrying")
		if !kpack.IsAskedAgain(w.build(i + 1)) {
			t.Fatalf("kpack is not asked after Build %d", i+1)
		}
	}
	w.fails(3, "prepare", "analyze", "detect", "restore", "build")
	w.expect("No retry is left", "BuildDisrupted")
	w.wait(time.Hour)
	w.expect("The Build stays disrupted", "BuildDisrupted")
	if kpack.IsAskedAgain(w.build(3)) {
		t.Error("kpack is asked although no retry is left")
	}
	w.edit(func(b *v1alpha1.ImageBuild) { b.Spec.ForProvider.Source.Trigger = "2" })
	w.reconcile()
	w.fails(3, "prepare", "analyze", "detect", "restore", "build")
	w.expect("Another trigger asks for the same commit", "Queued")
	if !kpack.IsAskedAgain(w.build(3)) {
		t.Error("kpack ignores another trigger unless it is asked")
	}
}

func (w *world) build(number int) *unstructured.Unstructured {
	w.Helper()
	u, err := readKpackObject(w.Context(), w.kube, kpack.BuildKind(), types.NamespacedName{Namespace: "team-a", Name: "shop-build-" + string(rune('0'+number))})
	w.must(err)
	return u
}

// TestEvicted has a pod that was evicted: kpack does not say so.
func TestEvicted(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.must(w.kube.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-build-1-build-pod"}, Status: corev1.PodStatus{Reason: "Evicted"}}))
	w.fails(1, "prepare", "analyze", "detect", "restore")
	w.expect("A pod that was evicted is tried again", "Retrying")
	if f := w.get().Status.AtProvider.Failed; f.Reason != "Evicted" || f.Step != "build" || f.Attempts != 1 {
		t.Errorf("%+v", f)
	}
}

// TestEditAfterFailure has another builder after a failed Build, which kpack ignores.
func TestEditAfterFailure(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.fails(1, "prepare", "analyze")
	w.expect("The Build failed", "BuildFailed")
	w.edit(func(b *v1alpha1.ImageBuild) {
		b.Spec.ForProvider.Builder = &v1alpha1.BuilderReference{Kind: "Builder", Name: "own"}
	})
	w.reconcile()
	w.fails(1, "prepare", "analyze")
	w.expect("The Build of an earlier request does not count for this request", "Queued")
	w.wait(2 * time.Second)
	w.reconcile()
	if !kpack.IsAskedAgain(w.build(1)) {
		t.Error("kpack ignores another builder after a failed Build, unless it is asked")
	}
}

// TestRebuilds has a builder whose images are built again and again.
func TestRebuilds(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	for n := range 4 {
		w.succeeds(n + 1)
		w.expect("A rebuilt image is taken", "Built")
		w.wait(time.Minute)
	}
	w.succeeds(5)
	w.expect("The fourth rebuild within an hour is not taken", "RebuildLoop")
	if observation := w.get().Status.AtProvider; observation.Latest.Image != imageNumber("4") || observation.WantedImage() == nil {
		t.Errorf("%+v", observation.Latest)
	}
	w.wait(time.Hour)
	w.expect("The hour is over", "Built")
	if observation := w.get().Status.AtProvider; observation.Latest.Image != imageNumber("5") {
		t.Errorf("%+v", observation.Latest)
	}
}

// TestNamesAgain has Builds whose names kpack uses again, since the Image was deleted.
func TestNamesAgain(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.fails(1, "prepare", "analyze", "detect", "restore")
	w.expect("A step build that fails is not tried again", "BuildFailed")
	w.must(w.kube.Delete(t.Context(), w.build(1)))
	w.must(w.kube.Delete(t.Context(), w.image()))
	w.wait(time.Hour)
	w.expect("The Image is made again", "Queued")
	w.buildUID = "another"
	w.fails(1, "prepare", "analyze", "detect", "restore", "build")
	w.expect("The failure of the earlier Build of that name is not this one's", "Retrying")
	if f := w.get().Status.AtProvider.Failed; f.Step != "export" || f.Attempts != 1 || f.UID != "another" {
		t.Errorf("%+v", f)
	}
	if diff := cmp.Diff([]string{"BuildFailed", "BuildFailed"}, w.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
}

// TestAttemptsAgain has a Build that was tried again before the Image was deleted: that counts no more.
func TestAttemptsAgain(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.fails(1, "prepare", "analyze", "detect", "restore", "build")
	w.expect("A step export that fails is tried again", "Retrying")
	w.must(w.kube.Delete(t.Context(), w.build(1)))
	w.must(w.kube.Delete(t.Context(), w.image()))
	w.wait(time.Hour)
	w.expect("The Image is made again", "Queued")
	w.buildUID = "another"
	w.fails(1, "prepare", "analyze", "detect", "restore", "build")
	w.expect("The first failure of the next Image is tried again", "Retrying")
}
