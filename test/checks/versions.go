package checks

import (
	"os"
	"testing"

	"golang.org/x/mod/modfile"
)

// readVersions returns the version of each module that a go.mod file requires.
func readVersions(t *testing.T, path string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse(path, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions
}
