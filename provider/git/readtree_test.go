package git

import (
	"context"
	"maps"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/test/gitserver"
)

const keptDir = "claims/ns/web/record.trees"

// retaining delivers files, and lets the state hold on to them and to other trees.
func retaining(f map[string][]byte, ids ...string) Change {
	trees := objects.Trees{tree.ID(f): f}
	for _, id := range ids {
		trees[id] = nil
	}
	c := put("sites/a/ns/web", with(f, ".intentplane", "claim: ns/web\n"))
	c.State = files("claims/ns/web/record.json", "{}")
	c.Retain = map[string]objects.Trees{keptDir: trees}
	return c
}

func with(f map[string][]byte, name, content string) map[string][]byte {
	out := map[string][]byte{name: []byte(content)}
	maps.Copy(out, f)
	return out
}

// wantedTree is a tree that the state or the branch may have.
func wantedTree(f map[string][]byte, commits ...string) WantedTree {
	return WantedTree{ID: tree.ID(f), RetainedDir: keptDir, Path: "sites/a/ns/web", Without: ".intentplane", Commits: commits}
}

// lose all that no ref needs.
func collectGarbage(t *testing.T, s *gitserver.Server) {
	t.Helper()
	run(t, s, "-c", "gc.reflogExpire=now", "gc", "--prune=now", "--quiet")
}

// TestRetainTrees delivers two revisions and then loses the branch's history: the state still has the files of the first revision.
func TestRetainTrees(t *testing.T) {
	firstFiles, secondFiles := files("a.yaml", "1", "sub.trees/b.yaml", "same"), files("a.yaml", "2", "sub.trees/b.yaml", "same")
	cases := map[string]struct {
		reason string
		config [][2]string
		// held is how many objects of the state a fresh look has.
		held int
	}{
		"Plain": {reason: "A look leaves out the files of retained trees.", held: 10},
		"NotAtomic": {
			reason: "Without atomic pushes, the state goes first and has all objects that it needs.",
			config: [][2]string{{"receive.advertiseAtomic", "false"}}, held: 10,
		},
		"NoFilter": {reason: "A server without filters sends the files of retained trees too.", config: [][2]string{{"uploadpack.allowFilter", "false"}}, held: 13},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"README.md": "hello"})
			for _, kv := range tc.config {
				run(t, s, "config", kv[0], kv[1])
			}
			c := client(t, s)
			first := push(t, c, plan(t, look(t, c), retaining(firstFiles))).Snapshot
			push(t, c, plan(t, first, retaining(secondFiles, tree.ID(firstFiles))))
			run(t, s, "update-ref", "refs/heads/main", "main~2")
			collectGarbage(t, s)
			run(t, s, "fsck", "--strict", "--full")

			fresh := look(t, c)
			if diff := cmp.Diff(tc.held, fresh.state.Count()); diff != "" {
				t.Errorf("\n%s\nobjects of the state: -want, +got:\n%s", tc.reason, diff)
			}
			if _, ok, err := fresh.StateFile(t.Context(), "claims/ns/web/record.json"); !ok || err != nil {
				t.Errorf("\n%s\nStateFile(): want it, got %t, %v", tc.reason, ok, err)
			}
			for _, want := range []map[string][]byte{firstFiles, secondFiles} {
				got, ok, err := c.ReadTree(context.Background(), fresh, wantedTree(want))
				if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
					t.Errorf("\n%s\nReadTree(): -want, +got:\n%s%v", tc.reason, diff, err)
				}
			}
		})
	}
}

// TestRetainedTreesAreSentOnce retains trees that are still named, and drops trees that are not named any more.
func TestRetainedTreesAreSentOnce(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	firstFiles, secondFiles := files("a.yaml", "1", "b.yaml", "same"), files("a.yaml", "2", "b.yaml", "same")
	snapshot := push(t, c, plan(t, look(t, c), retaining(firstFiles))).Snapshot
	if p := plan(t, snapshot, retaining(firstFiles)); !p.Empty() {
		t.Errorf("\nRetained trees are not written again\nPlan(): want nothing, got %s", p.StateCommit())
	}
	if n := snapshot.state.Count(); n != 8 {
		t.Errorf("\nThe writer's snapshot does not hold the files\nobjects of the state: want 8, got %d", n)
	}
	p := plan(t, snapshot, retaining(secondFiles, tree.ID(firstFiles)))
	blobs := 0
	for _, o := range p.state {
		if o.Kind == plumbing.BlobObject {
			blobs++
		}
	}
	if blobs != 1 {
		t.Errorf("\nA file that another kept tree has is not sent again\nfiles in the push: want 1, got %d", blobs)
	}
	if got, ok, err := c.ReadTree(context.Background(), p.After(), wantedTree(firstFiles)); !ok || err != nil || cmp.Diff(firstFiles, got) != "" {
		t.Errorf("\nA retained tree can be read\nReadTree(): got %v, %v", got, err)
	}
	snapshot = push(t, c, p).Snapshot
	snapshot = push(t, c, plan(t, snapshot, retaining(secondFiles))).Snapshot
	if retained, err := snapshot.RetainedTrees(t.Context(), keptDir); retained[tree.ID(firstFiles)] || !retained[tree.ID(secondFiles)] || err != nil {
		t.Error("\nA tree that is not named is dropped, and the other trees stay")
	}
	run(t, s, "fsck", "--strict", "--full")
}

