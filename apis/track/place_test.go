package track

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
)

var update = flag.Bool("update", false, "write the golden files")

// everything is rendered with each kind of object that tracks treat in a way of its own.
const everything = "testdata/everything"

func listed() []Selector {
	return []Selector{{Group: "keda.sh", Kind: "ScaledObject", Name: "web"}, {Group: "monitoring.coreos.com", Kind: "ServiceMonitor"}}
}

func splitEverything(t *testing.T) *Parts {
	t.Helper()
	p, err := Split(readTree(t, everything+"/rendered"), listed())
	if err != nil {
		t.Fatalf("Split(...): %v", err)
	}
	return p
}

func placeIn(t *testing.T, p *Parts, track string) tree.Files {
	t.Helper()
	files, err := p.Files(track, Layout{Kustomizations: true})
	if err != nil {
		t.Fatalf("Files(...): %v", err)
	}
	return files
}

func atState(t *testing.T, files tree.Files, s State) tree.Files {
	t.Helper()
	out, err := At(files, s)
	if err != nil {
		t.Fatalf("At(..., %+v): %v", s, err)
	}
	return out
}

// withBoth adds the files of the other track, as the provider does whose directory has both.
func withBoth(t *testing.T, p *Parts) tree.Files {
	t.Helper()
	files := placeIn(t, p, Blue)
	for name, content := range placeIn(t, p, Green) {
		if strings.HasPrefix(name, Green+"/") {
			files[name] = content
		}
	}
	return files
}

func TestDirectory(t *testing.T) {
	p := splitEverything(t)
	cases := map[string]struct {
		reason string
		files  tree.Files
	}{
		"Alone":  {reason: "A track that is alone is at full size and gets all requests.", files: placeIn(t, p, Blue)},
		"Canary": {reason: "A canary at 20 % is sized for the 50 % that come next.", files: atState(t, withBoth(t, p), State{Serving: Blue, Weight: 20, Ahead: 50})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(everything, strings.ToLower(name))
			if *update {
				writeTree(t, dir, tc.files)
			}
			if diff := cmp.Diff(texts(readTree(t, dir)), texts(tc.files)); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func texts(f tree.Files) map[string]string {
	out := map[string]string{}
	for name, b := range f {
		out[name] = string(b)
	}
	return out
}

func readTree(t *testing.T, dir string) tree.Files {
	t.Helper()
	out := tree.Files{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		out[name] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeTree(t *testing.T, dir string, files tree.Files) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, content := range maps.All(files) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
