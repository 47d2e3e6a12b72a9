package deployment

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
)

// namedSites is the part of an intent that names both Sites. Without it a selector finds them.
const namedSites = `"sites": ["edge1", "edge2"], `

// selectSites lets the deployment select the Sites of one region, and puts both Sites there.
func (w *world) selectSites() {
	w.t.Helper()
	for _, name := range []string{"edge1", "edge2"} {
		w.set("Site", name, map[string]any{"region": "north"}, "metadata", "labels")
	}
	w.in.Spec.DeliveryConfig.SiteSelector = &deploymentv1alpha1.SiteSelector{MatchLabels: map[string]deploymentv1alpha1.LabelValue{"region": "north"}}
}

// betweenWaves is a world whose second revision has come to edge1, and next comes to edge2. Both Sites have one repository, or one each.
func betweenWaves(t *testing.T, repositories int, sites string) *world {
	t.Helper()
	w := newWorld(t)
	w.core = New(plain{})
	w.core.version = firstRenderer
	w.observe("edge1", "edge2")
	if repositories > 1 {
		w.splitRepositories()
	}
	if sites == "" {
		w.selectSites()
	}
	w.say(`{"service": "shop", ` + sites + `"replicas": 2}`)
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
	if _, out := w.story("edge2", cluster{}); !out.Ready {
		t.Fatalf("the first revision does not run: %s", out.Status.Message)
	}
	w.say(`{"service": "shop", ` + sites + `"replicas": 3}`)
	isLate := cluster{behind: map[string]behind{"edge1": {engine: true}}}
	w.until("edge1", "flat 2", isLate)
	w.canaryRound(isLate) // The delivery to another repository gets the files of its wave once the revision is recorded.
	if got := w.directory("edge2"); got != "flat 1" {
		t.Fatalf("the second revision has not come to edge2 before edge1 runs it: got %q", got)
	}
	return w
}

// TestBetweenWaves changes the catalog, or lets the spec compile no more, while a revision is between its waves.
func TestBetweenWaves(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(w *world)
		want   []string
	}{
		"Blueprint": {
			reason: "A revision goes through all waves without its Blueprint.",
			change: func(w *world) { w.remove("Blueprint", "web-1.0.0") }, want: []string{"flat 1", "flat 2"},
		},
		"Intent": {
			reason: "A revision goes through all waves although the intent is invalid by now.",
			change: func(w *world) { w.say(`{"service": "shop", "replicas": "many"}`) }, want: []string{"flat 1", "flat 2"},
		},
		"Site": {
			reason: "A Site of a later wave gets the revision although another Site is gone from the catalog.",
			change: func(w *world) { w.remove("Site", "edge1") }, want: []string{"flat 1", "flat 2"},
		},
		"Catalog": {
			reason: "A change of the catalog begins the next revision after all waves of the present one.",
			change: func(w *world) {
				w.set("Site", "edge1", map[string]any{"p": "new"}, "spec", "parameters")
				w.set("Site", "edge2", map[string]any{"p": "new"}, "spec", "parameters")
			}, want: []string{"flat 1", "flat 2", "flat 3"},
		},
		"Edit": {
			reason: "An edit of a user begins the next revision at once.",
			change: func(w *world) { w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 4}`) }, want: []string{"flat 1", "flat 3"},
		},
	}
	for name, tc := range cases {
		for repositories := 1; repositories <= 2; repositories++ {
			t.Run(fmt.Sprint(name, repositories), func(t *testing.T) {
				w := betweenWaves(t, repositories, namedSites)
				tc.change(w)
				story, out := w.story("edge2", cluster{})
				if len(story) == len(tc.want)-1 {
					story = append([]string{"flat 1"}, story...)
				}
				if diff := cmp.Diff(tc.want, story); diff != "" {
					t.Errorf("\n%s\nrevisions of edge2 in %d repositories: -want, +got:\n%s\n%s", tc.reason, repositories, diff, out.Status.Message)
				}
				if last := w.directory("edge1"); last != tc.want[len(tc.want)-1] {
					t.Errorf("\n%s\nrevision of edge1 in %d repositories: want %q, got %q", tc.reason, repositories, tc.want[len(tc.want)-1], last)
				}
			})
		}
	}
}

// TestLeftBetweenWaves lets the Site of the second wave lose the label by which the deployment selects it.
func TestLeftBetweenWaves(t *testing.T) {
	for repositories := 1; repositories <= 2; repositories++ {
		t.Run(fmt.Sprint(repositories), func(t *testing.T) {
			w := betweenWaves(t, repositories, "")
			if m := w.mandateOfWorld(w.call()); m == nil || m.MatchLabels["region"] != "north" {
				t.Errorf("the mandate has the labels by which the deployment selects its Sites: got %+v", m)
			}
			w.set("Site", "edge2", map[string]any{"region": "south"}, "metadata", "labels")
			story, out := w.story("edge2", cluster{})
			if slices.Contains(story, "flat 2") {
				t.Errorf("a Site that the deployment has left gets no next wave: got %q\n%s", story, out.Status.Message)
			}
			if got := w.ledger().Current.Number; got != 3 {
				t.Errorf("the next revision begins at once, without the Site that the deployment has left: want revision 3, got %d\n%s", got, out.Status.Message)
			}
		})
	}
}

// TestMovedBetweenWaves gives the Site of the second wave another directory.
func TestMovedBetweenWaves(t *testing.T) {
	for repositories := 1; repositories <= 2; repositories++ {
		t.Run(fmt.Sprint(repositories), func(t *testing.T) {
			w := betweenWaves(t, repositories, namedSites)
			w.set("Site", "edge2", "clusters/moved", "spec", "repository", "path")
			story, out := w.story("edge2", cluster{})
			if slices.Contains(story, "flat 2") {
				t.Errorf("a directory that its Site has left gets no next wave: got %q\n%s", story, out.Status.Message)
			}
			if got := w.ledger().Current.Number; got != 3 {
				t.Errorf("the next revision begins at once, in the new directory: want revision 3, got %d\n%s", got, out.Status.Message)
			}
		})
	}
}

// TestSyncLostBetweenWaves loses the SiteSync of a suspended revision between its waves, after a change of the catalog.
func TestSyncLostBetweenWaves(t *testing.T) {
	for repositories := 1; repositories <= 2; repositories++ {
		t.Run(fmt.Sprint(repositories), func(t *testing.T) {
			w := betweenWaves(t, repositories, namedSites)
			w.in.Spec.Suspend = new(true)
			w.set("Site", "edge1", map[string]any{"p": "new"}, "spec", "parameters")
			delete(w.in.Observed, compose.SyncName)
			w.apply(w.call())
			sync := w.in.Observed[compose.SyncName]
			if sync == nil {
				t.Fatal("the SiteSync is composed again: got none")
			}
			if sites, _, _ := unstructured.NestedSlice(sync.Object, "spec", "forProvider", "sites"); len(sites) != len(bothFirst) {
				t.Errorf("the SiteSync names the Sites of all waves, to which it comes by the ledger: want 2, got %d", len(sites))
			}
			w.canaryRound(cluster{})
			w.in.Spec.Suspend = nil
			if story, out := w.story("edge2", cluster{}); !slices.Contains(story, "flat 2") {
				t.Errorf("the revision goes through its waves once it is not suspended any more: got %q\n%s", story, out.Status.Message)
			}
		})
	}
}
