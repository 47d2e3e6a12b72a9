package imagebuild

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/kpack"
)

func imageNumber(n string) string { return imageRepository + "@sha256:" + strings.Repeat(n, 64) }

// TestLife goes from a branch to an image, and on to the next commit, a failing one and one after that.
func TestLife(t *testing.T) {
	w := newWorld(t)
	w.expect("kpack has not taken up the Image", "Queued")
	i := w.image()
	first := w.get().Status.AtProvider.Wanted.Commit
	revision, _, _ := unstructured.NestedString(i.Object, "spec", "source", "git", "revision")
	owner := metav1.GetControllerOf(i)
	if diff := cmp.Diff([]any{first, imageRepository, types.UID("ours"), 40}, []any{revision, kpack.TagOf(i), owner.UID, len(first)}); diff != "" {
		t.Fatalf("The Image asks for the commit, and is ours: -want, +got:\n%s", diff)
	}
	w.begins(1)
	w.expect("A Build of the commit runs", "Building")
	w.succeeds(1)
	w.expect("There is an image of the commit", "Built")
	observation := w.get().Status.AtProvider
	if observation.Latest == nil || observation.Latest.Image != imageNumber("1") || observation.Latest.Commit != first || observation.Running != nil || observation.WantedImage() == nil {
		t.Fatalf("%+v", observation)
	}
	second := w.push()
	w.expect("Another commit is wanted", "Queued")
	if observed := w.get().Status.AtProvider; observed.Wanted.Commit != second || observed.WantedImage() != nil || observed.Latest.Commit != first {
		t.Fatalf("The image of the previous commit does not count for the next commit: %+v", observed)
	}
	w.fails(2, "prepare", "analyze", "detect", "restore")
	w.expect("A step build that fails is not tried again", "BuildFailed")
	if f := w.get().Status.AtProvider.Failed; f == nil || f.Step != "build" || f.Attempts != 0 || f.Commit != second {
		t.Fatalf("%+v", f)
	}
	w.push()
	w.expect("A commit after a failed commit is built", "Queued")
	w.succeeds(3)
	w.expect("The next commit has an image", "Built")
	if diff := cmp.Diff([]string{"BuildStarted", "BuildSucceeded", "BuildFailed", "BuildSucceeded"}, w.events); diff != "" {
		t.Errorf("events: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Succeeded", "Failed/StepFailed", "Succeeded"}, w.counts); diff != "" {
		t.Errorf("counts: -want, +got:\n%s", diff)
	}
}

// TestSteady has an ImageBuild that nothing happens to.
func TestSteady(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.expect("The first commit is built", "Built")
	writes, looks := w.writes, w.looks
	for range 10 {
		w.wait(5*time.Minute + time.Second)
		w.reconcileOnce()
	}
	if w.writes != writes || w.looks != looks+10 {
		t.Errorf("%d writes of the status, and %d looks in ten intervals", w.writes-writes, w.looks-looks)
	}
	if w.result.RequeueAfter > 5*time.Minute {
		t.Errorf("The next look is due in %s", w.result.RequeueAfter)
	}
}

// TestQueued has a commit while a Build of another commit runs.
func TestQueued(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.begins(1)
	w.reconcile()
	second := w.push()
	w.reconcile()
	w.begins(1)
	w.expect("A Build that runs is not interrupted", "Queued")
	observation := w.get().Status.AtProvider
	if observation.Running == nil || observation.Running.Build != "shop-build-1" || observation.Running.Commit == second {
		t.Errorf("The Build that runs is shown: %+v", observation.Running)
	}
	w.plays(1, "True", "UpToDate", "True")
	w.expect("The image of the commit before is not taken", "Queued")
	if observed := w.get().Status.AtProvider; observed.Latest != nil {
		t.Errorf("%+v", observed.Latest)
	}
}
