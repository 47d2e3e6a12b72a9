package deployment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// newMovingWorld has the Blueprint of the quickstart, which has no tracks, and the Blueprint with tracks.
func newMovingWorld(t *testing.T) *world {
	t.Helper()
	w := newCanaryWorld(t)
	for _, o := range quickstart(t) {
		if o.GetKind() == "Blueprint" {
			w.addObject(o.DeepCopy())
		}
	}
	w.in.Spec.DeliveryConfig.Canary = nil
	return w
}

// sayPlain asks for the Blueprint without tracks.
func (w *world) sayPlain(replicas int) {
	w.say(fmt.Sprintf(`{"service": "shop", "type": "web", "sites": ["edge1"], "replicas": %d}`, replicas))
}

// TestMoveTracks moves a deployment from a Blueprint without tracks to a Blueprint with tracks, and back. The provider may be late: a call then repeats the
// request of the previous call.
func TestMoveTracks(t *testing.T) {
	for name, isLate := range map[string]bool{"AtOnce": false, "Late": true} {
		t.Run(name, func(t *testing.T) {
			w := newMovingWorld(t)
			w.isLate = isLate
			w.tellMoves()
		})
	}
}

// tellMoves moves a deployment to tracks, back, and again.
func (w *world) tellMoves() {
	w.t.Helper()
	t := w.t
	steps := []struct {
		reason string
		say    func()
		want   []string
	}{
		{reason: "A first revision without tracks is delivered as ever.", say: func() { w.sayPlain(2) }, want: []string{"flat 1"}},
		{
			reason: "The pods of a track come beside those without, get all requests, and the others go after that.", say: func() { w.sayCanary("one", 4) },
			want: []string{"blue 2: 0, plain 1: 100", "blue 2: 100, plain 1: 0", "blue 2: 100"},
		},
		{
			reason: "Once in tracks a deployment has steps, if it asks for them.", say: func() {
				w.in.Spec.DeliveryConfig.Canary = &deploymentv1alpha1.CanaryConfig{Steps: []deploymentv1alpha1.CanaryStep{weightStep(20)}}
				w.sayCanary("two", 4)
			},
			want: []string{"blue 2: 100, green 3: 0", "blue 2: 80, green 3: 20", "blue 2: 0, green 3: 100", "green 3: 100"},
		},
		{
			reason: "The pods without tracks start beside a track, get all requests, and the track is removed after that.",
			say:    func() { w.in.Spec.DeliveryConfig.Canary = nil; w.sayPlain(3) },
			want:   []string{"green 3: 100, plain 4: 0", "green 3: 0, plain 4: 100", "flat 4"},
		},
		{reason: "The next revision is delivered in place.", say: func() { w.sayPlain(5) }, want: []string{"flat 5"}},
		{
			reason: "A deployment may move again.", say: func() { w.sayCanary("three", 4) },
			want: []string{"blue 6: 0, plain 5: 100", "blue 6: 100, plain 5: 0", "blue 6: 100"},
		},
	}
	for i, s := range steps {
		previous := w.directory("edge1")
		s.say()
		story, out := w.story("edge1", cluster{})
		if story[0] == previous {
			story = story[1:]
		}
		if diff := cmp.Diff(s.want, story); diff != "" {
			t.Fatalf("\n%s\n-want, +got:\n%s\n%s: %s", s.reason, diff, out.Status.Phase, out.Status.Message)
		}
		if out.Status.Phase != deploymentv1alpha1.PhaseSucceeded || !out.Ready || out.Status.LiveRevision != int64(i+1) {
			t.Fatalf("\n%s\nThe revision succeeds.\ngot %s, live %d: %s", s.reason, out.Status.Phase, out.Status.LiveRevision, out.Status.Message)
		}
	}
}

