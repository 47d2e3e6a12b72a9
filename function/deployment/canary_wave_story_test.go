package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
)

// aCanaryInWaves is a world whose second revision has come to edge1, and next comes to edge2, which has a repository of its own.
func aCanaryInWaves(t *testing.T) *world {
	t.Helper()
	w := newCanaryWorld(t, weightStep(20))
	w.splitRepositories()
	w.twoSites("one")
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	if _, out := w.story("edge1", cluster{}); !out.Ready {
		t.Fatalf("the first revision does not run: %s", out.Status.Message)
	}
	w.twoSites("two")
	return w
}

// sitesOfSync returns the Sites that a SiteSync names, each with its step and the length of its tree.
func (w *world) sitesOfSync(o *unstructured.Unstructured) []string {
	w.t.Helper()
	sync, out := &deliveryv1alpha1.SiteSync{}, []string{}
	w.convert(o, sync)
	for _, site := range sync.Spec.ForProvider.Sites {
		out = append(out, fmt.Sprintf("%s from step %d: tree of %d digits", site.Name, site.Wave, len(site.Tree)))
	}
	return out
}

// TestCanaryNewSite gives the second revision another Site, in its second wave.
func TestCanaryNewSite(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20))
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	if _, out := w.story("edge1", cluster{}); !out.Ready {
		t.Fatalf("the first revision does not run: %s", out.Status.Message)
	}
	w.twoSites("two")
	w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
	s := w.ledger()
	step := s.Current.StepOf("edge2")
	want := []string{"edge1 from step 0: tree of 40 digits", fmt.Sprintf("edge2 from step %d: tree of 40 digits", step)}
	if diff := cmp.Diff(want, w.sitesOfSync(w.in.Observed[compose.SyncName])); diff != "" || step <= s.Cursor.Step {
		t.Errorf("\nThe SiteSync names a new Site before its wave, to which it comes by the ledger.\nat step %d: -want, +got:\n%s", s.Cursor.Step, diff)
	}
	w.followedTo(s.Position())
	if diff := cmp.Diff(want, w.sitesOfSync(w.call().Resources[compose.SyncName].Object)); diff != "" {
		t.Errorf("\nThe next spec of a SiteSync that followed the ledger has the tree of the new Site.\n-want, +got:\n%s", diff)
	}
	story, out := w.story("edge2", cluster{})
	if diff := cmp.Diff([]string{"green 2: 100"}, story); diff != "" || out.Status.LiveRevision != 2 {
		t.Errorf("\nThe new Site gets the revision alone in its wave.\n-want, +got:\n%s\nrevision %d is live: %s", diff, out.Status.LiveRevision, out.Status.Message)
	}
}

// followedTo lets the spec of the SiteSync name the step before a position that its status is about: it followed the ledger.
func (w *world) followedTo(p ledger.Position) {
	w.t.Helper()
	if err := unstructured.SetNestedField(w.in.Observed[compose.SyncName].Object, int64(p.Step-1), "spec", "forProvider", "position", "step"); err != nil {
		w.t.Fatal(err)
	}
}

// TestNewSiteBeforeSteps gives the third revision another Site while the requests leave the track of the second one.
func TestNewSiteBeforeSteps(t *testing.T) {
	cases := map[string]struct {
		reason string
		waves  []deploymentv1alpha1.Wave
	}{
		"FirstWave": {reason: "The SiteSync names a new Site of the first wave, and awaits nothing there before the steps."},
		"SecondWave": {
			reason: "The SiteSync names a new Site of the second wave.",
			waves:  []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newCanaryWorld(t, weightStep(20))
			if _, out := w.story("edge1", cluster{}); !out.Ready {
				t.Fatalf("the first revision does not run: %s", out.Status.Message)
			}
			w.sayCanary("two", 4)
			w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
			w.in.Spec.DeliveryConfig.Waves = tc.waves
			w.twoSites("three")
			out := w.until("edge1", "blue 1: 100, green 2: 0", cluster{})
			s := w.ledger()
			want := []string{"edge1 from step 0: tree of 40 digits", fmt.Sprintf("edge2 from step %d: tree of 40 digits", max(s.Current.StepOf("edge2"), 1))}
			if diff := cmp.Diff(want, w.sitesOfSync(w.in.Observed[compose.SyncName])); diff != "" || !s.IsBeforeSteps() {
				t.Errorf("\n%s\nat %+v: -want, +got:\n%s", tc.reason, s.Position(), diff)
			}
			if site := out.Status.Delivery.Sites["edge2"]; site.State == deploymentv1alpha1.SiteDelivered {
				t.Errorf("\n%s\nThe status says that edge2 has a tree: %+v", tc.reason, site)
			}
			w.story("edge1", cluster{}) // The second wave comes after all rounds of the first one.
			story, out := w.story("edge2", cluster{})
			if diff := cmp.Diff([]string{"green 3: 100"}, story); diff != "" || out.Status.LiveRevision != 3 {
				t.Errorf("\n%s\n-want, +got:\n%s\nrevision %d is live: %s", tc.reason, diff, out.Status.LiveRevision, out.Status.Message)
			}
		})
	}
}

