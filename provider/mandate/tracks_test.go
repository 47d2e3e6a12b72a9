package mandate

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

const shopPath = "clusters/edge1/team-a/web"

// A canaryScene is revision 2 in track green at one Site, with 20 percent of the requests. Revision 1 in track blue has the others. The Gate of the step has
// failed, and the function is silent.
type canaryScene struct {
	*scene

	// stable and canary are the files in which each revision is alone.
	stable, canary tree.Files
}

// shopFiles returns the files of a shop that is alone in a track.
func shopFiles(tb testing.TB, image, name string) tree.Files {
	tb.Helper()
	parts, err := track.Split(tree.Files{
		"deployment-web.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  labels: {intentplane.dev/workload: main}
  name: web
  namespace: team-a
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: ` + image + `}]}
`),
		"service-web.yaml": []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: team-a}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n"),
		"httproute-web.yaml": []byte(
			"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: web, namespace: team-a}\nspec: {parentRefs: [{name: " +
				"gateway}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n",
		),
	}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	files, err := parts.Files(name, track.Layout{Kustomizations: true})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// inTrack orders a revision in a track, beside a stable one if there is one.
func inTrack(number int64, name string, stable int64) ledger.Event {
	plan := []ledger.Step{{Sites: []string{"edge1"}, Gate: true}}
	if stable > 0 {
		plan = []ledger.Step{
			{Sites: []string{"edge1"}, Weight: new(int32(0)), Ahead: new(int32(20)), Gate: true},
			{Weight: new(int32(20)), Ahead: new(int32(100)), Gate: true},
			{Weight: new(int32(100))},
		}
	}
	e := ordered(number, plan...)
	r := &e.Ordered.Revision
	r.Track, r.Stable, r.Workload, r.Parts[0].Sites = name, stable, "workload-"+name, []string{"edge1"}
	r.Request.Intent = "intent-" + name
	return e
}

func advanced(index, stage int32) ledger.Event {
	return ledger.Event{Advanced: &ledger.Advanced{Step: index, Stage: stage}}
}

// newCanaryScene returns the scene at a step, whose weight green has.
func newCanaryScene(t *testing.T, index, weight int32) *canaryScene {
	t.Helper()
	return newCanarySceneOf(t, index, weight, inTrack)
}

// newCanarySceneOf returns the scene at a step, whose weight green has, with revisions that are ordered in a way.
func newCanarySceneOf(t *testing.T, index, weight int32, order func(number int64, name string, stable int64) ledger.Event) *canaryScene {
	t.Helper()
	c := &canaryScene{stable: shopFiles(t, "one", track.Blue), canary: shopFiles(t, "two", track.Green)}
	alone := ledger.SiteTree{ID: tree.ID(c.stable), Part: track.FolderID(c.stable, track.Blue)}
	first, judged := order(1, track.Blue, 0), ledger.Event{Judged: &ledger.Judged{Verdict: ledger.Verdict{Result: ledger.VerdictVerified}}}
	for _, site := range first.Ordered.Revision.Sites() {
		judged.Judged.Trees = append(judged.Judged.Trees, ledger.SiteTree{Site: site, ID: alone.ID, Part: alone.Part})
	}
	events := []ledger.Event{first, advanced(0, ledger.StageSteps), judged, order(2, track.Green, 1), advanced(0, ledger.StageSteps)}
	for next := int32(1); next <= index; next++ {
		events = append(events, advanced(next, ledger.StageSteps))
	}
	c.scene = newSceneOf(t, events...)
	ownTree := v1alpha1.Tree{Site: "edge1", Branch: "main", Path: shopPath, Action: v1alpha1.ActionDesired, Tree: tree.ID(c.canary), Files: encode(t, c.canary)}
	d := directories.NewDirectory(c.recorded, ownTree)
	d.Held = v1alpha1.DeliveredTree{Tree: alone.ID, Tracks: []v1alpha1.DeliveredTrack{{Name: track.Blue, Revision: 1, Weight: 100, Tree: alone.Part}}}
	d.Aim = step.Aim{Put: map[string]int64{track.Blue: 1, track.Green: 2}, Serving: track.Blue, Weight: weight, Ahead: new(int32(100))}
	out, err := directories.NewTracker(0).Compose(d)
	if err != nil || len(out.Tracks) != 2 {
		t.Fatalf("Compose(...): want two tracks, got %v and error %v", out.Tracks, err)
	}
	c.Home.Spec.ForProvider.Trees = []v1alpha1.Tree{out.Tree}
	c.Delivered = map[string]v1alpha1.DeliveredTree{}
	c.deliver(out.Tree, weight, c.recorded.Position())
	return c
}

func encode(t *testing.T, files tree.Files) []byte {
	t.Helper()
	b, err := tree.Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// deliver lets the repository have a tree, in which green has a weight since a position that gave it any.
func (c *canaryScene) deliver(t v1alpha1.Tree, weight int32, weighed ledger.Position) {
	began := ledger.Position{Epoch: 1, Revision: 2, Stage: ledger.StageSteps}
	green := v1alpha1.DeliveredTrack{Name: track.Green, Revision: 2, Weight: weight, Tree: track.FolderID(c.canary, track.Green), ChangedAt: &began}
	if weighed.Step > 0 {
		green.WeighedAt = &weighed
	}
	blue := v1alpha1.DeliveredTrack{Name: track.Blue, Revision: 1, Weight: 100 - weight, Tree: track.FolderID(c.stable, track.Blue), ChangedAt: &began, WeighedAt: &began}
	c.Delivered[shopPath] = v1alpha1.DeliveredTree{Site: "edge1", Path: shopPath, Tree: t.Tree, Revision: 2, Tracks: []v1alpha1.DeliveredTrack{blue, green}}
}

// shift lets the ledger and the repository be at the stage in which green has lost its requests.
func (c *canaryScene) shift() {
	c.Helper()
	weighed := c.recorded.Position()
	previous := c.recorded
	c.goOn(rejected("GateFailed"), rolledBack(1), advanced(1, ledger.StageShift))
	c.Applied = previous.Position()
	p := c.Follow(c.Home.Spec.ForProvider, previous, c.recorded)
	c.deliver(p.Trees[0], 0, weighed)
	c.Applied = c.recorded.Position()
}

// drain lets the SiteSync observe that green is without requests since a position.
func (c *canaryScene) drain(proven ledger.Position) *v1alpha1.SiteSync {
	s := c.observe(corev1.ConditionTrue, "Live")
	s.Status.AtProvider.Sites = []v1alpha1.SiteObservation{{Name: "edge1", Traffic: &v1alpha1.SiteTrafficObservation{
		Tracks: []v1alpha1.TrackObservation{{Name: track.Green, Idle: true, ProvenAt: &proven}},
	}}}
	return s
}

// TestConcludeTracks has a canary at 20 percent whose Gate failed.
func TestConcludeTracks(t *testing.T) {
	gateFailed, back, restore := "Rejected GateFailed", "RolledBack", "Advanced 3"
	missing := []string{gateFailed, back, "Advanced 2"}
	manual := func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Rollback.AutoRollback = false }
	cases := map[string]struct {
		reason string
		isNew  bool
		change func(c *canaryScene)
		want   []string
	}{
		"Failed": {reason: "A canary whose Gate failed loses its requests at once.", want: missing},
		"Manual": {
			reason: "A canary loses its requests although the policy rolls nothing back by itself.",
			change: manual, want: missing,
		},
		"NoRetries": {
			reason: "A canary loses its requests although the policy has no attempts.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Rollback.MaxRetries = 0 }, want: missing,
		},
		"Irreversible": {
			reason: "A canary that changed irreversible objects loses its requests.",
			change: func(c *canaryScene) { c.next.Current.Irreversible = true }, want: missing,
		},
		"Suspended": {
			reason: "A suspended canary loses its requests.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Suspended = true }, want: missing,
		},
		"OnlyReject": {reason: "A mandate without rollbacks moves no requests.", change: func(c *canaryScene) {
			c.Home.Spec.ForProvider.Mandate.May = []step.Kind{step.KindReject}
		}, want: []string{gateFailed}},
		"Passed": {reason: "A step that passed takes no other step by this mandate.", change: func(c *canaryScene) {
			c.Gates[0] = newGate("step", c.recorded, rolloutv1alpha1.GatePassed)
		}},
		"Unapplied": {
			reason: "Tracks are unknown before the repository has applied the recorded position.",
			change: func(c *canaryScene) { c.Applied.Step = 0 }, want: []string{gateFailed, back},
		},
		"New": {reason: "A canary that never got requests goes at once.", isNew: true, want: []string{gateFailed, back, restore}},
		"NewManual": {
			reason: "The pods of a canary that never got requests stay where a policy holds the rollback back.", isNew: true,
			change: manual, want: []string{gateFailed, back},
		},
		"Draining": {reason: "The pods of the canary stay while nothing is proven of its requests.", change: (*canaryScene).shift},
		"Drained": {reason: "The pods of the canary go once its requests are proven to have ended.", change: func(c *canaryScene) {
			c.shift()
			c.drain(c.recorded.Position())
		}, want: []string{restore}},
		"DrainsYet": {reason: "The pods of the canary stay while requests may be under way.", change: func(c *canaryScene) {
			c.shift()
			c.drain(c.recorded.Position()).Status.AtProvider.Sites[0].Traffic.Tracks[0].Idle = false
		}},
		"DrainsLong": {reason: "A drain that is longer than an attempt may take fails no attempt.", change: func(c *canaryScene) {
			c.shift()
			c.drain(c.recorded.Position()).Status.AtProvider.Sites[0].Traffic.Tracks[0].Idle = false
			m := c.Home.Spec.ForProvider.Mandate
			m.Drain, m.Rollback.AttemptTimeout, c.Now = "10m", "1m", noon.Add(9*time.Minute)
		}},
		"DrainedOld": {reason: "A proof from before the canary got requests does not say that they have ended.", change: func(c *canaryScene) {
			c.shift()
			c.drain(ledger.Position{Epoch: 1, Revision: 2})
		}},
		"DrainedHeld": {reason: "The pods of the canary stay where a policy holds the rollback back.", change: func(c *canaryScene) {
			c.shift()
			c.drain(c.recorded.Position())
			manual(c)
		}},
		"DrainedElsewhere": {reason: "The SiteSync of another controller proves nothing.", change: func(c *canaryScene) {
			c.shift()
			c.drain(c.recorded.Position()).OwnerReferences[0].UID = "other"
		}},
		"Losing": {reason: "Pods that fail while they lose their requests fail no rollback.", change: func(c *canaryScene) {
			c.shift()
			c.observe(corev1.ConditionFalse, "Failed")
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			if tc.isNew {
				c = newCanaryScene(t, 0, 0)
			}
			if tc.change != nil {
				tc.change(c)
			}
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describe(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// describeTree returns the action of a tree, its tracks and its parts as one line.
func describeTree(t v1alpha1.Tree) string {
	out := []string{string(t.Action)}
	for _, treeTrack := range t.Tracks {
		out = append(out, fmt.Sprintf("%s %d: %d", treeTrack.Name, treeTrack.Revision, treeTrack.Weight))
	}
	for _, p := range t.Parts {
		out = append(out, "part "+p.Path)
	}
	return strings.Join(out, " ")
}

// TestFollowTracks has a spec for the canary at 20 percent, and a ledger that went on by the mandate.
func TestFollowTracks(t *testing.T) {
	shifted := []ledger.Event{rejected("GateFailed"), rolledBack(1), advanced(1, ledger.StageShift)}
	restored := []ledger.Event{advanced(1, ledger.StageSteps)}
	const moved, atStep = "Desired blue 1: 100 green 2: 0 part blue part green", "Desired blue 1: 80 green 2: 20 part blue"
	leave := func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1"} }
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(c *canaryScene)
		want   string
	}{
		"Shift":    {reason: "The canary loses its requests, and no folder changes.", events: shifted, want: moved},
		"Rejected": {reason: "Before an attempt begins the directory stays as it is.", events: shifted[:1], want: "Keep"},
		"Begun":    {reason: "Stable pods that serve get all requests before the shift stage begins.", events: shifted[:2], want: moved},
		"Unapplied": {
			reason: "A directory stays whose repository is not at the recorded position.",
			events: shifted[:2], change: func(c *canaryScene) { c.Applied.Step = 0 }, want: atStep,
		},
		"Left": {reason: "The canary loses its requests at a Site that the deployment has left.", events: shifted, change: leave, want: moved},
		"Restore": {
			reason: "Once the requests have ended the track of the target is alone.", events: restored,
			change: (*canaryScene).shift, want: "Desired blue 1: 100 part blue",
		},
		"LeftAlone": {
			reason: "Nothing is restored at a Site that the deployment has left.", events: restored,
			change: func(c *canaryScene) { c.shift(); leave(c) }, want: "Keep",
		},
		"Forgotten": {reason: "Without the tree of the target the directory stays.", events: restored, change: func(c *canaryScene) {
			c.shift()
			c.recorded.History[0].Trees, c.recorded.History[0].TreesDropped = nil, true
		}, want: "Keep"},
		"NoFiles": {
			reason: "Without the files that the tracks share the target is restored at once.", events: shifted,
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Trees[0].Files = nil }, want: "Restore blue 1: 100",
		},
		"Unreadable": {
			reason: "Files that cannot be read leave the directory as it is.", events: shifted,
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Trees[0].Files = []byte("no archive") }, want: "Keep",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			if tc.change != nil {
				tc.change(c)
			}
			original := *c.Home.Spec.ForProvider.DeepCopy()
			got := c.Follow(c.Home.Spec.ForProvider, c.recorded, record(t, c.recorded, tc.events...)).Trees[0]
			if diff := cmp.Diff(tc.want, describeTree(got)); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.Action == v1alpha1.ActionDesired && tc.want != atStep {
				c.isComposed(t, got)
			}
			if diff := cmp.Diff(original, c.Home.Spec.ForProvider); diff != "" {
				t.Errorf("\n%s\nFollow(...) leaves the spec as it is: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFollowStep has a spec for the canary at 20 percent, and a ledger that took the next step, or ended, by the mandate.
func TestFollowStep(t *testing.T) {
	cases := map[string]struct {
		reason string
		events []ledger.Event
		change func(c *canaryScene)
		want   string
	}{
		"Step": {
			reason: "The next step gives the canary its share, and no folder changes.", events: []ledger.Event{advanced(2, ledger.StageSteps)},
			want: "Desired blue 1: 0 green 2: 100 part blue",
		},
		"Unreported": {
			reason: "A directory whose repository is not at the recorded position goes on from the folders that it reported.",
			events: []ledger.Event{advanced(2, ledger.StageSteps)}, change: func(c *canaryScene) { c.Applied.Step = 0 },
			want: "Desired blue 1: 0 green 2: 100 part blue",
		},
		"Unreadable": {
			reason: "Files that cannot be read leave the directory as it is.", events: []ledger.Event{advanced(2, ledger.StageSteps)},
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Trees[0].Files = []byte("no archive") }, want: "Keep",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCanaryScene(t, 1, 20)
			c.goForward()
			if tc.change != nil {
				tc.change(c)
			}
			p := c.Home.Spec.ForProvider
			got := c.Follow(p, c.recorded, record(t, c.recorded, tc.events...))
			if diff := cmp.Diff(tc.want, describeTree(got.Trees[0])); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.Settled || got.DriftPolicy != p.DriftPolicy || got.DeliveryTimeout != p.DeliveryTimeout {
				t.Errorf("\nA step has the policies of the spec, and removes no directory.\nFollow(...): got %+v", got)
			}
		})
	}
}

// isComposed fails the test unless the files and folders of a tree have the id of the tree, and its routes the weights.
func (c *canaryScene) isComposed(t *testing.T, got v1alpha1.Tree) {
	t.Helper()
	whole, err := tree.Decode(got.Files)
	if err != nil {
		t.Fatal(err)
	}
	whole = maps.Clone(whole)
	for _, p := range got.Parts {
		for name, content := range map[string]tree.Files{track.Blue: c.stable, track.Green: c.canary}[p.Path] {
			if strings.HasPrefix(name, p.Path+"/") {
				whole[name] = content
			}
		}
	}
	if id := tree.ID(whole); id != got.Tree {
		t.Errorf("tree: want %s, which its files and folders have, got %s", id, got.Tree)
	}
	weights, err := track.Weights(whole)
	if err != nil || weights[track.Blue] != 100 || weights[track.Green] != 0 {
		t.Errorf("weights of the routes: want 100 for blue alone, got %v and error %v", weights, err)
	}
}

// TestCanMoveRequests has a directory with revision 1 in one track, and revision 2 in the other one.
func TestCanMoveRequests(t *testing.T) {
	later := func(revision int64, index int32) []v1alpha1.LaterTree {
		return []v1alpha1.LaterTree{{Tree: v1alpha1.Tree{Path: shopPath, Files: []byte("files")}, Revision: revision, Step: index}}
	}
	cases := map[string]struct {
		reason string
		files  []byte
		later  []v1alpha1.LaterTree
		tracks int
		want   bool
	}{
		"Wave":     {reason: "The tree of a later wave has these files.", later: later(3, 1), tracks: 2, want: true},
		"Begun":    {reason: "The tree of a first step that has begun has these files.", later: later(2, 0), tracks: 2, want: true},
		"NotBegun": {reason: "Before its first step a canary moves requests by the files of an earlier one.", later: later(3, 0), tracks: 2},
		"Files":    {reason: "With the files that the tracks share requests leave a track.", files: []byte("files"), tracks: 2, want: true},
		"NoFiles":  {reason: "Without these files no requests leave a track.", tracks: 2},
		"Alone":    {reason: "Where one track is alone nothing moves.", tracks: 1, want: true},
		"Plain":    {reason: "Without tracks no request moves.", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tracks := []v1alpha1.DeliveredTrack{{Name: track.Blue, Revision: 1}, {Name: track.Green, Revision: 2}}[:tc.tracks]
			p := v1alpha1.GitDeliveryParameters{Trees: []v1alpha1.Tree{{Path: shopPath, Files: tc.files}}, Later: tc.later}
			if got := CanMoveRequests(p, map[string]v1alpha1.DeliveredTree{shopPath: {Tracks: tracks}}); got != tc.want {
				t.Errorf("\n%s\nCanMoveRequests(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
