package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRestoreSnapshot(t *testing.T) {
	cases := map[string]struct {
		reason string
		key    string
		want   []string
	}{
		"Kept": {
			reason: "The saved folders are copied, and no others.",
			key:    Key("packages", "v1"),
			want:   []string{"cache/package", "etcd/member/db"},
		},
		"OtherKey": {
			reason: "A snapshot of other packages does not exist.",
			key:    Key("packages", "v2"),
		},
		"OtherParts": {
			reason: "Parts that read alike when they are joined are another key.",
			key:    Key("packagesv1"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Store{Dir: t.TempDir()}
			if err := s.Save(Key("packages", "v1"), cluster(t), "etcd", "cache"); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			restored, err := s.Restore(tc.key, dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, filesIn(t, dir)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if restored != (tc.want != nil) {
				t.Errorf("%s: Restore says %t", tc.reason, restored)
			}
		})
	}
}

func TestRetainedSnapshots(t *testing.T) {
	s, from := Store{Dir: t.TempDir()}, cluster(t)
	if err := os.MkdirAll(filepath.Join(s.Dir, unfinished+"1", "etcd"), 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range Kept {
		save(t, s, from, fmt.Sprint(i))
		age := now.Add(time.Duration(i-Kept) * time.Hour)
		if err := os.Chtimes(filepath.Join(s.Dir, fmt.Sprint(i)), age, age); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Restore("0", t.TempDir()); err != nil {
		t.Fatal(err)
	}
	save(t, s, from, "new")

	reason := "The least recently used snapshot is removed, and a snapshot that a killed process left."
	want := []string{"0", "2", "3", "lock", "new"}
	if diff := cmp.Diff(want, namesIn(t, s.Dir)); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

func TestSaveSnapshot(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	if err := s.Save("key", t.TempDir(), "etcd"); err == nil {
		t.Error("A missing folder is an error.")
	}
	if diff := cmp.Diff([]string{"lock"}, namesIn(t, s.Dir)); diff != "" {
		t.Errorf("A failed save leaves no snapshot: -want, +got:\n%s", diff)
	}
	if err := (Store{}).Save("key", t.TempDir(), "etcd"); err != nil {
		t.Errorf("The zero Store keeps nothing: %v", err)
	}
}

// cluster returns a directory with the files of a cluster.
func cluster(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{"etcd/member/db", "cache/package", "logs/core.log"} {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func save(t *testing.T, s Store, from, key string) {
	t.Helper()
	if err := s.Save(key, from, "etcd"); err != nil {
		t.Fatal(err)
	}
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			relative, _ := filepath.Rel(dir, path)
			out = append(out, relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
