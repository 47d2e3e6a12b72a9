package objects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// TestMeterOfDirectory reads one directory that is too large, and then the rest of a repository.
func TestMeterOfDirectory(t *testing.T) {
	plan := NewMeter()
	directory := plan.ForDirectory()
	const limit = 1_000_000
	err := directory.spendMeterUnits(t.Context(), readEntry, limit+1)
	want := "cannot read the directory: one plan needs more than 1000000 entries of its directories"
	if failure.ClassOf(err) != failure.ClassTooLarge || err.Error() != want {
		t.Errorf("\nA directory beyond its part of the plan is too large.\nspend(...): want %q, got %v", want, err)
	}
	if err := plan.spendMeterUnits(t.Context(), readEntry, 1); err != nil {
		t.Errorf("\nThe plan goes on with the other directories.\nspend(...): %v", err)
	}
	if err := plan.spendMeterUnits(t.Context(), readEntry, 9*limit); failure.ClassOf(err) != failure.ClassTooCostly {
		t.Errorf("\nThe plan has spent as much as its directories have.\nspend(...): want class %s, got %v", failure.ClassTooCostly, err)
	}
	if err := plan.ForDirectory().spendMeterUnits(t.Context(), readEntry, 1); failure.ClassOf(err) != failure.ClassTooCostly {
		t.Errorf("\nA directory has nothing of a plan that is spent.\nspend(...): want class %s, got %v", failure.ClassTooCostly, err)
	}
}

// TestWideDirectoryIsNamed lists, and writes into, a directory with more names than fit into an answer.
func TestWideDirectoryIsNamed(t *testing.T) {
	file, entries := NewObject(plumbing.BlobObject, []byte("x")), []TreeEntry{}
	for n := range 50_000 {
		entries = append(entries, TreeEntry{Mode: ModeFile, Name: fmt.Sprintf("f%06d", n), ID: file.ID})
	}
	wide := NewObject(plumbing.TreeObject, EncodeTree(entries))
	root := NewObject(plumbing.TreeObject, EncodeTree([]TreeEntry{{Mode: ModeTree, Name: "apps", ID: wide.ID}}))
	objects := map[plumbing.Hash]Object{file.ID: file, wide.ID: wide, root.ID: root}
	v := View{Tree: root.ID, meter: NewMeter(), objects: (*layer[Object])(nil).With(objects)}
	want := `cannot read directory "apps": its names take more than 8 MiB`
	change := NewRoot()
	if err := change.Place("apps/web/new", File([]byte("y"))); err != nil {
		t.Fatal(err)
	}
	_, listed := v.List(t.Context(), "apps")
	_, _, written := v.Apply(t.Context(), change, CommitInfo{})
	for name, err := range map[string]error{"List": listed, "Apply": written} {
		if failure.ClassOf(err) != failure.ClassTooLarge || err.Error() != want {
			t.Errorf("\nThe error names the directory to split.\n%s(...): want %q, got %v", name, want, err)
		}
	}
}

// TestLongHistory follows more commits than ids of missing commits fit into an answer.
func TestLongHistory(t *testing.T) {
	const length = 120_000
	objects, tip := make(map[plumbing.Hash]Object, length), plumbing.NewHash(strings.Repeat("1", 40))
	for range length {
		o := NewObject(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nparent %s\n", plumbing.ZeroHash, tip))
		objects[o.ID], tip = o, o.ID
	}
	ids, err := Lineage(t.Context(), NewMeter(), objects, tip)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(length+1, len(ids)); diff != "" {
		t.Errorf("\nThe pack bounds the commits that the server sent.\nLineage(...): commits -want, +got:\n%s", diff)
	}
}
