package imagebuild

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestHeld has a commit that kpack begins with at once: one write has the status together with the Build. The status has the desired commit two
// seconds later at the latest, and a failing look in between requests no earlier commit.
func TestHeld(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.expect("The first commit is built", "Built")
	writes, second := w.writes, w.push()
	w.reconcile()
	if w.writes != writes || w.get().Status.AtProvider.Wanted.Commit == second || w.result.RequeueAfter != beginDelay {
		t.Errorf("Nothing is written before kpack begins: %d writes, the next look is in %s", w.writes-writes, w.result.RequeueAfter)
	}
	w.begins(2)
	w.reconcile()
	if observation := w.get().Status.AtProvider; w.writes != writes+1 || observation.Wanted.Commit != second || observation.Running == nil {
		t.Errorf("The commit and the Build are one write: %d writes, %+v", w.writes-writes, observation)
	}
	w.plays(2, "Unknown", "BuildRunning", "True")
	w.reconcile()
	if w.writes != writes+1 {
		t.Errorf("The end of a Build is written once the Image reports it: %d writes", w.writes-writes)
	}
	w.succeeds(2)
	w.expect("The second commit is built", "Built")
	third := w.push()
	w.reconcile()
	w.down = errors.New("reset")
	w.wait(beginDelay)
	w.hook(w.newReplica(0))
	w.reconcile()
	revision, _, _ := unstructured.NestedString(w.image().Object, "spec", "source", "git", "revision")
	if observation := w.get().Status.AtProvider; observation.Wanted.Commit != third || revision != third || w.get().GetCondition("Ready").Reason != "Queued" {
		t.Errorf("A kpack that does not begin is reported: %+v, the Image asks for %s", observation, revision)
	}
}

// TestPodPending has a Build whose pod does not begin.
func TestPodPending(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.plays(1, "Unknown", "BuildRunning", "Unknown")
	w.expect("A pod has two minutes to begin", "Building")
	w.wait(2 * time.Minute)
	w.expect("A pod that does not begin is reported", "PodPending")
	w.begins(1)
	w.expect("The pod has begun", "Building")
}

// TestSteps has a Build that goes from step to step: each write costs the composite.
func TestSteps(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.begins(1)
	w.reconcile()
	writes := w.writes
	w.plays(1, "Unknown", "BuildRunning", "Unknown", runningStep("prepare", "analyze"))
	w.reconcile()
	if step := w.get().Status.AtProvider.Running.Step; step != "analyze" || w.writes != writes {
		t.Errorf("A step is not written at once: %s, %d writes", step, w.writes-writes)
	}
	if w.result.RequeueAfter > 30*time.Second {
		t.Errorf("The step is written in %s", w.result.RequeueAfter)
	}
	w.wait(30 * time.Second)
	w.reconcile()
	if step := w.get().Status.AtProvider.Running.Step; step != "detect" {
		t.Errorf("The step is written half a minute later: %s", step)
	}
}
