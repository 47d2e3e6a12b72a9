package objects

import (
	"context"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// sharedTrees is a view whose branch has some levels of directories, in each of which the next one lies under several names. The lowest one has
// a file. A tower of n levels and names stands for names^n directories, and has n+1 trees.
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
	return View{Tree: id, objects: (*layer[Object])(nil).With(objects)}
}

func isWanted(e TreeEntry) bool { return e.Name == "wanted" }

func TestFindFiles(t *testing.T) {
	x := NewObject(plumbing.BlobObject, []byte("x")).ID.String()
	cases := map[string]struct {
		reason string
		levels int
		names  []string
		want   map[string]string
		class  failure.Class
	}{
		"SharedTree": {
			reason: "A directory that lies in two places is found in both, and read once.",
			levels: 2, names: []string{"a", "b"},
			want: map[string]string{"a/a": x, "a/b": x, "b/a": x, "b/b": x},
		},
		"MillionPaths": {
			reason: "Twenty-one trees that stand for a million directories are too large, and each is read once at most.",
			levels: 20, names: []string{"a", "b"}, class: failure.ClassTooLarge,
		},
		"SixtyLevels": {
			reason: "Sixty levels of shared trees are too large, and each tree is read once at most.",
			levels: 60, names: []string{"a", "b", "c"}, class: failure.ClassTooLarge,
		},
		"RefusedNames": {
			reason: "A directory whose path is refused is not entered.",
			levels: 1, names: []string{".git", "a"}, want: map[string]string{"a": x},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTreeWalk(sharedTrees(t, tc.levels, tc.names...), 20_000, isWanted)
			err := w.enterDirectory(t.Context(), w.view.Tree, "")
			if diff := cmp.Diff(tc.class, failure.ClassOf(err)); diff != "" {
				t.Fatalf("\n%s\nenterDirectory(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, w.found); err == nil && diff != "" {
				t.Errorf("\n%s\nenterDirectory(...): -want, +got:\n%s", tc.reason, diff)
			}
			if len(w.relevant) > tc.levels+1 {
				t.Errorf("\n%s\nenterDirectory(...): read %d trees in %d steps", tc.reason, len(w.relevant), w.most-w.left)
			}
		})
	}
}

func TestFindFilesEndsWithContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	v := sharedTrees(t, 2, "a", "b")
	if _, err := v.FindFiles(ended, v.Tree, "", 1000, isWanted); failure.ClassOf(err) != failure.ClassTransient {
		t.Errorf("\nA walk ends when its context does.\nFindFiles(...): %v", err)
	}
}

// TestDeepTrees goes through a hundred thousand directories in each other, as a hostile pack may bring them.
func TestDeepTrees(t *testing.T) {
	const levels = 100_000
	v := sharedTrees(t, levels, "d")
	if ids, err := v.MissingFiles(v.Tree, true); err != nil || len(ids) != 1 {
		t.Errorf("\nThe one file that is not there is missing.\nMissingFiles(...): %d, %v", len(ids), err)
	}
	own := map[plumbing.Hash]Object{}
	if err := v.addReachable(own, v.Tree); err != nil || len(own) != levels+1 {
		t.Errorf("\nAll trees hang on the first one.\naddReachable(...): %d, %v", len(own), err)
	}
	if _, err := v.FindFiles(t.Context(), v.Tree, "", 1_000_000, isWanted); err != nil {
		t.Errorf("\nA walk does not enter directories whose path is too long.\nFindFiles(...): %v", err)
	}
	if _, _, err := v.Find(strings.Repeat("d/", 300) + "d"); err != nil {
		t.Errorf("\nA path of three hundred directories is a path.\nFind(...): %v", err)
	}
}
