package deployment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func weightStep(percent int32) deploymentv1alpha1.CanaryStep {
	return deploymentv1alpha1.CanaryStep{Weight: &percent}
}

func pauseStep(duration string) deploymentv1alpha1.CanaryStep {
	return deploymentv1alpha1.CanaryStep{Pause: &deploymentv1alpha1.CanaryPause{Duration: deploymentv1alpha1.Duration(duration)}}
}

// TestCanary delivers a first revision, and another one in steps.
func TestCanary(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20), pauseStep("30s"), weightStep(50))
	story, out := w.story("edge1", cluster{})
	if diff := cmp.Diff([]string{"blue 1: 100"}, story); diff != "" {
		t.Fatalf("\nThe first revision takes a track, and is alone there.\n-want, +got:\n%s\n%s: %s", diff, out.Status.Phase, out.Status.Message)
	}
	if out.Status.Phase != deploymentv1alpha1.PhaseSucceeded || !out.Ready {
		t.Fatalf("\nThe first revision succeeds.\ngot %s: %s", out.Status.Phase, out.Status.Message)
	}
	w.sayCanary("two", 4)
	story, out = w.story("edge1", cluster{})
	want := []string{"blue 1: 100, green 2: 0", "blue 1: 80, green 2: 20", "blue 1: 50, green 2: 50", "blue 1: 0, green 2: 100", "green 2: 100"}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("\nThe second revision starts its pods, gets more and more of the requests, and is alone at last.\n-want, +got:\n%s\n%s: %s", diff, out.Status.Phase, out.Status.Message)
	}
	if out.Status.Phase != deploymentv1alpha1.PhaseSucceeded || !out.Ready || out.Status.LiveRevision != 2 {
		t.Errorf("\nThe second revision succeeds.\ngot %s: %s", out.Status.Phase, out.Status.Message)
	}
}

// aCanary is a world whose first revision runs, with one Site and the steps 20, with a pause of 30s, and 50.
func aCanary(t *testing.T) *world {
	t.Helper()
	w := newCanaryWorld(t, weightStep(20), pauseStep("30s"), weightStep(50))
	if story, out := w.story("edge1", cluster{}); len(story) != 1 || !out.Ready {
		t.Fatalf("the first revision does not run: %q: %s", story, out.Status.Message)
	}
	return w
}

// until lets all parts act until the directory of a Site is in the given state.
func (w *world) until(site, want string, c cluster) *Output {
	w.t.Helper()
	for range 40 {
		if out := w.canaryRound(c); w.directory(site) == want {
			return out
		}
	}
	w.t.Fatalf("the directory of %s never has %q: it has %q", site, want, w.directory(site))
	return nil
}

func toRevision(n int64) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.ToRevision = &n }
}

func allSteps(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Full = new(true) }

