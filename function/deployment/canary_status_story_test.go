package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestCanaryStatus follows status.canary of a revision with a timed pause, of a revision with a pause that a user ends, and of a
// revision that is given up.
func TestCanaryStatus(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20), pauseStep("30s"), weightStep(50), pauseStep(""))
	story, _ := w.statusStory(cluster{})
	if diff := cmp.Diff([]string{"Shifting  100 blue of 0", "100 blue of 0"}, story); diff != "" {
		t.Errorf("\nA first revision has no steps.\n-want, +got:\n%s", diff)
	}
	w.sayCanary("two", 4)
	story, out := w.statusStory(cluster{})
	want := []string{
		"Preparing 1/4 0 green of 1", "Shifting 2/4 20 green of 1", "Paused 2/4 20 green of 1 until", "Shifting 3/4 50 green of 1",
		"AwaitingPromotion 3/4 50 green of 1 promote 3",
	}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("\nThe status says why each step waits.\n-want, +got:\n%s", diff)
	}
	w.wantCondition("A user is awaited.", out, deploymentv1alpha1.TypeReconciling, corev1.ConditionTrue, deploymentv1alpha1.ReasonAwaitingPromotion)
	if site := out.Status.Delivery.Sites["edge1"]; site.Weight == nil || *site.Weight != 50 {
		t.Errorf("\nThe status says which share a Site gives to the revision.\nwant 50, got %v", site.Weight)
	}
	w.ask("p", 2, action("Promote"), stepNumber(*out.Status.Canary.Promote))
	story, out = w.statusStory(cluster{})
	want = []string{"Shifting 4/4 100 green of 1", "Draining 4/4 100 green of 0", "4/4 100 green of 0"}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("\nA user releases the pause once, and the old pods are drained.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
	w.sayCanary("three", 4)
	w.until("edge1", "blue 3: 20, green 2: 80", cluster{})
	w.ask("a", 3, action("Abort"), uid("a"))
	story, out = w.statusStory(cluster{})
	want = []string{"RollingBack 2/4 0 blue of 2", "Draining 2/4 0 blue of 2", "2/4 0 blue of 2"}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("\nA revision that was given up loses its requests.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
}

// TestSuspendedAlone suspends a deployment in a track of which nothing is left to do.
func TestSuspendedAlone(t *testing.T) {
	w := newCanaryWorld(t, weightStep(50), weightStep(100))
	w.story("edge1", cluster{})
	w.in.Spec.Suspend = new(true)
	_, out := w.story("edge1", cluster{})
	if !out.Ready || out.Status.HeldBack {
		t.Errorf("\nA suspension without a newer request holds nothing back.\ngot ready %t, held back %t: %s", out.Ready, out.Status.HeldBack, out.Status.Message)
	}
}
