package mandate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// newReplacingScene returns a scene in which revision 3 in track green replaces revision 2, which had 20 percent of the requests there. These have gone back to
// revision 1, and have ended. The spec of the home has the directory of that stage, and carries the files of revision 3 for its first step. Its shared files differ.
func newReplacingScene(t *testing.T) *canaryScene {
	t.Helper()
	c := newCanaryScene(t, 1, 20)
	weighed, spec := c.recorded.Position(), c.Home.Spec.ForProvider.Trees[0]
	ordered := inTrack(3, track.Green, 1)
	ordered.Ordered.Revision.Request.Intent = "intent-three"
	c.goOn(ordered, advanced(0, ledger.StageShift))
	d := directories.NewDirectory(c.recorded, spec).WithoutOtherFiles()
	d.Asked, d.Held, d.Aim = spec, c.Delivered[shopPath], step.Aim{Serving: track.Blue}
	shifted, err := directories.NewTracker(0).Compose(d)
	if err != nil || len(shifted.Parts) != 2 {
		t.Fatalf("Compose(...): want two folders, got %v and error %v", shifted.Parts, err)
	}
	files := shopFiles(t, "three", track.Green)
	for name, content := range files {
		if strings.HasPrefix(name, track.FolderShared+"/") {
			files[name] = bytes.ReplaceAll(content, []byte("port: 80"), []byte("port: 81"))
		}
	}
	c.deliver(shifted.Tree, 0, weighed)
	c.canary, c.Home = files, newHome(c.recorded)
	p := &c.Home.Spec.ForProvider
	rendered := spec
	rendered.Tree, rendered.Files, rendered.Parts, rendered.Tracks = tree.ID(files), encode(t, files), nil, nil
	p.Trees = []v1alpha1.Tree{shifted.Tree}
	p.Later = []v1alpha1.LaterTree{{Tree: rendered, Revision: 3, Request: c.recorded.Current.Request.Digest()}}
	c.Applied = c.recorded.Position()
	sync := c.goForward()
	sync.Status.AtProvider.Sites[0].Traffic = &v1alpha1.SiteTrafficObservation{
		Tracks: []v1alpha1.TrackObservation{{Name: track.Green, Idle: true, ProvenAt: new(c.recorded.Position())}},
	}
	return c
}

// TestConcludeReplaced has a canary that replaces another one, whose requests have ended, and no function.
func TestConcludeReplaced(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(c *canaryScene)
		want   []string
		hold   v1alpha1.MandateHold
	}{
		"Carried": {reason: "The first step begins once the requests of the earlier canary have ended.", want: []string{"Advanced 0.3"}},
		"Draining": {reason: "The pods of the earlier canary stay while its requests may be under way.", change: func(c *canaryScene) {
			c.Syncs[0].Status.AtProvider.Sites[0].Traffic.Tracks[0].Idle = false
		}},
		"NotCarried": {
			reason: "A first step whose files are in no object is left to the function.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Later = nil },
		},
		"OtherRequest": {
			reason: "The files of a revision that had the same number before a loss of the ledger are not delivered.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Later[0].Request = "another" },
		},
		"Closed": {
			reason: "A first step whose Site has another directory by now is left to the function.",
			change: func(c *canaryScene) { c.Closed = map[string]bool{"edge1": true} },
		},
		"Left": {
			reason: "A canary takes no first step where the deployment has left a Site.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Without = []string{"edge1"} },
		},
		"Suspended": {
			reason: "A suspended canary takes no first step.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Mandate.Suspended = true },
		},
		"Changed": {
			reason: "A claim that changed holds the first step back.",
			change: func(c *canaryScene) { c.Guard = v1alpha1.HoldClaimChanged }, hold: v1alpha1.HoldClaimChanged,
		},
		"Unreadable": {
			reason: "Files that cannot be read hold the first step back.",
			change: func(c *canaryScene) { c.Home.Spec.ForProvider.Later[0].Files = []byte("no archive") }, hold: v1alpha1.HoldFilesMissing,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newReplacingScene(t)
			if tc.change != nil {
				tc.change(c)
			}
			_, events := c.Conclude(c.recorded, c.next)
			if diff := cmp.Diff(tc.want, describeForward(events)); diff != "" {
				t.Errorf("\n%s\nConclude(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.hold, c.Held(c.recorded, c.next)); diff != "" {
				t.Errorf("\n%s\nHeld(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFollowReplaced has a spec for the stage before the first step of a canary that replaces another one, and a ledger that went on by the mandate.
func TestFollowReplaced(t *testing.T) {
	const earlier, first = "Desired blue 1: 100 green 2: 0 part blue part green", "Desired blue 1: 100 green 3: 0 part blue"
	stepped, back := advanced(0, ledger.StageSteps), []ledger.Event{rejected("GateFailed"), rolledBack(1)}
	cases := map[string]struct {
		reason string
		events []ledger.Event
		want   string
		// port of the shared Service. Before its first step the revision changes no shared file.
		port string
	}{
		"Stage": {reason: "Before its first step a canary changes nothing in the directory.", want: earlier, port: "port: 80"},
		"Step": {
			reason: "At its first step a canary gets its pods, without requests, and the shared files.",
			events: []ledger.Event{stepped}, want: first, port: "port: 81",
		},
		"Rejected": {reason: "A canary that ends before its first step leaves no shared file behind.", events: back, want: earlier, port: "port: 80"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newReplacingScene(t)
			got := c.Follow(c.Home.Spec.ForProvider, c.recorded, record(t, c.recorded, tc.events...)).Trees[0]
			if diff := cmp.Diff(tc.want, describeTree(got)); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
			if files, err := tree.Decode(got.Files); err != nil || !bytes.Contains(files[track.FolderShared+"/service-web.yaml"], []byte(tc.port)) {
				t.Errorf("\n%s\nshared Service: want %s, got %s, error %v", tc.reason, tc.port, files[track.FolderShared+"/service-web.yaml"], err)
			}
		})
	}
}

// TestFollowReplacedBack rejects a canary that took its first step by the mandate: the spec has the directory of the stage before it.
func TestFollowReplacedBack(t *testing.T) {
	c := newReplacingScene(t)
	p := c.Home.Spec.ForProvider
	previous := c.recorded
	c.goOn(advanced(0, ledger.StageSteps))
	began := c.Follow(p, previous, c.recorded).Trees[0]
	delivered := c.Delivered[shopPath]
	green := &delivered.Tracks[1]
	delivered.Tree, delivered.Revision, green.Revision, green.Tree = began.Tree, 3, 3, track.FolderID(c.canary, track.Green)
	c.Delivered[shopPath], c.Applied = delivered, c.recorded.Position()
	got := c.Follow(p, c.recorded, record(t, c.recorded, rejected("GateFailed"), rolledBack(1))).Trees[0]
	if diff := cmp.Diff(describeTree(began), describeTree(got)); diff != "" || got.Tree != began.Tree {
		t.Errorf("\nThe files that a canary got at its first step stay until its rollback restores the target.\nFollow(...): -want %s, +got %s:\n%s", began.Tree, got.Tree, diff)
	}
}