// aReplacedCanary is a world whose third revision waits until the requests of the second one, which had a share of them, have ended.
func aReplacedCanary(t *testing.T) *world {
	t.Helper()
	w := aCanary(t)
	w.sayCanary("two", 4)
	w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
	w.sayCanary("three", 4)
	w.until("edge1", "blue 1: 100, green 2: 0", cluster{})
	if s := w.ledger(); s.Current.Number != 3 || !s.IsBeforeSteps() {
		t.Fatalf("position of the third revision: want a stage before its steps, got %+v", s.Position())
	}
	return w
}

// TestReplacedCanaryCarriesFirstStep reads the files for the first step of a canary that replaces another one.
func TestReplacedCanaryCarriesFirstStep(t *testing.T) {
	w := aReplacedCanary(t)
	home := w.homeOfWorld(w.call())
	s := w.ledger()
	later := directories.LaterTrees(home.Spec.ForProvider, s)
	if len(later) != 1 || later[0].Site != "edge1" || later[0].Step != 0 || !directories.HoldFiles(s, home) {
		t.Fatalf("\nThe home carries the files for the first step, so that the provider takes it without the function.\ngot %d later trees: %+v", len(later), later)
	}
	w.until("edge1", "blue 1: 100, green 3: 0", cluster{})
	if later = directories.LaterTrees(w.homeOfWorld(w.call()).Spec.ForProvider, w.ledger()); len(later) != 0 {
		t.Errorf("\nOnce the first step has begun, its files are those of the present tree.\ngot %d later trees", len(later))
	}
}

