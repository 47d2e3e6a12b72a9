package git

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/test/gitserver"
)

// delivered returns a server with a few deliveries, and the client with its snapshot after them.
func delivered(t *testing.T) (*gitserver.Server, *Client, *Snapshot) {
	t.Helper()
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	cached := look(t, c)
	for n := range 5 {
		cached = push(t, c, plan(t, cached, Change{
			Put:   map[string]map[string][]byte{fmt.Sprintf("sites/a/ns/web-%d", n): files("a.yaml", fmt.Sprint(n))},
			State: files(fmt.Sprintf("claims/ns/web-%d.json", n), fmt.Sprint(n)),
		})).Snapshot
	}
	return s, c, cached
}

func TestQuietLookDropsGarbage(t *testing.T) {
	_, c, cached := delivered(t)
	quiet, err := c.Look(t.Context(), cached)
	if err != nil {
		t.Fatal(err)
	}
	if first := look(t, c).Size(); quiet.Size() > first || cached.Size() <= first {
		t.Errorf("\nA quiet look holds no more than a first look\nSize(): %d, first %d, before %d", quiet.Size(), first, cached.Size())
	}
	repeated, err := c.Look(t.Context(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	if repeated.history != quiet.history || repeated.Size() != quiet.Size() {
		t.Error("\nA snapshot without garbage stays unchanged")
	}
}

func TestSnapshotWithoutGarbageIsComplete(t *testing.T) {
	_, c, cached := delivered(t)
	quiet, err := c.Look(t.Context(), cached)
	if err != nil {
		t.Fatal(err)
	}
	ch := Change{Put: map[string]map[string][]byte{"sites/a/ns/web-2": files("a.yaml", "new")}, State: files("claims/ns/web-2.json", "new")}
	want, got := plan(t, cached, ch), plan(t, quiet, ch)
	if diff := cmp.Diff([]string{want.Commit(), want.StateCommit()}, []string{got.Commit(), got.StateCommit()}); diff != "" {
		t.Errorf("\nThe same follows from it\nPlan(): -want, +got:\n%s", diff)
	}
	content, ok, err := c.ReadFile(context.Background(), quiet, "sites/a/ns/web-1/a.yaml")
	if diff := cmp.Diff("1", string(content)); diff != "" || !ok || err != nil {
		t.Errorf("\nFiles are asked for\nReadFile(): %v, %v: -want, +got:\n%s", ok, err, diff)
	}
	content, ok, err = quiet.StateFile(t.Context(), "claims/ns/web-1.json")
	if diff := cmp.Diff("1", string(content)); diff != "" || !ok || err != nil {
		t.Errorf("\nFiles of the state are there\nStateFile(): %v, %v: -want, +got:\n%s", ok, err, diff)
	}
	push(t, c, got)
}

// TestStateFile reads entries of several kinds in the place of a file of the state.
func TestStateFile(t *testing.T) {
	cases := map[string]struct {
		reason string
		// mode and path of the entry in Git's index, and the revision that names its object.
		mode, path, object string
		want               string
		class              failure.Class
	}{
		"File":       {reason: "A plain file of the state is read.", mode: "100644", path: "owner.json", object: "main:README.md", want: "hello"},
		"Executable": {reason: "An executable file is a file of the state, too.", mode: "100755", path: "owner.json", object: "main:README.md", want: "hello"},
		"Absent":     {reason: "A state without a file of that name says so without an error.", mode: "100644", path: "other.json", object: "main:README.md"},
		"Directory": {
			reason: "A directory in the place of a file is not an absent file.",
			mode:   "100644", path: "owner.json/x", object: "main:README.md", class: failure.ClassOccupied,
		},
		"Submodule": {
			reason: "A submodule in the place of a file is not an absent file.",
			mode:   "160000", path: "owner.json", object: "main", class: failure.ClassOccupied,
		},
		"Link": {
			reason: "The target of a symbolic link is not the content of a file.",
			mode:   "120000", path: "owner.json", object: "main:README.md", class: failure.ClassOccupied,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			run(t, s, "update-index", "--add", "--cacheinfo", tc.mode+","+run(t, s, "rev-parse", tc.object)+","+tc.path)
			run(t, s, "update-ref", stateRef, run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "x", run(t, s, "write-tree")))
			got, ok, err := look(t, client(t, s)).StateFile(t.Context(), "owner.json")
			if diff := cmp.Diff(tc.want, string(got)); diff != "" || ok != (tc.want != "") {
				t.Errorf("\n%s\nStateFile(...): %t: -want, +got:\n%s", tc.reason, ok, diff)
			}
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nStateFile(...): -want class, +got class:\n%s%v", tc.reason, diff, err)
			}
		})
	}
}

func TestReplacedTreesAreDropped(t *testing.T) {
	trees := map[string]map[string][]byte{}
	for n := range 500 {
		trees[fmt.Sprintf("sites/a/ns/a-name-as-long-as-they-are-%d", n)] = files("a.yaml", fmt.Sprint(n))
	}
	s := planned(t, Change{Put: trees})
	used := s.branch.Size()
	for n := range 200 {
		p, err := Plan(t.Context(), s, change(put(fmt.Sprintf("sites/a/ns/a-name-as-long-as-they-are-%d", n), files("a.yaml", "new"))))
		if err != nil {
			t.Fatal(err)
		}
		s = p.After()
	}
	if limit := 2*used + 2*(1<<20); s.branch.Size() > limit {
		t.Errorf("\nEach delivery replaces the list of all deliveries, and the old lists are dropped\nSize(): %d bytes, more than %d, where %d are in use", s.branch.Size(), limit, used)
	}
}
