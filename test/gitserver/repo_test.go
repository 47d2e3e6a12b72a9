package gitserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommitAndRemove(t *testing.T) {
	s := start(t)
	first, err := s.Commit(t.Context(), "team/fleet", Branch, map[string]string{"x/y z.txt": "binary\x00\nno newline at end"}, "Add")
	if err != nil {
		t.Fatalf("Commit(...): %v", err)
	}
	second, err := s.Remove(t.Context(), "team/fleet", Branch, []string{"a"}, "Remove")
	if err != nil {
		t.Fatalf("Remove(...): %v", err)
	}
	files, err := s.Files(t.Context(), "team/fleet", Branch)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"README.md": "hello\n", "x/y z.txt": "binary\x00\nno newline at end"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("Files(...): -want, +got:\n%s", diff)
	}
	log, err := s.Log(t.Context(), "team/fleet", Branch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{second, first}, []string{log[0].ID, log[1].ID}); diff != "" {
		t.Errorf("Log(...): -want, +got:\n%s", diff)
	}
}

// TestCommitRef writes to a ref outside of the branches, which is created, and then grows.
func TestCommitRef(t *testing.T) {
	s := start(t)
	const ref = "refs/elsewhere/state"
	for i, name := range []string{"a", "b"} {
		id, err := s.CommitRef(t.Context(), "team/fleet", ref, map[string]string{name: "x\n"}, "Another file")
		if err != nil {
			t.Fatalf("CommitRef(...): %v", err)
		}
		files, err := s.Files(t.Context(), "team/fleet", ref)
		refs, refsErr := s.Refs(t.Context(), "team/fleet")
		if err != nil || refsErr != nil || len(files) != i+1 || refs[ref] != id {
			t.Errorf("after %d commits: files %v, ref %s, want %s: %v, %v", i+1, files, refs[ref], id, err, refsErr)
		}
	}
}

// TestReplace leaves in a directory the given files, and all files beside the directory.
func TestReplace(t *testing.T) {
	s := start(t)
	for _, files := range []map[string]string{{"a": "1\n", "below/b": "1\n"}, {"a": "2\n", "c": "2\n"}} {
		if _, err := s.Replace(t.Context(), "team/fleet", Branch, "site", files, "All files at once"); err != nil {
			t.Fatalf("Replace(...): %v", err)
		}
	}
	files, err := s.Files(t.Context(), "team/fleet", Branch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"README.md": "hello\n", "a/b.yaml": "b: 1\n", "site/a": "2\n", "site/c": "2\n"}, files); diff != "" {
		t.Errorf("Files(...): -want, +got:\n%s", diff)
	}
}
