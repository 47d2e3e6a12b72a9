package deployment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
)

// TestCanaryWaves delivers a second revision to two Sites, one wave after the other, each with its own steps, in one repository and in two.
func TestCanaryWaves(t *testing.T) {
	for name, isSplit := range map[string]bool{"OneRepository": false, "TwoRepositories": true} {
		t.Run(name, func(t *testing.T) {
			w := newCanaryWorld(t, weightStep(20))
			if isSplit {
				w.splitRepositories()
			}
			w.tellWaves()
		})
	}
}

// splitRepositories gives edge2 a repository of its own.
func (w *world) splitRepositories() {
	o := w.object("ClusterProviderConfig", w.firstConfig()).DeepCopy()
	o.SetName("other")
	w.addObject(o)
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	w.set("Site", "edge2", map[string]any{"name": "other"}, "spec", "repository", "providerConfigRef")
}

// tellWaves delivers two revisions to edge2 first and then to edge1.
func (w *world) tellWaves() {
	w.t.Helper()
	t := w.t
	w.twoSites("one")
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}, Steps: []deploymentv1alpha1.CanaryStep{weightStep(50)}}}
	if _, out := w.story("edge1", cluster{}); !out.Ready {
		t.Fatalf("the first revision does not run: %s", out.Status.Message)
	}
	w.twoSites("two")
	var story []string
	var out *Output
	for calm := 0; calm < 15; calm++ {
		out = w.canaryRound(cluster{})
		if current := w.directory("edge2") + " | " + w.directory("edge1"); len(story) == 0 || story[len(story)-1] != current {
			story, calm = append(story, current), 0
		}
	}
	want := []string{
		"blue 1: 100, green 2: 0 | blue 1: 100", "blue 1: 50, green 2: 50 | blue 1: 100", "blue 1: 0, green 2: 100 | blue 1: 100",
		"blue 1: 0, green 2: 100 | blue 1: 100, green 2: 0", "blue 1: 0, green 2: 100 | blue 1: 80, green 2: 20", "blue 1: 0, green 2: 100 | blue 1: 0, green 2: 100",
		"green 2: 100 | green 2: 100",
	}
	if len(w.repositories) > 1 { // The home is alone by the commit that records it.
		want = slices.Insert(want, len(want)-1, "green 2: 100 | blue 1: 0, green 2: 100")
	}
	if diff := cmp.Diff(want, story); diff != "" || !out.Ready {
		t.Errorf("\nEach wave goes through its steps after the previous wave.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
	w.ask("r", 2, action("RollbackTo"), toRevision(1))
	for _, site := range []string{"edge1", "edge2"} {
		w.until(site, "blue 1: 100", cluster{})
	}
}

func (w *world) twoSites(greeting string) {
	w.say(`{"service": "shop", "type": "web-canary", "sites": ["edge1", "edge2"], "replicas": 4, "parameters": {"host": "shop.example.org", "greeting": "` + greeting + `"}}`)
}

// TestCanaryLosses loses objects in the middle of a canary, or objects that its spec names. It comes to the same end.
func TestCanaryLosses(t *testing.T) {
	cases := map[string]struct {
		reason string
		lose   func(w *world)
		want   []string
	}{
		"SiteSync": {
			reason: "A SiteSync that was lost proves the step again.", lose: func(w *world) { delete(w.in.Observed, compose.SyncName) },
			want: []string{"blue 1: 50, green 2: 50", "blue 1: 0, green 2: 100", "green 2: 100"},
		},
		"GitDelivery": {
			reason: "A delivery that was lost goes on where the ledger is.", lose: func(w *world) { w.loseDeliveries() },
			want: []string{"blue 1: 50, green 2: 50", "blue 1: 0, green 2: 100", "green 2: 100"},
		},
		"Everything": {
			reason: "All objects are composed again from the ledger.", lose: func(w *world) { clear(w.in.Observed) },
			want: []string{"blue 1: 50, green 2: 50", "blue 1: 0, green 2: 100", "green 2: 100"},
		},
		"Blueprint": {
			reason: "A canary goes on through its steps while its Blueprint is gone.", lose: func(w *world) { w.remove("Blueprint", "web-canary-1.0.0") },
			want: []string{"blue 1: 50, green 2: 50", "blue 1: 0, green 2: 100", "green 2: 100"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := aCanary(t)
			w.sayCanary("two", 4)
			w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
			tc.lose(w)
			story, out := w.story("edge1", cluster{})
			if story[0] == "blue 1: 80, green 2: 20" {
				story = story[1:]
			}
			if diff := cmp.Diff(tc.want, story); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\n%s: %s", tc.reason, diff, out.Status.Phase, out.Status.Message)
			}
		})
	}
}

func (w *world) loseDeliveries() {
	for name := range w.in.Observed {
		if strings.HasPrefix(name, "delivery-") {
			delete(w.in.Observed, name)
		}
	}
}

// TestCanaryWithoutRollback rejects a canary whose deployment rolls nothing back: it loses its requests, and its pods stay.
func TestCanaryWithoutRollback(t *testing.T) {
	w := aCanary(t)
	w.in.Spec.RollbackConfig.AutoRollback = new(false)
	w.sayCanary("two", 4)
	w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
	w.ask("a", 2, action("Abort"))
	story, out := w.story("edge1", cluster{})
	if diff := cmp.Diff([]string{"blue 1: 100, green 2: 0"}, story); diff != "" || out.Status.Phase != deploymentv1alpha1.PhaseFailed {
		t.Errorf("\nRequests go back whatever the policy says.\n-want, +got:\n%s\n%s: %s", diff, out.Status.Phase, out.Status.Message)
	}
}

// TestCanaryLateFollower gives a canary up before the repository of its second Site has the last step. The requests go back there, too, before the pods go.
func TestCanaryLateFollower(t *testing.T) {
	w := newCanaryWorld(t, weightStep(20), weightStep(50))
	w.splitRepositories()
	w.twoSites("one")
	w.story("edge1", cluster{})
	w.twoSites("two")
	w.until("edge2", "blue 1: 80, green 2: 20", cluster{})
	for range 8 {
		w.apply(w.call())
		w.deliver(w.nameOfDelivery("edge1"))
		w.observeTracks(cluster{})
		w.in.Now = metav1.NewTime(w.in.Now.Add(5 * time.Second))
	}
	if directories := w.directory("edge1") + " | " + w.directory("edge2"); directories != "blue 1: 50, green 2: 50 | blue 1: 80, green 2: 20" {
		t.Fatalf("the second repository is not behind: %s", directories)
	}
	w.ask("a", 2, action("Abort"))
	for range 4 {
		w.apply(w.call())
		w.deliver(w.nameOfDelivery("edge1"))
	}
	story, out := w.story("edge2", cluster{})
	if story[0] == "blue 1: 80, green 2: 20" {
		story = story[1:]
	}
	if diff := cmp.Diff([]string{"blue 1: 100, green 2: 0", "blue 1: 100"}, story); diff != "" || out.Status.LiveRevision != 1 {
		t.Errorf("\nA Site whose repository is late loses the requests of the canary before its pods.\n-want, +got:\n%s\n%s", diff, out.Status.Message)
	}
}

// nameOfDelivery returns the name of the object that delivers to a Site.
func (w *world) nameOfDelivery(site string) string {
	for name, o := range w.in.Observed {
		if o.GetKind() != "GitDelivery" {
			continue
		}
		for _, t := range w.decode(o).Spec.ForProvider.Trees {
			if t.Site == site {
				return name
			}
		}
	}
	w.t.Fatalf("nothing delivers to %s", site)
	return ""
}
