package checks

import (
	gocmp "cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compareTiers orders lines by tier, and then as text.
func compareTiers(a, b string) int {
	tiers := "smoke long needs"
	return gocmp.Or(strings.Index(tiers, strings.Fields(a)[0])-strings.Index(tiers, strings.Fields(b)[0]), strings.Compare(a, b))
}

// readStories returns the names of the tests of each end-to-end suite.
func readStories(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../e2e/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	story := regexp.MustCompile(`(?m)^func (Test[A-Z]\w*)\(t \*testing\.T\)`)
	out := map[string][]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		suite := filepath.Base(filepath.Dir(file))
		for _, m := range story.FindAllStringSubmatch(string(content), -1) {
			out[suite] = append(out[suite], m[1])
		}
	}
	return out
}
