package directories

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// webObjects are a Deployment, its Service and the route to it.
var webObjects = tree.Files{
	"deployment-web.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    intentplane.dev/workload: main
  name: web
  namespace: team-a
spec:
  replicas: 4
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - image: nginx
        name: web
`),
	"service-web.yaml": []byte(`apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: team-a
spec:
  ports:
  - port: 80
  selector:
    app: web
`),
	"httproute-web.yaml": []byte(`apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: web
  namespace: team-a
spec:
  rules:
  - backendRefs:
    - name: web
      port: 80
`),
}

// treeIn returns the tree in which a track of the web objects is alone.
func treeIn(t *testing.T, name string) (deliveryv1alpha1.Tree, tree.Files) {
	t.Helper()
	parts, err := track.Split(webObjects, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := parts.Files(name, track.Layout{Kustomizations: true})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := tree.Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	return deliveryv1alpha1.Tree{Site: "edge1", Path: "edge1/x", Action: deliveryv1alpha1.ActionDesired, Tree: tree.ID(files), Files: encoded}, files
}

// describeTracks describes the requested action, tracks and parts of a tree.
func describeTracks(t TrackedTree) string {
	out := []string{string(t.Action)}
	for _, treeTrack := range t.Tracks {
		out = append(out, fmt.Sprintf("%s %d: %d", treeTrack.Name, treeTrack.Revision, treeTrack.Weight))
	}
	for _, p := range t.Parts {
		out = append(out, "part "+p.Path)
	}
	return strings.Join(out, " ")
}

// withTracks returns a tree that gives revision 1 in the blue track, and revision 2 in the green one, shares of the requests.
func withTracks(t deliveryv1alpha1.Tree, blue, green int32) deliveryv1alpha1.Tree {
	t.Tracks = []deliveryv1alpha1.TreeTrack{{Name: track.Blue, Revision: 1, Weight: blue}, {Name: track.Green, Revision: 2, Weight: green}}
	return t
}

// TestCompose composes the directory of revision 2, which is in the green track, beside revision 1 in the blue one.
func TestCompose(t *testing.T) {
	green, _ := treeIn(t, track.Green)
	blue, blueFiles := treeIn(t, track.Blue)
	folder := track.FolderID(blueFiles, track.Blue)
	alone := deliveryv1alpha1.DeliveredTree{Tree: blue.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{{Name: track.Blue, Revision: 1, Tree: folder, Weight: 100}}}
	pair := deliveryv1alpha1.DeliveredTree{Tracks: []deliveryv1alpha1.DeliveredTrack{
		{Name: track.Blue, Revision: 1, Tree: folder, Weight: 80}, {Name: track.Green, Revision: 2, Tree: folder, Weight: 20},
	}}
	recorded := func(int64) string { return folder }
	unknownFields := func(int64) string { return "" }
	step2 := step.Aim{Put: map[string]int64{track.Green: 2, track.Blue: 1}, Serving: track.Blue, Weight: 20, Ahead: new(int32(50))}
	cases := map[string]struct {
		reason string
		from   Directory
		want   string
	}{
		"Keeps": {reason: "A directory that stays is not asked for.", from: Directory{Own: green, Aim: step.Aim{Keeps: true}}, want: "Keep"},
		"Prepare": {
			reason: "The files of the new track come beside the folder of the old one.",
			from:   Directory{Own: green, Asked: blue, Held: alone, FolderOf: recorded, Aim: step2}, want: "Desired blue 1: 80 green 2: 20 part blue",
		},
		"Reported": {
			reason: "A folder that the history does not know is the present folder of the directory.",
			from:   Directory{Own: green, Held: alone, FolderOf: unknownFields, Aim: step2}, want: "Desired blue 1: 80 green 2: 20 part blue",
		},
		"Unknown": {
			reason: "Without the folder of the old track nothing is composed.",
			from:   Directory{Own: green, FolderOf: unknownFields, Aim: step2}, want: "Keep",
		},
		"NoFiles": {
			reason: "Without the files of the new track nothing is composed.",
			from:   Directory{Own: deliveryv1alpha1.Tree{Site: "edge1"}, Asked: blue, Held: alone, FolderOf: recorded, Aim: step2}, want: "Keep",
		},
		"Shift": {
			reason: "Requests are moved with both folders as they are.",
			from: Directory{
				Own: deliveryv1alpha1.Tree{Site: "edge1"}, Asked: green, Held: pair, FolderOf: recorded, Aim: step.Aim{Serving: track.Blue},
			},
			want: "Desired blue 1: 100 green 2: 0 part blue part green",
		},
		"Nowhere": {
			reason: "A track that is not there gets no requests.",
			from:   Directory{Own: green, Asked: blue, Held: alone, FolderOf: recorded, Aim: step.Aim{Serving: track.Green}}, want: "Keep",
		},
		"Beside": {
			reason: "The pods of a past revision come back without requests.", want: "Desired blue 1: 0 green 2: 100 part blue part green",
			from: Directory{Own: green, Asked: green, FolderOf: recorded, Aim: step.Aim{Put: map[string]int64{track.Blue: 1}}, Held: deliveryv1alpha1.DeliveredTree{
				Tracks: []deliveryv1alpha1.DeliveredTrack{{Name: track.Green, Revision: 2, Tree: folder, Weight: 100}},
			}},
		},
		"InFlight": {
			reason: "Requests that the repository may have moved since it reported are not moved back.", want: "Desired blue 1: 100 green 2: 0 part blue part green",
			from: Directory{
				Own: deliveryv1alpha1.Tree{Site: "edge1"}, Asked: withTracks(green, 100, 0), IsAskedInPosition: true, Held: pair, FolderOf: recorded,
				Aim: step.Aim{Put: map[string]int64{track.Blue: 1}},
			},
		},
		"Proposed": {
			reason: "A tree that was requested for another position may never come.", want: "Desired blue 1: 80 green 2: 20 part blue part green",
			from: Directory{
				Own: deliveryv1alpha1.Tree{Site: "edge1"}, Asked: withTracks(green, 100, 0), Held: pair, FolderOf: recorded,
				Aim: step.Aim{Put: map[string]int64{track.Blue: 1}},
			},
		},
		"Replaced": {
			reason: "A request for another folder says nothing of this one.", want: "Desired blue 3: 80 green 2: 20 part blue part green",
			from: Directory{
				Own: deliveryv1alpha1.Tree{Site: "edge1"}, Asked: withTracks(green, 100, 0), IsAskedInPosition: true, Held: pair, FolderOf: recorded,
				Aim: step.Aim{Put: map[string]int64{track.Blue: 3}},
			},
		},
		"Alone": {
			reason: "At last the track is alone.",
			from: Directory{
				Own: green, Asked: green, Held: pair, FolderOf: recorded,
				Aim: step.Aim{Put: map[string]int64{track.Green: 2}, Serving: track.Green, IsAlone: true},
			},
			want: "Desired green 2: 100",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := NewTracker(1 << 20)
			tc.from.Track, tc.from.Revision = track.Green, 2
			got, err := c.Compose(tc.from)
			if err != nil {
				t.Fatal(err)
			}
			repeated, _ := c.Compose(tc.from)
			if diff := cmp.Diff(tc.want, describeTracks(got)) + cmp.Diff(got, repeated); diff != "" {
				t.Errorf("\n%s\nCompose(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got.Action == deliveryv1alpha1.ActionDesired && got.Tree.Tree != idOf(t, got.Tree) {
				t.Errorf("\nA tree has the id of its files and parts.\nCompose(...): got %s", got.Tree.Tree)
			}
			if name == "Alone" && got.Tree.Tree != green.Tree {
				t.Errorf("\nThe tree of a track that is alone is the rendered one.\nCompose(...): got %s, want %s", got.Tree.Tree, green.Tree)
			}
		})
	}
}

// comesBack is the aim of a directory in which the pods of the stable revision are put beside the canary.
var comesBack = step.Aim{Put: map[string]int64{track.Blue: 1}}

// besideStable is the aim of a directory in which a canary has a weight.
func besideStable(weight int32) step.Aim {
	out := serves(track.Blue, weight)
	out.Put, out.Ahead = map[string]int64{track.Green: 2, track.Blue: 1}, new(int32(100))
	return out
}

// serves is the aim of a directory in which a track serves, and the other one has a weight.
func serves(name string, weight int32) step.Aim { return step.Aim{Serving: name, Weight: weight} }

// TestComposeWhatIsThere asks for the pods of the stable revision, which a directory has beside a canary.
func TestComposeWhatIsThere(t *testing.T) {
	green, _ := treeIn(t, track.Green)
	blue, blueFiles := treeIn(t, track.Blue)
	folder := track.FolderID(blueFiles, track.Blue)
	cases := map[string]struct {
		reason string
		has    step.Aim
		// weight of the canary in the directory.
		weight int32
		next   step.Aim
	}{
		"Prepare": {reason: "A directory whose canary has no requests is not written again to prove its pods once more.", has: besideStable(0), next: comesBack},
		"All": {
			reason: "A directory whose canary has all requests is not written again to prove its pods once more.",
			has:    besideStable(100), weight: 100, next: comesBack,
		},
		"Shift": {
			reason: "A directory whose requests are at the stable revision is not written again to give it these.",
			has:    step.Aim{Put: besideStable(0).Put, Serving: track.Green, Weight: 100, Ahead: new(int32(100))}, next: serves(track.Blue, 0),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, from := NewTracker(1<<20), Directory{Own: green, Asked: blue, Track: track.Green, Revision: 2, FolderOf: func(int64) string { return folder }}
			from.Held = deliveryv1alpha1.DeliveredTree{Tree: blue.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{{Name: track.Blue, Revision: 1, Tree: folder, Weight: 100}}}
			from.Aim = tc.has
			current, err := c.Compose(from)
			if err != nil {
				t.Fatal(err)
			}
			from.Asked, from.Revision, from.Aim = current.Tree, 3, tc.next
			from.Held = deliveryv1alpha1.DeliveredTree{Tree: current.Tree.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{
				{Name: track.Blue, Revision: 1, Tree: folder, Weight: 100 - tc.weight}, {Name: track.Green, Revision: 2, Tree: current.Folder, Weight: tc.weight},
			}}
			got, err := c.Compose(from)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(current.Tree.Tree, got.Tree.Tree); diff != "" {
				t.Errorf("\n%s\nCompose(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTreeBefore asks for tree "two" of a directory.
func TestTreeBefore(t *testing.T) {
	desired := func(id, next string) deliveryv1alpha1.Tree {
		return deliveryv1alpha1.Tree{Action: deliveryv1alpha1.ActionDesired, Tree: id, After: next}
	}
	cases := map[string]struct {
		reason string
		from   Directory
		is     deliveryv1alpha1.Tree
		want   string
	}{
		"First": {reason: "Nothing is known of a directory that no repository reported.", is: desired("two", "")},
		"Stays": {
			reason: "A directory that stays is replaced by nothing.",
			from:   Directory{Held: deliveryv1alpha1.DeliveredTree{Tree: "one"}},
			is:     deliveryv1alpha1.Tree{Action: deliveryv1alpha1.ActionKeep, Tree: "one"},
		},
		"Reported": {
			reason: "A tree takes the place of the reported tree.",
			from:   Directory{Held: deliveryv1alpha1.DeliveredTree{Tree: "one"}}, is: desired("two", ""), want: "one",
		},
		"Delivered": {
			reason: "Once the directory has the requested tree, the request does not change.",
			from:   Directory{Held: deliveryv1alpha1.DeliveredTree{Tree: "two"}, Asked: desired("two", "one"), IsAskedAgain: true},
			is:     desired("two", ""), want: "one",
		},
		"Recreated": {
			reason: "A recreated object asks for the present tree of the directory, and for no other.",
			from:   Directory{Held: deliveryv1alpha1.DeliveredTree{Tree: "two"}, IsAskedAgain: true}, is: desired("two", ""), want: "two",
		},
		"Refused": {
			reason: "A tree that was refused as behind is asked for once more, after the present tree.",
			from:   Directory{Held: deliveryv1alpha1.DeliveredTree{Tree: "three"}, Asked: desired("two", "one"), IsAskedAgain: true},
			is:     desired("two", ""), want: "three",
		},
		"Next": {
			reason: "In the next position a tree takes the place of the tree of the previous position.",
			from:   Directory{Held: deliveryv1alpha1.DeliveredTree{Tree: "two"}, Asked: desired("two", "one")}, is: desired("two", ""), want: "two",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.from.TreeBefore(tc.is); got != tc.want {
				t.Errorf("\n%s\nTreeBefore(...): got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestComposeOfTreesThatStay composes two directories that are asked to stay. Such a tree has no id, and may carry files.
func TestComposeOfTreesThatStay(t *testing.T) {
	green, files := treeIn(t, track.Green)
	blue, blueFiles := treeIn(t, track.Blue)
	folder := track.FolderID(blueFiles, track.Blue)
	from := Directory{
		Own: deliveryv1alpha1.Tree{Site: "edge1"}, Asked: Retain(green), FolderOf: func(int64) string { return folder },
		Aim: step.Aim{Serving: track.Blue}, Track: track.Green, Revision: 2,
		Held: deliveryv1alpha1.DeliveredTree{Tree: blue.Tree, Tracks: []deliveryv1alpha1.DeliveredTrack{
			{Name: track.Blue, Revision: 1, Tree: folder, Weight: 80}, {Name: track.Green, Revision: 2, Tree: folder, Weight: 20},
		}},
	}
	c := NewTracker(1 << 20)
	for _, text := range []string{"first", "second"} {
		var err error
		files[track.FolderShared+"/configmap-"+text+".yaml"] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + text + "\n  namespace: team-a\n")
		if from.Asked.Files, err = tree.Encode(files); err != nil {
			t.Fatal(err)
		}
		got, err := c.Compose(from)
		if err != nil {
			t.Fatal(err)
		}
		want, err := NewTracker(1 << 20).Compose(from)
		if diff := cmp.Diff(want.Tree.Tree, got.Tree.Tree); diff != "" || err != nil {
			t.Errorf("\nA tree is composed of the files that its own directory was asked for.\nCompose(...): %v: -want, +got:\n%s", err, diff)
		}
	}
}

// idOf returns the id of the files and parts of a tree.
func idOf(t *testing.T, composed deliveryv1alpha1.Tree) string {
	t.Helper()
	files, err := tree.Decode(composed.Files)
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, p := range composed.Parts {
		parts[p.Path] = p.Tree
	}
	id, err := tree.GraftedID(files, parts)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestAlone reads the tree in which a revision is alone from one in which it has a part of its size.
func TestAlone(t *testing.T) {
	green, files := treeIn(t, track.Green)
	c := NewTracker(1 << 20)
	d := Directory{Own: green, Track: track.Green, Revision: 2, FolderOf: func(int64) string { return track.FolderID(files, track.Green) }}
	d.Aim = step.Aim{Put: map[string]int64{track.Green: 2, track.Blue: 1}, Serving: track.Blue, Weight: 5, Ahead: new(int32(20))}
	part, err := c.Compose(d)
	if err != nil {
		t.Fatal(err)
	}
	d.Own = part.Tree
	got, ok := c.Alone(d)
	want := ledger.SiteTree{Site: "edge1", ID: green.Tree, Part: track.FolderID(files, track.Green)}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("\nThe revision alone has all of its pods.\nAlone(...): -want, +got:\n%s", diff)
	}
	d.Own.Files = nil
	if _, ok := c.Alone(d); ok {
		t.Error("\nWithout the files it is not known.\nAlone(...): want false")
	}
}

// TestKeepTracked keeps directories that hold the requested tree, or another one.
func TestKeepTracked(t *testing.T) {
	requested := deliveryv1alpha1.Tree{Site: "edge1", Action: deliveryv1alpha1.ActionDesired, Tree: "t", Files: []byte("f")}
	if got := KeepTracked(Directory{Asked: requested, Held: deliveryv1alpha1.DeliveredTree{Tree: "t"}}); got.Action != deliveryv1alpha1.ActionDesired || len(got.Files) == 0 {
		t.Errorf("\nA directory that holds the requested tree keeps its files in the object.\nKeepTracked(...): got %+v", got)
	}
	if got := KeepTracked(Directory{Asked: requested, Held: deliveryv1alpha1.DeliveredTree{Tree: "u"}}); got.Action != deliveryv1alpha1.ActionKeep || len(got.Files) > 0 {
		t.Errorf("\nA directory that holds something else stays as it is.\nKeepTracked(...): got %+v", got)
	}
	requested.Tracks, requested.Parts = []deliveryv1alpha1.TreeTrack{{Name: track.Blue}}, []deliveryv1alpha1.TreePart{{Path: track.Blue}}
	for range 2 {
		got := KeepTracked(Directory{Own: requested, Asked: requested, Held: deliveryv1alpha1.DeliveredTree{Tree: "u"}})
		if got.Action != deliveryv1alpha1.ActionKeep || len(got.Files) == 0 || len(got.Parts) > 0 {
			t.Errorf("\nThe object keeps the shared files of a directory's tracks, and asks for no parts.\nKeepTracked(...): got %+v", got)
		}
		requested = got.Tree
	}
}

// TestRestoreTracked restores the directory of revision 1, in the blue track, after a canary in the green one.
func TestRestoreTracked(t *testing.T) {
	green, _ := treeIn(t, track.Green)
	blue, files := treeIn(t, track.Blue)
	folder := track.FolderID(files, track.Blue)
	pair := deliveryv1alpha1.DeliveredTree{Tracks: []deliveryv1alpha1.DeliveredTrack{
		{Name: track.Blue, Revision: 1, Tree: folder, Weight: 100}, {Name: track.Green, Revision: 2, Tree: folder},
	}}
	c := NewTracker(1 << 20)
	shifted, err := c.Compose(Directory{Own: green, Held: pair, Track: track.Green, Revision: 2, Aim: step.Aim{Serving: track.Blue}})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		asked  deliveryv1alpha1.Tree
		target ledger.SiteTree
		want   string
	}{
		"Shared": {
			reason: "Shared files stay in the object where the target has the same.",
			asked:  shifted.Tree, target: ledger.SiteTree{ID: blue.Tree, Part: folder}, want: "Desired blue 1: 100 part blue",
		},
		"Other": {
			reason: "A target that shares other files is restored by its id.",
			asked:  shifted.Tree, target: ledger.SiteTree{ID: "other", Part: folder}, want: "Restore blue 1: 100",
		},
		"NoFolder": {
			reason: "A target without a known folder is restored by its id.",
			asked:  shifted.Tree, target: ledger.SiteTree{ID: blue.Tree}, want: "Restore blue 1: 100",
		},
		"NoFiles": {
			reason: "Where the object has no files the target is restored by its id.",
			target: ledger.SiteTree{ID: blue.Tree, Part: folder}, want: "Restore blue 1: 100",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := c.RestoreTracked(Directory{Own: green, Asked: tc.asked, Held: pair, Track: track.Green, Revision: 2}, tc.target, ledger.Past{Number: 1, Track: track.Blue})
			if diff := cmp.Diff(tc.want, describeTracks(got)); diff != "" || got.Tree.Tree != tc.target.ID {
				t.Errorf("\n%s\nRestoreTracked(...): got tree %s, -want, +got:\n%s", tc.reason, got.Tree.Tree, diff)
			}
			if got.Action == deliveryv1alpha1.ActionDesired && idOf(t, got.Tree) != blue.Tree {
				t.Errorf("\nA tree has the id of its files and parts.\nRestoreTracked(...): got %s", idOf(t, got.Tree))
			}
		})
	}
}

// TestCarriesTrack looks for the files of revision 2 in track green.
func TestCarriesTrack(t *testing.T) {
	cases := map[string]struct {
		reason string
		track  deliveryv1alpha1.TreeTrack
		parts  []deliveryv1alpha1.TreePart
		files  string
		want   bool
	}{
		"There": {
			reason: "A tree has the files of the track that it names.",
			track:  deliveryv1alpha1.TreeTrack{Name: track.Green, Revision: 2}, files: "files", want: true,
		},
		"Other": {reason: "The revision in another track is not looked for.", track: deliveryv1alpha1.TreeTrack{Name: track.Blue, Revision: 2}, files: "files"},
		"Earlier": {
			reason: "An earlier revision in the track is not looked for.",
			track:  deliveryv1alpha1.TreeTrack{Name: track.Green, Revision: 1}, files: "files",
		},
		"Part": {
			reason: "A folder that is named by its id is not among the files.",
			track:  deliveryv1alpha1.TreeTrack{Name: track.Green, Revision: 2}, parts: []deliveryv1alpha1.TreePart{{Path: track.Green}},
			files: "files",
		},
		"Restored": {reason: "A tree without files carries no track.", track: deliveryv1alpha1.TreeTrack{Name: track.Green, Revision: 2}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			requested := deliveryv1alpha1.Tree{Tracks: []deliveryv1alpha1.TreeTrack{tc.track}, Parts: tc.parts, Files: []byte(tc.files)}
			if got := CarriesTrack(requested, track.Green, 2); got != tc.want {
				t.Errorf("\n%s\nCarriesTrack(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
