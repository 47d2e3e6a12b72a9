package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// sharedTrees is a view whose branch has some levels of directories, and each level has the next level under several names. The lowest level has a file. A
// tower of n levels and names stands for names^n directories, and has n+1 trees.
func sharedTrees(t *testing.T, levels int, names ...string) View {
	t.Helper()
	objects := map[plumbing.Hash]Object{}
	add := func(entries ...TreeEntry) plumbing.Hash {
		o := NewObject(plumbing.TreeObject, EncodeTree(entries))
		objects[o.ID] = o
		return o.ID
	}
	id := add(TreeEntry{Mode: ModeFile, Name: "wanted", ID: NewObject(plumbing.BlobObject, []byte("x")).ID})
	for range levels {
		entries := []TreeEntry{}
		for _, name := range names {
			entries = append(entries, TreeEntry{Mode: ModeTree, Name: name, ID: id})
		}
		id = add(entries...)
	}
	return View{Tree: id, meter: NewMeter(), objects: (*layer[Object])(nil).With(objects)}
}

func TestFilesNamed(t *testing.T) {
	x := NewObject(plumbing.BlobObject, []byte("x")).ID
	cases := map[string]struct {
		reason string
		levels int
		names  []string
		ids    []plumbing.Hash
		want   []string
		class  failure.Class
	}{
		"SharedTree": {
			reason: "A directory that lies in two places is found in both.",
			levels: 2, names: []string{"a", "b"}, want: []string{"a/a", "a/b", "b/a", "b/b"},
		},
		"OtherID": {reason: "A file of another id is not found.", levels: 1, names: []string{"a"}, ids: []plumbing.Hash{plumbing.ZeroHash}},
		"SameID":  {reason: "A file of a wanted id is found.", levels: 1, names: []string{"a"}, ids: []plumbing.Hash{plumbing.ZeroHash, x}, want: []string{"a"}},
		"MillionPaths": {
			reason: "The million paths of twenty-one trees do not fit into an answer.",
			levels: 20, names: []string{"a", "b"}, class: failure.ClassTooLarge,
		},
		"RefusedNames": {
			reason: "A directory whose path is refused is not entered.",
			levels: 1, names: []string{".git", "a"}, want: []string{"a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, class := []string(nil), failure.Class("")
			for f, err := range sharedTrees(t, tc.levels, tc.names...).FilesNamed(t.Context(), "", "wanted", tc.ids...) {
				if class = failure.ClassOf(err); err == nil && f.ID == x {
					got = append(got, f.Dir)
				}
			}
			if diff := cmp.Diff(tc.class, class); diff != "" {
				t.Fatalf("\n%s\nFilesNamed(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); tc.class == "" && diff != "" {
				t.Errorf("\n%s\nFilesNamed(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeepTrees goes through a hundred thousand directories in each other, as a hostile pack may bring them.
func TestDeepTrees(t *testing.T) {
	const levels = 100_000
	v := sharedTrees(t, levels, "d")
	if ids, err := v.MissingFiles(t.Context(), v.Tree, true, 1); err != nil || len(ids) != 1 {
		t.Errorf("\nThe absent file is listed as missing.\nMissingFiles(...): %d, %v", len(ids), err)
	}
	if reachable, err := v.reachableObjects(t.Context()); err != nil || len(reachable) != levels+1 {
		t.Errorf("\nAll trees are reachable from the first tree.\nreachableObjects(...): %d, %v", len(reachable), err)
	}
	for _, err := range v.FilesNamed(t.Context(), "", "wanted") {
		t.Errorf("\nA walk does not enter directories whose path is too long.\nFilesNamed(...): %v", err)
	}
	if _, _, err := v.Find(t.Context(), strings.Repeat("d/", 300)+"d"); err != nil {
		t.Errorf("\nA path of three hundred directories is a path.\nFind(...): %v", err)
	}
}

// TestTreeWithout leaves out an entry.
func TestTreeWithout(t *testing.T) {
	entries := []TreeEntry{{Mode: ModeFile, Name: "a"}, {Mode: "100755", Name: "b"}, {Mode: ModeTree, Name: "c"}}
	o := NewObject(plumbing.TreeObject, EncodeTree(entries))
	v := View{meter: NewMeter(), objects: (*layer[Object])(nil).With(map[plumbing.Hash]Object{o.ID: o})}
	want := NewObject(plumbing.TreeObject, EncodeTree([]TreeEntry{entries[0], entries[2]})).ID
	if got, err := v.TreeWithout(t.Context(), o.ID, "b"); got != want || err != nil {
		t.Errorf("\nAn entry is left out.\nTreeWithout(...): want %s, got %s, %v", want, got, err)
	}
	if got, err := v.TreeWithout(t.Context(), o.ID, "none"); got != o.ID || err != nil {
		t.Errorf("\nWithout such an entry the tree stays the same.\nTreeWithout(...): want %s, got %s, %v", o.ID, got, err)
	}
}

// TestManyParents follows a commit that names half a million parents.
func TestManyParents(t *testing.T) {
	data := strings.Builder{}
	data.WriteString("tree " + plumbing.ZeroHash.String() + "\n")
	for n := range 500_000 {
		fmt.Fprintf(&data, "parent %040x\n", n+1)
	}
	o := NewObject(plumbing.CommitObject, []byte(data.String()))
	_, err := Lineage(t.Context(), NewMeter(), map[plumbing.Hash]Object{o.ID: o}, o.ID)
	if diff := cmp.Diff(failure.ClassTooLarge, failure.ClassOf(err)); diff != "" {
		t.Errorf("\nSo many commits do not fit into an answer.\nLineage(...): -want, +got:\n%s", diff)
	}
}