// TestReplacedCanaryFrozen lets the spec compile no more while a canary waits for the requests of an earlier one.
func TestReplacedCanaryFrozen(t *testing.T) {
	w := aReplacedCanary(t)
	w.remove("Blueprint", "web-canary-1.0.0")
	story, out := w.story("edge1", cluster{})
	want := []string{
		"blue 1: 100, green 2: 0", "blue 1: 100, green 3: 0", "blue 1: 80, green 3: 20", "blue 1: 50, green 3: 50", "blue 1: 0, green 3: 100", "green 3: 100",
	}
	if diff := cmp.Diff(want, story); diff != "" || out.Status.LiveRevision != 3 {
		t.Errorf("\nThe canary goes through its steps with the files that it was ordered with.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
}

// TestReplacedCanaryMoved gives the Site another directory while a canary waits for the requests of an earlier one.
func TestReplacedCanaryMoved(t *testing.T) {
	w := aReplacedCanary(t)
	w.set("Site", "edge1", "clusters/moved", "spec", "repository", "path")
	story, out := w.story("edge1", cluster{})
	if slices.ContainsFunc(story, func(line string) bool { return strings.Contains(line, "green 3") }) {
		t.Errorf("\nA directory that its Site has left gets no first step.\ngot %q: %s", story, out.Status.Message)
	}
	if got := w.ledger().Current.Number; got != 4 {
		t.Errorf("\nThe next revision begins at once, in the new directory.\nwant revision 4, got %d: %s", got, out.Status.Message)
	}
}

// storyWithout returns the successive states of both directories, while the repository of edge2 does not answer.
func (w *world) storyWithout(rounds int) []string {
	w.t.Helper()
	var story []string
	for range rounds {
		w.apply(w.call())
		w.deliver(w.nameOfDelivery("edge1"))
		w.observeTracks(cluster{})
		w.in.Now = metav1.NewTime(w.in.Now.Add(5 * time.Second))
		if current := w.directory("edge1") + " | " + w.directory("edge2"); len(story) == 0 || story[len(story)-1] != current {
			story = append(story, current)
		}
	}
	return story
}

// TestCanaryDeadRepository lets the repository of the second wave not answer when its turn comes.
func TestCanaryDeadRepository(t *testing.T) {
	cases := map[string]struct {
		reason string
		until  string
		then   func(w *world)
		want   []string
		end    []string
	}{
		"Waits": {
			reason: "The Sites of earlier waves stay as they are, and the canary continues once the repository answers.", until: "blue 1: 0, green 2: 100",
			want: []string{"blue 1: 0, green 2: 100 | blue 1: 100"},
			end:  []string{"blue 1: 100, green 2: 0", "blue 1: 80, green 2: 20", "blue 1: 0, green 2: 100", "green 2: 100"},
		},
		"Aborted": {
			reason: "The requests of the Sites whose repository answers go back.", until: "blue 1: 0, green 2: 100",
			then: func(w *world) { w.ask("a", 2, action("Abort")) },
			want: []string{"blue 1: 100, green 2: 0 | blue 1: 100"}, end: []string{"blue 1: 100"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := aCanaryInWaves(t)
			w.until("edge1", tc.until, cluster{})
			if tc.then != nil {
				tc.then(w)
			}
			lines := w.storyWithout(20)
			if len(lines) > 1 && lines[0] == tc.until+" | blue 1: 100" {
				lines = lines[1:]
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("\n%s\nwithout the repository: -want, +got:\n%s", tc.reason, diff)
			}
			story, out := w.story("edge2", cluster{})
			if len(story) > 1 && story[0] == "blue 1: 100" {
				story = story[1:]
			}
			if diff := cmp.Diff(tc.end, story); diff != "" {
				t.Errorf("\n%s\nonce it answers: -want, +got:\n%s\n%s", tc.reason, diff, out.Status.Message)
			}
		})
	}
}

// TestCanaryDeadLaterRepository lets the repository of the second wave not answer from the start, for longer than its timeout.
func TestCanaryDeadLaterRepository(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20), pauseStep("40s"))
	w.splitRepositories()
	w.twoSites("one")
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	w.in.Spec.DeliveryConfig.DeliveryTimeout = "10s"
	w.story("edge1", cluster{})
	other := w.repository(w.url(w.nameOfDelivery("edge2")))
	other.dead = true
	w.twoSites("two")
	w.until("edge1", "blue 1: 0, green 2: 100", cluster{})
	if s := w.ledger(); s.Verdict != nil {
		t.Errorf("\nThe repository of a later wave rejects no earlier wave.\ngot %+v", s.Verdict)
	}
	other.dead = false
	story, out := w.story("edge2", cluster{})
	if last := story[len(story)-1]; last != "green 2: 100" || w.directory("edge1") != "green 2: 100" {
		t.Errorf("\nThe canary goes on once the repository answers.\ngot %q: %s", story, out.Status.Message)
	}
}

// TestCanaryFrozenBetweenWaves lets the spec compile no more while a canary is between its waves.
func TestCanaryFrozenBetweenWaves(t *testing.T) {
	cases := map[string]struct {
		reason string
		breaks func(w *world)
	}{
		"Blueprint": {reason: "Its Blueprint is gone.", breaks: func(w *world) { w.remove("Blueprint", "web-canary-1.0.0") }},
		"Intent":    {reason: "Its intent is invalid.", breaks: func(w *world) { w.say(`{"service": "shop", "replicas": "many"}`) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := aCanaryInWaves(t)
			objects, intent := slices.Clone(w.objects), *w.in.Spec.Intent
			w.until("edge1", "blue 1: 0, green 2: 100", cluster{})
			tc.breaks(w)
			story, out := w.story("edge2", cluster{})
			if len(story) > 1 && story[0] == "blue 1: 100" {
				story = story[1:]
			}
			want := []string{"blue 1: 100, green 2: 0", "blue 1: 80, green 2: 20", "blue 1: 0, green 2: 100", "green 2: 100"}
			if diff := cmp.Diff(want, story); diff != "" || w.directory("edge1") != "green 2: 100" || out.Status.LiveRevision != 2 {
				t.Errorf("\n%s The canary goes through its next wave.\n-want, +got:\n%s\nedge1 has %s: %s", tc.reason, diff, w.directory("edge1"), out.Status.Message)
			}
			w.objects = objects
			w.say(intent)
			if story, out = w.story("edge2", cluster{}); len(story) > 1 || out.Status.LiveRevision != 2 {
				t.Errorf("\n%s Once that is corrected, nothing changes.\ngot %q: %s", tc.reason, story, out.Status.Message)
			}
		})
	}
}

