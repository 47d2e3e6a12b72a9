package git

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/memory"
)

// TestReadMany reads many files and directories at once, from servers that give single files and from a server that does not.
func TestReadMany(t *testing.T) {
	seed := map[string]string{
		"clusters/a/ns/one/.intentplane": "one", "clusters/a/ns/one/a.yaml": "same", "clusters/a/ns/one/sub/b.yaml": "b",
		"clusters/a/ns/two/.intentplane": "two", "clusters/a/ns/two/a.yaml": "same", "clusters/b/ns/one/.intentplane": "one", "other/.intentplane": "other",
	}
	cases := map[string]struct {
		reason string
		config [2]string
	}{
		"ByID":  {reason: "A server gives files by their ids.", config: [2]string{"uploadpack.allowAnySHA1InWant", "true"}},
		"Whole": {reason: "A server that gives no file by its id gives the commit.", config: [2]string{"uploadpack.allowAnySHA1InWant", "false"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := serve(t, seed)
			run(t, s, "config", tc.config[0], tc.config[1])
			c := client(t, s)
			snapshot := look(t, c)
			found, err := snapshot.MarkedDirectories(t.Context(), "clusters", ".intentplane")
			if err != nil {
				t.Fatal(err)
			}
			ids, markers := []string{}, map[string]string{}
			for path, d := range found {
				ids = append(ids, d.File)
				unmarked, err := snapshot.TreeWithout(t.Context(), path, ".intentplane")
				if d.Tree != unmarked || err != nil {
					t.Errorf("\n%s\ntree of %s without its marker: want %s, got %s, %v", tc.reason, path, unmarked, d.Tree, err)
				}
			}
			contents := map[string][]byte{}
			if err := c.EachFile(t.Context(), snapshot, ids, func(id string, content []byte) { contents[id] = content }); err != nil {
				t.Fatal(err)
			}
			for path, d := range found {
				markers[path] = string(contents[d.File])
			}
			want := map[string]string{"clusters/a/ns/one": "one", "clusters/a/ns/two": "two", "clusters/b/ns/one": "one"}
			if diff := cmp.Diff(want, markers); diff != "" {
				t.Errorf("\n%s\nmarkers: -want, +got:\n%s", tc.reason, diff)
			}
			dirs, err := readDirectories(t, c, snapshot, "clusters/a/ns/one", "clusters/a/ns/two", "no/such", "other/.intentplane")
			wantDirs := map[string]map[string][]byte{
				"clusters/a/ns/one": files(".intentplane", "one", "a.yaml", "same", "sub/b.yaml", "b"), "clusters/a/ns/two": files(".intentplane", "two", "a.yaml", "same"),
			}
			if diff := cmp.Diff(wantDirs, dirs); diff != "" || err != nil {
				t.Errorf("\n%s\nEachDirectory(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

// TestUnreadableDirectory leaves out a directory that has entries other than files, and reads the other directory.
func TestUnreadableDirectory(t *testing.T) {
	s := serve(t, map[string]string{"a/x": "x"})
	oddFiles(t, s)
	c := client(t, s)
	got, err := readDirectories(t, c, look(t, c), "a", "bin", "sites")
	if _, isThere := got["a"]; !isThere || len(got) != 1 || err != nil {
		t.Errorf("EachDirectory(...): want one directory, got %v, %v", got, err)
	}
}

func readDirectories(t *testing.T, c *Client, s *Snapshot, paths ...string) (map[string]map[string][]byte, error) {
	t.Helper()
	out := map[string]map[string][]byte{}
	err := c.EachDirectory(t.Context(), s, paths, func(path string, files map[string][]byte) { out[path] = files })
	return out, err
}

// TestVisitedFilesCount reads a large file of a branch, and a directory that has it.
func TestVisitedFilesCount(t *testing.T) {
	const size = 4 << 20
	s := serve(t, map[string]string{"a/large": strings.Repeat("large", size/5)})
	run(t, s, "config", "uploadpack.allowFilter", "true")
	run(t, s, "config", "uploadpack.allowAnySHA1InWant", "true")
	c := client(t, s)
	snapshot := look(t, c)
	found, err := snapshot.FilesNamed(t.Context(), "large", objects.BlobID([]byte(strings.Repeat("large", size/5))))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	visits := map[string]func(func()) error{
		"EachFile": func(during func()) error {
			return c.EachFile(t.Context(), snapshot, []string{found["a"]}, func(string, []byte) { during() })
		},
		"EachDirectory": func(during func()) error {
			return c.EachDirectory(t.Context(), snapshot, []string{"a"}, func(string, map[string][]byte) { during() })
		},
	}
	runtime.GC()
	rest := memory.Used()
	for name, visit := range visits {
		t.Run(name, func(t *testing.T) {
			patience, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			for ; memory.Used() > rest+size/2 && patience.Err() == nil; <-time.After(time.Millisecond) {
				runtime.GC() // The memory of another visit counts until it is garbage that was collected.
			}
			held := int64(0)
			if err := visit(func() { runtime.GC(); held = memory.Used() - rest }); err != nil || held < size*3/4 {
				t.Errorf("\nThe namespace pays for contents as long as they are visited.\n%s(...): %v, %d bytes", name, err, held)
			}
		})
	}
}
