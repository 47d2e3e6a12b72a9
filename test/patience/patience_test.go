package patience

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// wait matches a call that waits for something, or gives a context its end.
var wait = regexp.MustCompile(`\.Until\(("|fmt\.)|WithTimeout\(|PollUntilContextTimeout\(`)

// TestWaitsOfSuites reads the end-to-end tests. Their waits end after Limit.
func TestWaitsOfSuites(t *testing.T) {
	others := map[string]string{
		"e2e/docs/reader.go": "pageLimit",            // Ends a whole page, after three times Limit.
		"scene/await.go":     "deletionWatchTimeout", // Ends one of the watches of a wait.
	}
	found := 0
	for _, dir := range []string{"e2e", "scene", "release"} {
		err := fs.WalkDir(os.DirFS(".."), dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") {
				return err
			}
			content, err := os.ReadFile("../" + file)
			for line := range strings.Lines(string(content)) {
				if !wait.MatchString(line) {
					continue
				}
				found++
				if other := others[file]; !strings.Contains(line, "patience.Limit") && (other == "" || !strings.Contains(line, other)) {
					t.Errorf("%s: a wait of its own limit fails on a busy machine, want patience.Limit: %s", file, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("the end-to-end tests have no wait that this test knows")
	}
}