func TestReadTree(t *testing.T) {
	firstFiles, secondFiles := files("a.yaml", "1"), files("a.yaml", "2")
	deliver := func(f map[string][]byte) Change {
		return put("sites/a/ns/web", with(f, ".intentplane", "claim: ns/web\n"))
	}
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	p := plan(t, look(t, c), deliver(firstFiles))
	snapshot := push(t, c, plan(t, push(t, c, p).Snapshot, deliver(secondFiles))).Snapshot

	cases := map[string]struct {
		reason string
		want   WantedTree
		files  map[string][]byte
		class  failure.Class
	}{
		"Tip":     {reason: "A tree that the branch has beside the marker is read from the branch.", want: wantedTree(secondFiles), files: secondFiles},
		"Past":    {reason: "A tree that the branch had before is read from an older commit.", want: wantedTree(firstFiles, "none", p.Commit()), files: firstFiles},
		"Nowhere": {reason: "A tree in a commit that is not named is not found.", want: wantedTree(firstFiles)},
		"Gone": {
			reason: "A tree in a commit that the server does not have is not found.",
			want:   wantedTree(firstFiles, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		},
		"Forged": {
			reason: "A directory of the state named after an id is read only if its tree has that id.",
			want:   WantedTree{ID: tree.ID(secondFiles), RetainedDir: "forged.trees", Path: "sites/x"},
		},
		"Path": {
			reason: "A tree whose path is refused is not read.",
			want:   WantedTree{ID: tree.ID(secondFiles), RetainedDir: "x.trees", Path: "../x"}, class: failure.ClassInvalid,
		},
	}
	snapshot = push(t, c, plan(t, snapshot, Change{State: files("x", "y"), Retain: map[string]objects.Trees{"forged.trees": {tree.ID(secondFiles): files("z", "z")}}})).Snapshot
	if retained, err := snapshot.RetainedTrees(t.Context(), "forged.trees"); retained[tree.ID(secondFiles)] || err != nil {
		t.Error("\nA tree that is retained under an id has that id\nKept(): want false")
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok, err := c.ReadTree(context.Background(), snapshot, tc.want)
			if diff := cmp.Diff(tc.files, got); diff != "" || ok != (tc.files != nil) {
				t.Errorf("\n%s\nReadTree(): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" {
				t.Errorf("\n%s\nReadTree(): -want class, +got class:\n%s%v", tc.reason, diff, err)
			}
		})
	}
}

// TestReadTreeRefuses reads unmanaged trees, which hold more than files.
func TestReadTreeRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		mode   string
		class  failure.Class
	}{
		"File":       {reason: "A file in the place of a tree is not read as one.", mode: "100644"},
		"Executable": {reason: "A tree with an executable file is refused.", mode: "100755", class: failure.ClassInvalid},
		"Link":       {reason: "A tree with a symbolic link is refused.", mode: "120000", class: failure.ClassInvalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]string{"x/a": "b"})
			c := client(t, s)
			blob := run(t, s, "rev-parse", "main:x/a")
			run(t, s, "read-tree", "main")
			run(t, s, "update-index", "--add", "--cacheinfo", tc.mode+","+blob+",x/a")
			id := run(t, s, "write-tree")
			run(t, s, "update-ref", "refs/heads/main", run(t, s, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "x", id))
			_, ok, err := c.ReadTree(context.Background(), look(t, c), WantedTree{ID: run(t, s, "rev-parse", id+":x"), RetainedDir: "x.trees", Path: "x", Without: "none"})
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" || ok != (tc.class == "") {
				t.Errorf("\n%s\nReadTree(): -want class, +got class:\n%s%v", tc.reason, diff, err)
			}
		})
	}
}
