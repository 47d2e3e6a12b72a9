package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	advisory = regexp.MustCompile(`(CVE-\d{4}-\d+|GHSA(-[0-9a-z]{4}){3})`)
	named    = regexp.MustCompile("`([^`]+)` (Test\\w+)")
)

// textOfTests returns the text of a package's tests.
func textOfTests(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Builder{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(b)
	}
	return out.String()
}