// TestMoveIsRejected lets a move fail, or a user change it, at different points.
func TestMoveIsRejected(t *testing.T) {
	toTracks := func(w *world) { w.sayCanary("one", 4) }
	toPlain := func(w *world) { w.in.Spec.DeliveryConfig.Canary = nil; w.sayPlain(3) }
	cases := map[string]struct {
		reason string
		// isBack moves from tracks.
		isBack bool
		// until the directory has this, all goes well, but for pods of broken revisions.
		until  string
		broken map[int64]bool
		then   func(w *world) cluster
		want   []string
		phase  deploymentv1alpha1.Phase
		live   int64
	}{
		"PrepareAborted": {
			reason: "Pods that got no requests are removed when a move is given up.", until: "blue 2: 0, plain 1: 100",
			then: func(w *world) cluster { w.ask("a", 2, action("Abort")); return cluster{} },
			want: []string{"flat 2"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"Aborted": {
			reason: "The requests go back to the pods without tracks first.", until: "blue 2: 100, plain 1: 0",
			then: func(w *world) cluster { w.ask("a", 2, action("Abort")); return cluster{} },
			want: []string{"blue 2: 0, plain 1: 100", "flat 2"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"Broken": {
			reason: "A track whose pods never come gets no requests, and is removed.", until: "blue 2: 0, plain 1: 100",
			then: func(*world) cluster { return cluster{broken: map[int64]bool{2: true}, timesOut: true} },
			want: []string{"flat 2"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"BackBroken": {
			reason: "Pods without tracks that never come get no requests, and the track goes on alone.", isBack: true, until: "blue 1: 100, plain 2: 0",
			broken: map[int64]bool{2: true}, then: func(*world) cluster { return cluster{broken: map[int64]bool{2: true}, timesOut: true} },
			want: []string{"blue 1: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"EditedBack": {
			reason: "An edit back while the pods of the track start takes their place.", until: "blue 2: 0, plain 1: 100",
			then: func(w *world) cluster { w.sayPlain(2); return cluster{} },
			want: []string{"flat 3"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 3,
		},
		"Edited": {
			reason: "An edit in the middle takes the requests back, and begins with the pods of the next revision.", until: "blue 2: 100, plain 1: 0",
			then:  func(w *world) cluster { w.sayCanary("two", 4); return cluster{} },
			want:  []string{"blue 2: 0, plain 1: 100", "blue 3: 0, plain 1: 100", "blue 3: 100, plain 1: 0", "blue 3: 100"},
			phase: deploymentv1alpha1.PhaseSucceeded, live: 3,
		},
		"BackAborted": {
			reason: "The requests go back to the track first.", isBack: true, until: "blue 1: 0, plain 2: 100",
			then: func(w *world) cluster { w.ask("a", 2, action("Abort")); return cluster{} },
			want: []string{"blue 1: 100, plain 2: 0", "blue 1: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 1,
		},
		"BackEdited": {
			reason: "An edit back to the track takes the requests back, and removes the pods without tracks.", isBack: true, until: "blue 1: 0, plain 2: 100",
			then: func(w *world) cluster { w.sayCanary("one", 4); return cluster{} },
			want: []string{"blue 1: 100, plain 2: 0", "blue 3: 100, plain 2: 0", "blue 3: 100"}, phase: deploymentv1alpha1.PhaseSucceeded, live: 3,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newMovingWorld(t)
			first, second := func(w *world) { w.sayPlain(2) }, toTracks
			if tc.isBack {
				first, second = toTracks, toPlain
			}
			first(w)
			w.story("edge1", cluster{})
			second(w)
			w.until("edge1", tc.until, cluster{broken: tc.broken})
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

// TestMoveIsEditedBack edits a move to tracks back between its waves: no object has the next files of the second wave's Site any more.
func TestMoveIsEditedBack(t *testing.T) {
	w := newMovingWorld(t)
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	w.sayBoth(true, "")
	w.story("edge1", cluster{})
	w.sayBoth(false, "one")
	w.until("edge1", "blue 2: 100, plain 1: 0", cluster{})
	w.say(`{"service": "shop", "type": "web", "sites": ["edge1", "edge2"], "replicas": 3}`)
	story, out := w.story("edge1", cluster{})
	if diff := cmp.Diff([]string{"blue 2: 0, plain 1: 100", "flat 3"}, story); diff != "" || w.directory("edge2") != "flat 3" {
		t.Errorf("\nThe requests go back to the pods without tracks, and the edit follows by itself.\n-want, +got:\n%s\nedge2 has %s: %s", diff, w.directory("edge2"), out.Status.Message)
	}
	if out.Status.Phase != deploymentv1alpha1.PhaseSucceeded || out.Status.LiveRevision != 3 {
		t.Errorf("\nThe edit succeeds.\ngot %s, live %d: %s", out.Status.Phase, out.Status.LiveRevision, out.Status.Message)
	}
}

// TestMoveIsEditedBackToBrokenPods edits a move to tracks back between its waves, where the pods that served before are broken since: the requests stay with the
// track until the pods of the edit are there.
func TestMoveIsEditedBackToBrokenPods(t *testing.T) {
	w := newMovingWorld(t)
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	w.sayBoth(true, "")
	w.story("edge1", cluster{})
	w.sayBoth(false, "one")
	broken := cluster{broken: map[int64]bool{1: true}}
	w.until("edge1", "blue 2: 100, plain 1: 0", broken)
	w.say(`{"service": "shop", "type": "web", "sites": ["edge1", "edge2"], "replicas": 3}`)
	broken.timesOut = true
	story, out := w.story("edge1", broken)
	if story[0] == "blue 2: 100, plain 1: 0" {
		story = story[1:]
	}
	if diff := cmp.Diff([]string{"blue 2: 100, plain 3: 0", "blue 2: 0, plain 3: 100", "flat 3"}, story); diff != "" || w.directory("edge2") != "flat 3" {
		t.Errorf("\nThe requests go to the pods of the edit once these are there.\n-want, +got:\n%s\nedge2 has %s: %s", diff, w.directory("edge2"), out.Status.Message)
	}
	if out.Status.Phase != deploymentv1alpha1.PhaseSucceeded || out.Status.LiveRevision != 3 {
		t.Errorf("\nThe edit succeeds.\ngot %s, live %d: %s", out.Status.Phase, out.Status.LiveRevision, out.Status.Message)
	}
}

// TestMoveIsRefused asks for moves by which requests would fail.
func TestMoveIsRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   string
	}{
		"NoEngine": {
			reason: "A Site without an engine proves no pods.",
			change: func(w *world) { w.set("Site", "edge1", map[string]any{"type": "None"}, "spec", "engine") },
			want:   "spec.blueprint: Site edge1 has no engine, so that a move from or to tracks could not be proven there",
		},
		"Service": {
			reason: "The pods of both have to belong to one Service.",
			change: func(w *world) {
				w.sayCanary("one", 2)
				*w.in.Spec.Intent = strings.Replace(*w.in.Spec.Intent, `"shop", "type"`, `"store", "type"`, 1)
			},
			want: "spec.blueprint: Site edge1: a move from revision 1: Service team-a/store: the revision without tracks has no such Service, so " +
				"that requests could not move between the two revisions",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newMovingWorld(t)
			w.sayPlain(2)
			w.story("edge1", cluster{})
			w.sayCanary("one", 2)
			tc.change(w)
			out := w.call()
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonInvalidSpec)
			if diff := cmp.Diff(tc.want, conditionOf(out, deploymentv1alpha1.TypeValid).Message); diff != "" {
				t.Errorf("\n%s\nRun(...): message: -want, +got:\n%s", tc.reason, diff)
			}
			w.wantFrozen(tc.reason, out)
		})
	}
}