// TestCanaryRejected rejects a second revision in different steps, or lets a user act.
func TestCanaryRejected(t *testing.T) {
	cases := map[string]struct {
		reason string
		// until the directory has this, all goes well.
		until string
		then  func(w *world) cluster
		want  []string
		phase deploymentv1alpha1.Phase
		live  int64
	}{
		"Aborted": {
			reason: "A canary that a user gives up loses its requests first, and is removed after the drain.", until: "blue 1: 80, green 2: 20",
			then: func(w *world) cluster { w.ask("a", 2, action("Abort")); return cluster{} },
			want: []string{"blue 1: 100, green 2: 0", "blue 1: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"Edited": {
			reason: "An edit in the middle takes the requests back, and begins with the pods of the next revision.", until: "blue 1: 80, green 2: 20",
			then: func(w *world) cluster { w.sayCanary("three", 4); return cluster{} },
			want: []string{
				"blue 1: 100, green 2: 0", "blue 1: 100, green 3: 0", "blue 1: 80, green 3: 20", "blue 1: 50, green 3: 50", "blue 1: 0, green 3: 100", "green 3: 100",
			},
			phase: deploymentv1alpha1.PhaseSucceeded, live: 3,
		},
		"EditedBack": {
			reason: "An edit back has no steps: the canary loses its requests, is drained and removed.", until: "blue 1: 80, green 2: 20",
			then: func(w *world) cluster { w.sayCanary("one", 4); return cluster{} },
			want: []string{"blue 1: 100, green 2: 0", "blue 3: 100, green 2: 0", "blue 3: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 3,
		},
		"Scaled": {
			reason: "A revision of other sizes alone replaces the stable one in its track.", until: "green 2: 100",
			then: func(w *world) cluster { w.sayCanary("two", 6); return cluster{} },
			want: []string{"green 3: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 3,
		},
		"RolledBackTo": {
			reason: "A rollback after the end puts the pods of the target beside, gives them the requests, and removes the others.", until: "green 2: 100",
			then: func(w *world) cluster { w.ask("r", 2, action("RollbackTo"), toRevision(1)); return cluster{} },
			want: []string{"blue 1: 0, green 2: 100", "blue 1: 100, green 2: 0", "blue 1: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"Promoted": {
			reason: "A user who releases all steps leaves those out that share requests, once the pods are enough.", until: "blue 1: 80, green 2: 20",
			then: func(w *world) cluster { w.ask("p", 2, action("Promote"), allSteps); return cluster{} },
			want: []string{"blue 1: 0, green 2: 100", "green 2: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 2,
		},
		"AbortedAfterPromotion": {
			reason: "A user may give up a canary that was promoted to the end, as long as it has no verdict.", until: "blue 1: 80, green 2: 20",
			then: func(w *world) cluster {
				w.ask("p", 2, action("Promote"), allSteps)
				w.until("edge1", "blue 1: 0, green 2: 100", cluster{})
				w.ask("a", 2, action("Abort"), func(r *rolloutv1alpha1.RolloutRequest) { r.SetUID("uid-of-abort") })
				return cluster{}
			},
			want: []string{"blue 1: 100, green 2: 0", "blue 1: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := aCanary(t)
			w.sayCanary("two", 4)
			w.until("edge1", tc.until, cluster{})
			if tc.until == "green 2: 100" {
				w.story("edge1", cluster{})
			}
			story, out := w.story("edge1", tc.then(w))
			if len(story) > 0 && story[0] == tc.until {
				story = story[1:]
			}
			if diff := cmp.Diff(tc.want, story); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\n%s: %s", tc.reason, diff, out.Status.Phase, out.Status.Message)
			}
			if out.Status.Phase != tc.phase || out.Status.LiveRevision != tc.live {
				t.Errorf("\n%s\nwant %s and revision %d live, got %s, %d: %s", tc.reason, tc.phase, tc.live, out.Status.Phase, out.Status.LiveRevision, out.Status.Message)
			}
		})
	}
}

// TestRollbackAfterRollback goes back to another revision after a rollback: the object still has the shared objects of the tracks.
func TestRollbackAfterRollback(t *testing.T) {
	w := aCanary(t)
	w.sayCanary("two", 4)
	w.story("edge1", cluster{})
	w.sayCanary("three", 4)
	w.until("edge1", "blue 3: 20, green 2: 80", cluster{})
	w.ask("a", 3, action("Abort"))
	w.story("edge1", cluster{})
	w.ask("r", 3, action("RollbackTo"), toRevision(1), uid("again"))
	story, out := w.story("edge1", cluster{})
	if len(story) > 0 && story[0] == "green 2: 100" {
		story = story[1:]
	}
	want := []string{"blue 1: 0, green 2: 100", "blue 1: 100, green 2: 0", "blue 1: 100"}
	if diff := cmp.Diff(want, story); diff != "" || out.Status.LiveRevision != 1 {
		t.Errorf("\nA rollback after another one puts the pods of the target beside first.\n-want, +got:\n%s\nlive: %d, %s", diff, out.Status.LiveRevision, out.Status.Message)
	}
}

// TestCanaryThatFails lets the pods of a second revision never come, without and with a rollback.
func TestCanaryThatFails(t *testing.T) {
	w := aCanary(t)
	w.sayCanary("two", 4)
	w.until("edge1", "blue 1: 100, green 2: 0", cluster{broken: map[int64]bool{2: true}})
	story, out := w.story("edge1", cluster{broken: map[int64]bool{2: true}})
	if diff := cmp.Diff([]string{"blue 1: 100, green 2: 0"}, story); diff != "" {
		t.Errorf("\nA canary without pods gets no requests.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
}

func stepNumber(n int32) func(*rolloutv1alpha1.RolloutRequest) {
	return func(r *rolloutv1alpha1.RolloutRequest) { r.Spec.Step = &n }
}

// TestRouteKindIsRefused delivers a route of a kind that the configuration does not allow.
func TestRouteKindIsRefused(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20))
	kinds := allowedKinds()
	w.set("ClusterProviderConfig", w.firstConfig(), kinds[:len(kinds)-1], "spec", "policy", "allowedKinds")
	out := w.call()
	got := fmt.Sprint(out.Conditions)
	if !strings.Contains(got, "HTTPRoute") || len(out.Resources) > 0 {
		t.Errorf("\nA route of a kind that is not allowed is refused, with its kind, and nothing is delivered.\ngot %q and %d resources", got, len(out.Resources))
	}
}
