package deployment

import (
	stdcmp "cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/test/soak"
)

// canaryWalks is the number of scenarios in make test, and manyCanaryWalks under make soak. canaryWalksAtOnce of them run before the next begin.
const canaryWalks, manyCanaryWalks, canaryWalksAtOnce = 8, 10_000, 100

// canaryWalkSights are events that many scenarios reach, so that the scenarios are worthwhile. They also occur with each loss.
var canaryWalkSights = []string{
	"Judged(Verified ", "Judged(Rejected GateFailed", "Judged(Rejected SyncTimedOut", "Judged(Rejected Requested", "Promoted", "Recovered",
	"Restored", "RolledBack", "Withdrawn",
}

// TestCanaryWalk plays random scenarios of deployments in tracks twice, without losses and with losses. Both have the same events, commits, files and
// weights.
func TestCanaryWalk(t *testing.T) {
	rounds, random := soak.Random(t, canaryWalks, manyCanaryWalks)
	renderer, sights := &rememberingRenderer{Renderer: render.NewRenderer()}, map[string]bool{}
	for first := 0; first < rounds; first += canaryWalksAtOnce {
		story := tellCanaryWalks(t, renderer, first, randomSeeds(random, min(canaryWalksAtOnce, rounds-first)))
		for _, sight := range canarySights() {
			sights[sight] = sights[sight] || strings.Contains(story, sight)
		}
		if soak.Long() && first%1_000 == 0 {
			t.Logf("%d scenarios were played", first)
		}
	}
	if !soak.Long() {
		return // Few stories need not come to all of it.
	}
	for _, sight := range canarySights() {
		if !sights[sight] {
			t.Errorf("no story comes to: %s", sight)
		}
	}
}

// canarySights are all that the stories have to come to.
func canarySights() []string {
	out := slices.Clone(canaryWalkSights)
	for _, l := range canaryLosses() {
		out = append(out, "loss: "+l.name)
	}
	return out
}

func randomSeeds(random *rand.Rand, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = random.Uint64()
	}
	return out
}

// tellCanaryWalks plays the scenarios of seeds, several in parallel, and returns a log of them.
func tellCanaryWalks(t *testing.T, renderer compile.Renderer, first int, seeds []uint64) string {
	t.Helper()
	story := make([]string, len(seeds))
	t.Run(fmt.Sprintf("From%d", first), func(t *testing.T) {
		for i, seed := range seeds {
			t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
				t.Parallel()
				story[i] = tellTwice(t, renderer, seed)
			})
		}
	})
	return strings.Join(story, "\n")
}

// tellTwice plays the scenario of a seed without losses and with losses, and returns the log with losses.
func tellTwice(t *testing.T, renderer compile.Renderer, seed uint64) string {
	t.Helper()
	calm := newCanaryWalk(t, renderer, seed, false)
	if broken := calm.playScenario(); broken != "" {
		t.Fatalf("\nwithout losses: %s\n%s", broken, calm)
	}
	losing := newCanaryWalk(t, renderer, seed, true)
	if broken := losing.playScenario(); broken != "" {
		t.Fatalf("\nwith losses: %s\n%s\nwithout them:\n%s", broken, losing, calm)
	}
	if diff := calm.diff(losing); diff != "" {
		t.Fatalf("\nN8: the story comes to something else with losses: -without, +with:\n%s\n%s\nwithout them:\n%s", diff, losing, calm)
	}
	return losing.String()
}

// diff compares the results of two scenarios.
func (w *canaryWalk) diff(reference *canaryWalk) string {
	return cmp.Diff(w.events, reference.events) + cmp.Diff(w.commits, reference.commits) + cmp.Diff(w.heldTrees(), reference.heldTrees())
}

func (w *canaryWalk) String() string { return strings.Join(w.trace, "\n") }

func (w *canaryWalk) notef(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%4d ", w.rounds)+fmt.Sprintf(format, args...))
}

// treesAsked are the trees that deliveries ask for, by Site.
func (w *canaryWalk) treesAsked() map[string]deliveryv1alpha1.Tree {
	w.t.Helper()
	out := map[string]deliveryv1alpha1.Tree{}
	for _, o := range w.in.Observed {
		if o.GetKind() != "GitDelivery" {
			continue
		}
		for _, t := range w.decode(o).Spec.ForProvider.Trees {
			out[t.Site] = t
		}
	}
	return out
}

// noteCommits records the directories that a round changed, and returns a violation in them.
func (w *canaryWalk) noteCommits(previous map[string]string, requested map[string]deliveryv1alpha1.Tree) string {
	delivered := w.heldTrees()
	for _, site := range slices.Sorted(maps.Keys(delivered)) {
		id := delivered[site]
		if previous[site] == id {
			continue
		}
		w.quiet = 0
		if w.lags != nil {
			w.lagOf[site] = drawLag(w.lags, w.rounds)
		}
		w.notef("commit to %s: %s: %s", site, w.directory(site), id)
		w.commits[site], w.since = append(w.commits[site], w.foldersOf(site)+id), w.since+1
		broken := w.bytes.commit(requested[site])
		if broken = stdcmp.Or(broken, checkPods(site, w.bytes.trees[previous[site]], w.bytes.trees[id])); broken != "" {
			return broken
		}
	}
	return ""
}

// foldersOf says which folder, and how many requests, each track of a directory has.
func (w *canaryWalk) foldersOf(site string) string {
	out := &strings.Builder{}
	for _, r := range w.repositories {
		if r.memory.record == nil {
			continue
		}
		for _, t := range r.memory.record.trees {
			for _, treeTrack := range t.Tracks {
				if t.Site == site {
					fmt.Fprintf(out, "%s %s %d ", treeTrack.Name, treeTrack.Tree, treeTrack.Weight)
				}
			}
		}
	}
	return out.String()
}

// noteEvents records the recorded events, except for the consequences of a loss: the continuation of the ledger, and stages in which the Sites prove
// their trees again.
func (w *canaryWalk) noteEvents(previous ledger.State, events []ledger.Event, now time.Time) {
	s := previous
	for _, e := range events {
		next, err := ledger.Append(s, now, e)
		if err != nil {
			continue
		}
		s = next
		position, description := s.Position(), describeEvent(e)
		w.notef("recorded %s at %d.%d.%d.%d", description, position.Revision, position.Attempt, position.Step, position.Stage)
		if e.Advanced == nil && e.Opened == nil && e.Recovered == nil {
			w.unansweredFrom = 0
		}
		if isAgain := e.Opened != nil || e.Recovered != nil || e.Advanced != nil && s.IsBeforeSteps(); !isAgain {
			w.events = append(w.events, fmt.Sprintf("%s at %d.%d.%d.%d", description, position.Revision, position.Attempt, position.Step, stageOfEvent(s)))
		}
	}
}

// stageOfEvent returns the stage in which an event is compared: those before the steps are one, since a user may act in any of them.
func stageOfEvent(s ledger.State) int32 {
	if s.IsBeforeSteps() {
		return ledger.StageClear
	}
	return s.Cursor.Stage
}

// pathsOf are the directories that an object writes.
func pathsOf(o map[string]any) []string {
	if o["kind"] != "GitDelivery" {
		return nil
	}
	config, _, _ := unstructured.NestedString(o, "spec", "providerConfigRef", "name")
	trees, _, _ := unstructured.NestedSlice(o, "spec", "forProvider", "trees")
	var out []string
	for _, t := range trees {
		path, _, _ := unstructured.NestedString(t.(map[string]any), "path")
		out = append(out, config+":"+path)
	}
	return out
}