// TestCanaryAtTheEnd gives a canary up that has all requests and no verdict yet, and asks for that again after the verdict.
func TestCanaryAtTheEnd(t *testing.T) {
	w := newCanaryWorld(t, weightStep(50), weightStep(100), pauseStep(""))
	w.story("edge1", cluster{})
	w.sayCanary("two", 4)
	w.until("edge1", "blue 1: 0, green 2: 100", cluster{})
	w.ask("a", 2, action("Abort"))
	story, out := w.story("edge1", cluster{})
	if diff := cmp.Diff([]string{"blue 1: 100, green 2: 0", "blue 1: 100"}, story); diff != "" || out.Status.LiveRevision != 1 {
		t.Errorf("\nThe stable pods are there until the verdict, so that all requests go back in one commit.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
	w.ask("r", 2, action("Retry"), uid("r"), func(r *rolloutv1alpha1.RolloutRequest) { r.CreationTimestamp = w.in.Now })
	_, out = w.story("edge1", cluster{})
	if c := out.Status.Canary; c == nil || c.Step != "3/3" || c.Promote == nil || *c.Promote != 3 {
		t.Fatalf("\nThe pause behind the last weight holds the verdict back, and a user names its step.\ngot %+v: %s", c, out.Status.Message)
	}
	w.ask("p", 3, action("Promote"), stepNumber(3), uid("p"))
	if story, _ = w.story("edge1", cluster{}); story[len(story)-1] != "green 3: 100" {
		t.Errorf("\nA promotion of the last step lets the verdict come.\ngot %q", story)
	}
	w.ask("late", 3, action("Abort"), uid("late"))
	if got := w.updated(w.call()).Results; !strings.Contains(got, "late=AlreadyJudged") {
		t.Errorf("\nA revision that was verified is not given up.\ngot %s", got)
	}
}

// TestPromoteByStep names steps as column STEP shows them.
func TestPromoteByStep(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20), pauseStep(""), weightStep(50), pauseStep(""))
	w.story("edge1", cluster{})
	w.sayCanary("two", 4)
	w.story("edge1", cluster{})
	for _, tc := range []struct {
		reason  string
		name    string
		step    int32
		result  string
		column  string
		directs string
	}{
		{reason: "A step that is passed cannot be named.", name: "first", step: 1, result: "first=UnknownStep", column: "2/4", directs: "blue 1: 80, green 2: 20"},
		{
			reason: "A later pause is not released before this one.",
			name:   "far", step: 3, result: "far=UnknownStep", column: "2/4", directs: "blue 1: 80, green 2: 20",
		},
		{reason: "A user names the step that column STEP shows.", name: "second", step: 2, result: "second=Taken", column: "3/4", directs: "blue 1: 50, green 2: 50"},
		{reason: "A step is released once.", name: "again", step: 2, result: "again=Stale", column: "3/4", directs: "blue 1: 50, green 2: 50"},
	} {
		w.ask(tc.name, 2, action("Promote"), stepNumber(tc.step), uid(tc.name))
		_, out := w.story("edge1", cluster{})
		got := w.updated(out).Results
		if !strings.Contains(got, tc.result) || out.Status.Canary.Step != tc.column || w.directory("edge1") != tc.directs {
			t.Errorf("\n%s\nwant %s at %s with %q, got %s at %s with %q", tc.reason, tc.result, tc.column, tc.directs, got, out.Status.Canary.Step, w.directory("edge1"))
		}
		w.remove("RolloutRequest", tc.name) // It has its answer, which the controller of requests keeps.
	}
}
