package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExamplesNameEngines holds each Site of the examples to an engine: without one a Site is never proven.
func TestExamplesNameEngines(t *testing.T) {
	const root = "../../examples"
	sites := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(b), "\nkind: Site\n") {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		sites++
		hasNone := strings.Contains(string(b), "type: None")
		if hasNone != slices.Contains(engineless, folder) {
			t.Errorf("%s has Sites without an engine: %t, want %t", path, hasNone, !hasNone)
		}
		if hasNone && !strings.Contains(string(b), "GitOps engine (type None)") {
			t.Errorf("%s does not say why its Sites have no engine", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sites < 6 {
		t.Errorf("%s has %d files with Sites, want at least 6", root, sites)
	}
}
