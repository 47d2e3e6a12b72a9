package checks

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTiersOfStories reads the list of suites. Each suite and each story in it exists, and each suite has a story outside of the long tier.
func TestTiersOfStories(t *testing.T) {
	content, err := os.ReadFile("../e2e/suites.txt")
	if err != nil {
		t.Fatal(err)
	}
	stories := readStories(t)
	long := map[string][]string{}
	var lines []string
	for line := range strings.Lines(string(content)) {
		f := strings.Fields(line)
		switch {
		case f[0] == "#":
			continue
		case len(f) < 3 || stories[f[1]] == nil:
			t.Errorf("%q: want smoke, long or needs, a suite, and its test or tools", line)
		case f[0] != "needs" && !slices.Contains(stories[f[1]], f[2]):
			t.Errorf("%q: the suite has no such test", line)
		case f[0] == "long":
			long[f[1]] = append(long[f[1]], f[2])
		}
		lines = append(lines, line)
	}
	if diff := cmp.Diff(slices.Compact(slices.SortedFunc(slices.Values(lines), compareTiers)), lines); diff != "" {
		t.Errorf("the list has the smoke tier first, then the long one, sorted, each story once: -want, +got:\n%s", diff)
	}
	for suite, all := range stories {
		if !slices.ContainsFunc(all, func(s string) bool { return !slices.Contains(long[suite], s) }) {
			t.Errorf("make test-all runs no story of suite %s", suite)
		}
	}
}
