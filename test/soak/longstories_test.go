package soak

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLongStories reads which end-to-end stories make test leaves out. Each of them exists, and each suite tells others.
func TestLongStories(t *testing.T) {
	content, err := os.ReadFile("../e2e/long-stories.txt")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Fields(string(content))
	if diff := cmp.Diff(slices.Compact(slices.Sorted(slices.Values(long))), long); diff != "" {
		t.Errorf("the list is sorted, and names each story once: -want, +got:\n%s", diff)
	}
	var all []string
	for suite, stories := range readStories(t) {
		all = append(all, stories...)
		if !slices.ContainsFunc(stories, func(s string) bool { return !slices.Contains(long, s) }) {
			t.Errorf("make test tells no story of suite %s", suite)
		}
	}
	for _, story := range long {
		if !slices.Contains(all, story) {
			t.Errorf("no suite has a story %s", story)
		}
	}
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
